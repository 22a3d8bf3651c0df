"""Writes profiles of runs that are made up: make_runs.py PREFIX COUNT [OP=FACTOR | OP+SHARE@FACTOR | all=FACTOR |
OP!SHARE@ERROR | OP*TIMES | run=SPREAD]...

OP=FACTOR makes its calls longer; OP+SHARE@FACTOR only that share of them; all=FACTOR those of every operation, and
run=SPREAD those of a whole run, by chance; OP!SHARE@ERROR lets about that share fail; OP*TIMES makes as many times the
calls. The numbers are the same each time; runs of another PREFIX are other runs."""

import random
import sys

NAMES = ("READ", "WRITE", "GETATTR", "LOOKUP", "OPEN", "RELEASE", "FSYNC", "MKDIR", "RMDIR")
CALLS = 1000
HZ = 1_000_000_000


def latencies(name, index, rng, changes, calls, whole):
    """One run's, in cycles; a run has a few percent of its own for each operation."""
    typical = 2000 * 2 ** index * whole * rng.gauss(1, 0.02) * changes.get(("all", 0), (1, 1))[1]
    values = [typical * 2 ** rng.gauss(0, 0.5) for _ in range(calls)]
    for (op, _), (share, factor) in changes.items():
        if op == name:
            values[:round(share * calls)] = [factor * value for value in values[:round(share * calls)]]
    return [max(1, round(value)) for value in values]


def write_failures(file, seed, failures):
    for op, share, error in failures:
        failed = round(share * CALLS * random.Random(f"{seed} {op}").uniform(0.9, 1.1))
        file.write(f"# failed: {op} {error} {failed}\n")


def write(path, number, rng, changes, failures, times):
    with open(path, "w", encoding="ascii") as file:
        file.write(f"# osprof 1\n# layer: fs\n# clock: tsc {HZ} Hz\n# resolution: 1\n"
                   f"# start: 2026-01-01T00:00:{number:02d}.000000000Z\n# elapsed: {HZ}\n")
        write_failures(file, path, failures)
        spread = [factor for (what, _), (_, factor) in changes.items() if what == "run"]
        whole = 2 ** random.Random(f"{path} run").gauss(0, spread[0]) if spread else 1
        for index, name in enumerate(NAMES):
            values = latencies(name, index, rng, changes, times.get(name, 1) * CALLS, whole)
            buckets = [0] * max(value.bit_length() for value in values)
            for value in values:
                buckets[value.bit_length() - 1] += 1
            file.write(f"OP_{name} {len(values)} {sum(values)}\n {' '.join(map(str, buckets))}\n")


def main():
    prefix, count, changes, failures, times = sys.argv[1], int(sys.argv[2]), {}, [], {}
    for number, change in enumerate(sys.argv[3:]):
        if "!" in change:
            op, _, failing = change.partition("!")
            share, _, error = failing.partition("@")
            failures.append((op, float(share), error))
            continue
        if "*" in change:
            op, _, often = change.partition("*")
            times[op] = int(often)
            continue
        what, factor = change.replace("@", "=").split("=")
        op, _, share = what.partition("+")
        changes[(op, number if op != "all" else 0)] = (float(share or 1), float(factor))
    for number in range(count):
        write(f"{prefix}{number}.osprof", number, random.Random(f"{prefix} {number}"), changes, failures, times)


main()
