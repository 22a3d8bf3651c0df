"""Noise of every machine that does something else too: a few calls wait milliseconds for a processor.

Few of the runs have such a call of an operation at all, and in these it takes more time than a thousand others."""

import math

from modes import poisson

SHARE = 1 / 10_000  # of the calls
SECONDS = 0.003


def add(text, chance, share=SHARE):
    """The profile with so many of its calls, by chance, longer by SECONDS."""
    lines, hz, resolution, longest = text.splitlines(), 0, 1, {}
    for number, line in enumerate(lines):
        if line.startswith("# clock:"):
            hz = int(line.split()[3])
        elif line.startswith("# resolution:"):
            resolution = int(line.split()[2])
        elif line.startswith("# longest:"):
            longest["OP_" + line.split()[2]] = number
        elif line.startswith("OP_") and not line.endswith(" 0"):
            name, calls, total = line.split()
            buckets = [int(word) for word in lines[number + 1].split()]
            hits = min(poisson(chance, share * sum(buckets)), sum(buckets))
            delayed = [_delay(buckets, chance, hz, resolution) for _ in range(hits)]
            lines[number] = f"{name} {calls} {int(total) + round(hits * SECONDS * hz)}"
            lines[number + 1] = " " + " ".join(map(str, buckets))
            if name in longest:
                lines[longest[name]] = _raise_longest(lines[longest[name]], delayed)
    return "\n".join(lines) + "\n"


def _delay(buckets, chance, hz, resolution):
    """What a call by chance takes in the end, in cycles."""
    bucket = chance.choices(range(len(buckets)), buckets)[0]
    cycles = round(2 ** ((bucket + 0.5) / resolution) + SECONDS * hz)
    after = int(math.log2(cycles) * resolution)
    buckets.extend([0] * (after + 1 - len(buckets)))
    buckets[bucket] -= 1
    buckets[after] += 1
    return cycles


def _raise_longest(line, delayed):
    words = line.split(" ")
    words[3] = str(max(int(words[3]), *delayed, 0))
    return " ".join(words)
