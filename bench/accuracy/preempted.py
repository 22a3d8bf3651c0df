"""Noise of every machine that does something else too: a few calls wait milliseconds for a processor.

Few of the runs have such a call of an operation at all, and in these it takes more time than a thousand others."""

import math

from modes import poisson

SHARE = 1 / 10_000  # of the calls
SECONDS = 0.003


def add(text, chance, share=SHARE):
    """The profile with so many of its calls, by chance, longer by SECONDS."""
    lines, hz, resolution = text.splitlines(), 0, 1
    for number, line in enumerate(lines):
        if line.startswith("# clock:"):
            hz = int(line.split()[3])
        elif line.startswith("# resolution:"):
            resolution = int(line.split()[2])
        elif line.startswith("OP_") and not line.endswith(" 0"):
            name, calls, total = line.split()
            buckets = [int(word) for word in lines[number + 1].split()]
            hit = poisson(chance, share * sum(buckets))
            for _ in range(min(hit, sum(buckets))):
                _delay(buckets, chance, hz, resolution)
            lines[number] = f"{name} {calls} {int(total) + round(hit * SECONDS * hz)}"
            lines[number + 1] = " " + " ".join(map(str, buckets))
    return "\n".join(lines) + "\n"


def _delay(buckets, chance, hz, resolution):
    bucket = chance.choices(range(len(buckets)), buckets)[0]
    cycles = 2 ** ((bucket + 0.5) / resolution) + SECONDS * hz
    after = int(math.log2(cycles) * resolution)
    buckets.extend([0] * (after + 1 - len(buckets)))
    buckets[bucket] -= 1
    buckets[after] += 1
