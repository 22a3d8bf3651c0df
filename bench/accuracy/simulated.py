"""Sets of runs that are made up, so that no other load has a say in what is found.

The operations are those of the scenario names-tmpfs of the corpus: the same modes, four times as many calls. Their noise between runs
is near that of the runs of the corpus under load; of "quiet" it is assumed to be less, and so is how much it differs among
operations: neither was measured. A few calls of all are preempted (preempted.py). No run is in two comparisons.
"""

import math
import random
import tempfile
from dataclasses import dataclass

import preempted
import rates
from corpus import comparison
from modes import Mode, draw_op, vary_shares
from tables import table

HZ = 2_596_156_676
RUNS = 5  # a side
RESOLUTIONS = (4, 1)
WAITING_TIMES, WAITING_DEVIATION = 15, 1.0

# calls, and modes: share, median in microseconds, deviation of the logarithm
OPS = {name: (calls, [Mode(share, median * 1e-6, deviation) for share, median, deviation in modes])
       for name, calls, modes in (
           ("READDIR", 4000, [(0.50, 0.8, 0.15), (0.50, 145, 0.25)]),
           ("LOOKUP", 60000, [(0.997, 4.6, 0.20), (0.003, 30, 0.4)]),
           ("GETATTR", 6000, [(0.34, 1.1, 0.12), (0.66, 24, 0.25)]),
           ("UNLINK", 4000, [(0.50, 5.6, 0.15), (0.50, 12, 0.3)]),
           ("SYMLINK", 2000, [(1, 11, 0.2)]),
           ("CREATE", 2000, [(0.99, 9.5, 0.2), (0.01, 60, 0.4)]),
           ("MKDIR", 2000, [(1, 9, 0.2)]),
           ("SETATTR", 2000, [(0.99, 8, 0.14), (0.01, 40, 0.4)]),
           ("RENAME", 2000, [(1, 9, 0.12)]),
           ("WRITE", 2000, [(1, 7.5, 0.18)]),
           ("GETXATTR", 2000, [(0.99, 6.2, 0.2), (0.01, 90, 0.4)]),
           ("READLINK", 2000, [(0.99, 6.7, 0.2), (0.01, 50, 0.4)]),
           ("OPENDIR", 2000, [(0.99, 5.6, 0.2), (0.01, 30, 0.3)]),
           ("OPEN", 2000, [(1, 4.6, 0.12)]),
           ("RMDIR", 2000, [(1, 7.2, 0.18)]),
           ("RELEASE", 4000, [(1, 1.35, 0.2)]),
           ("READ", 2000, [(0.995, 2.2, 0.15), (0.005, 60, 0.3)]),
           ("FLUSH", 2000, [(1, 1.4, 0.22)]),
           ("STATFS", 2000, [(1, 1.2, 0.15)]),
           ("FSYNC", 2000, [(1, 0.6, 0.15)]))}


@dataclass(frozen=True)
class Load:
    """Deviations of the logarithm of latency from run to run."""
    common: float  # of all operations of a run together
    own: float     # of an operation, median over the operations
    own_spread: float = 0.4  # how much that differs among operations: deviation of its logarithm
    waiting: float = 0.0012  # share of the calls that wait for something, WAITING_TIMES as long as usual


LOADS = {"quiet": Load(0.10, 0.035), "busy": Load(0.10, 0.056, waiting=0.0017)}


def slower(factor):
    return lambda modes: [mode._replace(median=factor * mode.median) for mode in modes]


def slow_mode(share, times, deviation=0.3):
    """This share of the calls takes about so many times the usual latency."""
    def change(modes):
        usual = max(modes, key=lambda mode: mode.share)
        return [mode._replace(share=(1 - share) * mode.share) for mode in modes] + \
            [Mode(share, times * usual.median, deviation)]
    return change


CHANGES = {
    "all its calls ×1.25": slower(1.25),
    "all its calls ×2": slower(2),
    "1 % of its calls ×64": slow_mode(0.01, 64),
}
UNCHANGED = "nothing changed"


class Machine:
    """One comparison's: how noisy each operation is belongs to it."""
    def __init__(self, load, chance):
        self.load = load
        self.chance = chance
        self.deviations = {op: load.own * math.exp(chance.gauss(0, load.own_spread)) for op in OPS}

    def run(self, resolution, changed_op=None, change=None):
        """The text of a profile."""
        chance, lines = self.chance, [f"# osprof 1\n# layer: fs\n# clock: tsc {HZ} Hz\n# resolution: {resolution}"]
        common = chance.gauss(0, self.load.common)
        for op, (calls, modes) in OPS.items():
            if op == changed_op:
                modes = change(modes)
            factor = math.exp(common + chance.gauss(0, self.deviations[op]))
            modes = vary_shares(chance, [mode._replace(median=mode.median * factor) for mode in modes])
            waiting = self.load.waiting * math.exp(chance.gauss(0, 0.7))
            modes = slow_mode(waiting, WAITING_TIMES, WAITING_DEVIATION)(modes)
            buckets, total = draw_op(chance, calls, modes, HZ, resolution)
            row = " ".join(str(buckets[bucket]) for bucket in range(max(buckets) + 1))
            lines.append(f"OP_{op} {sum(buckets.values())} {total}\n {row}")
        return preempted.add("\n".join(lines) + "\n", chance)


# ---- What is found ----

SLOWER = ("slower", "some calls slower", "slower than the rest")


@dataclass
class Found:
    comparisons: int = 0
    found: int = 0   # the change was reported of its operation, in the right direction
    alarms: int = 0  # comparisons that told of an operation that did not change
    alarmed_ops: int = 0
    unchanged_ops: int = 0

    def add(self, said, changed_op):
        alarms = 0
        for op in said["ops"]:
            is_told = op["verdict"] not in ("no change", "inconclusive", "as the rest", "few calls")
            if op["name"] == changed_op:
                self.found += op["verdict"] in SLOWER
            else:
                alarms += is_told
                self.unchanged_ops += 1
        self.comparisons += 1
        self.alarms += alarms > 0
        self.alarmed_ops += alarms


def _compare(osprof, scratch, machine, resolution, changed_op, change):
    paths = []
    for number in range(2 * RUNS):
        paths.append(f"{scratch}/{number}.osprof")
        with open(paths[-1], "w", encoding="ascii") as profile:
            profile.write(machine.run(resolution, *((changed_op, change) if number >= RUNS else ())))
    return comparison(osprof, *paths[:RUNS], "--", *paths[RUNS:])


def _judge(osprof, scratch, load, resolution, name, options):
    found = Found()
    for number in range(options.first, options.first + options.trials):
        chance = random.Random(f"{options.seed} {load} {resolution} {name} {number}")
        changed_op = chance.choice(sorted(OPS)) if name in CHANGES else None
        machine = Machine(LOADS[load], chance)
        found.add(_compare(osprof, scratch, machine, resolution, changed_op, CHANGES.get(name)), changed_op)
    return found


def simulate(options, osprof):
    rows = []
    with tempfile.TemporaryDirectory(prefix="osproffs-accuracy.") as scratch:
        for load in LOADS:
            for resolution in RESOLUTIONS:
                row, beside = [load, resolution], Found()
                for name in (*CHANGES, UNCHANGED):
                    found = _judge(osprof, scratch, load, resolution, name, options)
                    beside.alarmed_ops += found.alarmed_ops
                    beside.unchanged_ops += found.unchanged_ops
                    if name in CHANGES:
                        row.append(f"{100 * found.found / found.comparisons:.1f} %")
                    else:
                        row.append(rates.bounded(found.alarms, found.comparisons))
                row.append(rates.bounded(beside.alarmed_ops, beside.unchanged_ops))
                rows.append(row)
    print(table(("machine", "resolution", *CHANGES, "false alarms, nothing changed", "of all unchanged operations"), rows))
    return 0
