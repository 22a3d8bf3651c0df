"""JSON and events files that are broken, and files that never end: reading them ends, with objects or a FormatError."""

import json
import random
import resource
import subprocess
import sys
import unittest

import osprof
from helpers import DATA, TESTS, corpus, scaled
from mutations import NUMBERS, ReadOrRefused, mutated
from test_events import checksum, made_events

LOADERS = (osprof.load_recording, osprof.load_comparison, osprof.load_verdict, osprof.load_waits, osprof.load_events)


class Hostile(ReadOrRefused):
    def documents(self):
        names = [DATA / "compare-before.osprof", DATA / "compare-after.osprof"]
        yield osprof.load_comparison, self.run_osprof("compare", "--json", *names, statuses=(0, 1))
        for name in ("layers", "show-groups", "show-hung", "plot-sampled", "why", "show-dimensions"):
            yield osprof.load_recording, self.run_osprof("show", "--json", DATA / (name + ".osprof"))

    def test_mutated_documents(self):
        random_one = random.Random(42)
        for load, data in self.documents():
            for number in range(40):
                with self.subTest(load=load.__name__, number=number):
                    self.assert_read_or_refused(load, mutated(data, random_one))

    def test_documents_with_other_values(self):
        random_one = random.Random(43)
        values = [None, -1, 2**64, 1e308, True, "\ud800", "", [], {}, [[]], {"": 0}]
        for load, data in self.documents():
            for number in range(40):
                document = json.loads(data)
                place, key = random_one.choice(list(places_in(document)))
                place[key] = random_one.choice(values)
                with self.subTest(load=load.__name__, number=number, key=key, value=place[key]):
                    self.assert_read_or_refused(load, json.dumps(document).encode())

    def test_events_of_the_fuzzers(self):
        for path in sorted((TESTS / "fuzz" / "corpus-events").iterdir()):
            with self.subTest(path.name):
                self.assert_read_or_refused(osprof.load_events, path.read_bytes())

    def test_mutated_events(self):
        random_one = random.Random(47)
        files = corpus("events") + [made_events()]
        for number in range(300):
            data = random_one.choice(files)
            changed = mutated(data, random_one, numbers=False)
            with self.subTest(number=number):
                self.assert_read_or_refused(osprof.load_events, changed)

    def test_mutated_events_with_right_checksums(self):
        random_one = random.Random(48)
        files = corpus("events") + [made_events()]
        taken = {True: 0, False: 0}
        for number in range(300):
            data = with_checksums(changed_bits(random_one.choice(files), random_one))
            with self.subTest(number=number):
                taken[self.assert_read_or_refused(osprof.load_events, data)] += 1
        self.assertGreater(min(taken.values()), 10, taken)

    def test_files_that_are_something_else(self):
        files = [b"", b"\0" * 100, b"\x7fELF", b"{", b"[]", b"{}", b"\xff\xfe", b'"a"', b"[" * 99999, b'{"a":' * 99999]
        files += [b'{"version": %s}' % number for number in NUMBERS + [b"NaN"]] + [b'{"version": 1, "ops": 7}']
        for data in files:
            for load in LOADERS:
                with self.subTest(data=data[:20], load=load.__name__):
                    self.assertFalse(self.assert_read_or_refused(load, data))

    def test_what_never_ends_does_not_take_all_memory(self):
        endless = (
            "open('/dev/zero', 'rb')",
            "Endless(b'', b' 1')",
            "Endless(b'', b'# a: b\\n')",
            "Endless(b'# interval: 1\\nOP_A 9 9\\n', b'-\\n')",
            "Endless(b'{', b'{')",
        )
        for source in endless:
            with self.subTest(source):
                program = ENDLESS % source
                command = [sys.executable, "-c", program]
                done = subprocess.run(
                    command,
                    stderr=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    timeout=scaled(60),
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
                )
                self.assertEqual((b"", b"refused\n"), (done.stderr, done.stdout))


ENDLESS = """
import io, osprof
class Endless(io.RawIOBase):
    def __init__(self, first, piece):
        self.first = first
        self.piece = piece * 32768
    def readable(self):
        return True
    def readinto(self, buffer):
        piece, self.first = self.first or self.piece, b""
        piece = piece[:len(buffer)]
        buffer[:len(piece)] = piece
        return len(piece)
try:
    osprof.load(%s)
except osprof.FormatError:
    print("refused")
"""


def places_in(document):
    """All members and elements, as their owner and their key or number."""
    owners = [document]
    while owners:
        owner = owners.pop()
        for key, value in owner.items() if isinstance(owner, dict) else enumerate(owner):
            yield owner, key
            if isinstance(value, (dict, list)):
                owners.append(value)


def chunks_of(data):
    """Where each chunk of a sound events file begins and ends."""
    at = int.from_bytes(data[16:20], "little")
    while at < len(data):
        length = int.from_bytes(data[at + 8 : at + 12], "little")
        yield at, at + length
        at += length


def changed_bits(data, random_one):
    """Changes inside of chunks, whose heads stay."""
    changed = bytearray(data)
    for _ in range(random_one.randint(1, 4)):
        at, end = random_one.choice([(at, end) for at, end in chunks_of(data) if end - at > 24])
        place = random_one.randrange(at + 24, end)
        changed[place] = random_one.choice((0, 255, changed[place] ^ 1 << random_one.randrange(8)))
    return bytes(changed)


def with_checksums(data):
    """The same with the checksums that the chunks have now."""
    result = bytearray(data)
    for at, end in chunks_of(data):
        result[at + 12 : at + 16] = bytes(4)
        result[at + 12 : at + 16] = checksum(bytes(result[at:end]), "<").to_bytes(4, "little")
    return bytes(result)


if __name__ == "__main__":
    unittest.main()
