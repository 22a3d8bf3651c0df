"""Files that are broken in many ways, and what must be true of reading them."""

import pickle

import osprof
from helpers import ScratchTest, as_file

NUMBERS = [b"0", b"1", b"18446744073709551615", b"18446744073709551616", b"-1", b"9" * 5000, b"1e999", b"."]
NUMBERS.append(b"0" * 40 + b"1")


def mutated(data, random_one, numbers=True):
    """The same with a few changes: cut off, bytes replaced, parts repeated or left out, other numbers."""
    data = bytearray(data)
    for _ in range(random_one.randint(1, 3)):
        at = random_one.randrange(len(data) + 1)
        end = min(at + random_one.choice((1, 2, 8, 40)), len(data))
        kind = random_one.randrange(6 if numbers else 5)
        if kind == 0 and random_one.random() < 0.3:
            del data[at:]
        elif kind == 1:
            data[at:end] = bytes(random_one.choice(b"\0\t\n #:-0179OP_[]{}\"\\\xff") for _ in range(at, end))
        elif kind == 2:
            data[at:at] = data[at:end]
        elif kind == 3:
            del data[at:end]
        elif kind == 4 and at < len(data):
            data[at] ^= 1 << random_one.randrange(8)
        elif kind == 5:
            data[at:end] = random_one.choice(NUMBERS)
    return bytes(data)


def mutated_lines(data, random_one):
    """A line left out, twice, or elsewhere, or one number replaced by another."""
    lines = data.split(b"\n")
    at, other = random_one.randrange(len(lines)), random_one.randrange(len(lines))
    kind = random_one.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(other, lines[at])
    elif kind == 2:
        lines[at], lines[other] = lines[other], lines[at]
    else:
        words = lines[at].split(b" ")
        places = [place for place, word in enumerate(words) if word.isdigit()]
        if places:
            words[random_one.choice(places)] = random_one.choice(NUMBERS + [b"2", b"7", b"63"])
        lines[at] = b" ".join(words)
    return b"\n".join(lines)


def use(profile):
    """Everything that can be asked of a profile."""
    for owner in [profile] + profile.groups:
        for operation in owner.operations.values():
            for share in (0.001, 0.5, 1):
                latency = operation.percentile(share)
                assert latency is None or latency.lower_cycles <= latency.cycles <= latency.upper_cycles
            assert len(operation.histogram) == len(operation.counts)
    if profile.interval_cycles:
        for name in profile.operations:
            profile.intervals(name)
    return profile.start, profile.elapsed_seconds


class ReadOrRefused(ScratchTest):
    def assert_read_or_refused(self, load, data):
        """True if it was read."""
        try:
            read = load(as_file(data))
            if load is osprof.load_events:
                for call in read:
                    call.path, call.start_ns, call.host, call.program
            elif load is osprof.load_recording:
                for profile in read.layers:
                    use(profile)
            for text in (str(read), repr(read)):
                self.assertLess(len(text), 2000)
                self.assertTrue(text.replace("\n", "").isprintable(), ascii(text))
        except osprof.FormatError as error:
            self.assertTrue(str(error).isprintable(), error)
            self.assertIn("expected", str(error))
            self.assertEqual(str(error), str(pickle.loads(pickle.dumps(error))))
            return False
        return True
