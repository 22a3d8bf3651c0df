"""How often comparisons of sets of runs are wrong: sets are drawn by chance from the runs that sets.py took.

No run is twice in a comparison, but draws share runs. So a rate is as sure as that of as many comparisons as can be made
of the runs without using one twice, at least (W. Hoeffding, A class of statistics with asymptotically normal distribution,
Ann. Math. Stat. 19, 1948: the mean over all draws varies no more than the mean over disjoint ones).
"""

import collections
import random
import tempfile
from dataclasses import dataclass, field

import deviations
import preempted
import rates
import sets
from corpus import comparison
from tables import table

SET_SIZES = (3, 5, 10)


@dataclass
class Cell:
    """Comparisons of one kind: how many of them said so, and how many of them have no run in common."""
    hits: int = 0
    draws: int = 0
    disjoint: int = 0
    ratios: list = field(default_factory=list)

    def add(self, other):
        self.hits += other.hits
        self.draws += other.draws
        self.disjoint += other.disjoint
        self.ratios += other.ratios

    @property
    def percent(self):
        return 100 * self.hits / self.draws

    def __str__(self):
        low, high = rates.wilson_percent(self.hits / self.draws, self.disjoint)
        return f"{self.percent:.1f} % ({low:.0f}–{high:.0f})"


class Draws:
    """scratch: a directory for the runs with noise"""
    def __init__(self, options, osprof, scratch):
        self.osprof = osprof
        self.count = options.draws
        self.chance = random.Random(options.seed)
        self.variants = collections.defaultdict(list)  # {(scenario, effect, op): [path]}
        for taken in sets.read(options.directory):
            path = _with_noise(options, taken.run, scratch)
            self.variants[taken.scenario, taken.effect, taken.op].append(path)
        self.scenarios = sorted({scenario for scenario, _, _ in self.variants})

    def ordinary(self, scenario):
        return self.variants[scenario, sets.ORDINARY, sets.ORDINARY]

    def alike(self, scenario, size):
        """(Cell of comparisons of the same that say something changed, Counter of what)"""
        runs = self.ordinary(scenario)
        cell = Cell(disjoint=len(runs) // (2 * size))
        told = collections.Counter()
        for _ in range(self.count if cell.disjoint else 0):
            drawn = self.chance.sample(runs, 2 * size)
            said = comparison(self.osprof, *drawn[:size], "--", *drawn[size:])
            cell.hits += said["changed"]
            cell.draws += 1
            told.update(_changes(said))
        return cell, told

    def changed(self, variant, size):
        """(Cell of comparisons that find the change, Cell of those that report other ops)"""
        scenario, _, op = variant
        ordinary, runs = self.ordinary(scenario), self.variants[variant]
        found = Cell(disjoint=min(len(ordinary), len(runs)) // size)
        beside = Cell(disjoint=found.disjoint)
        for _ in range(self.count if found.disjoint else 0):
            said = comparison(self.osprof, *self.chance.sample(ordinary, size), "--", *self.chance.sample(runs, size))
            about = next(item for item in said["ops"] if item["name"] == op)
            found.hits += about["verdict"] in ("slower", "some calls slower", "slower than the rest")
            found.ratios.append(about["figures"]["mean"]["ratio"])
            beside.hits += any(what[0] != op for what in _changes(said))
            found.draws += 1
            beside.draws += 1
        return found, beside


def _with_noise(options, run, scratch):
    """The path of a copy of the run, of which a few calls are preempted."""
    with open(f"{options.directory}/runs/{run}.osprof", encoding="utf-8") as file:
        text = preempted.add(file.read(), random.Random(f"{options.seed} {run}"), options.preempted)
    with open(f"{scratch}/{run}.osprof", "w", encoding="utf-8") as file:
        file.write(text)
    return file.name


def _changes(said):
    """(op, what of it), of all that is said to have changed."""
    for op in said["ops"]:
        for name, figure in op.get("figures", {}).items():
            if figure.get("changed"):
                yield op["name"], name
        for peak in op.get("peaks", ()):
            if peak.get("changed"):
                yield op["name"], "peak"
    if said.get("common", {}).get("verdict") in ("slower", "faster"):
        yield "all", "common"


# ---- Tables ----

def false_alarms(draws):
    """(table, lines of what was reported)"""
    rows, told = [], collections.Counter()
    together = [Cell() for _ in SET_SIZES]
    for scenario in draws.scenarios:
        row = [scenario]
        for place, size in enumerate(SET_SIZES):
            cell, of_cell = draws.alike(scenario, size)
            together[place].add(cell)
            told.update({(scenario, size, *what): count for what, count in of_cell.items()})
            row.append(_in_cell(cell))
        rows.append(row)
    rows.append(["**together**", *map(_in_cell, together)])
    lines = [f"  {count:4}  {' '.join(map(str, what))}" for what, count in told.most_common()]
    return table(("nothing changed", *(f"{size} + {size} runs" for size in SET_SIZES)), rows), lines


def _in_cell(cell):
    return str(cell) if cell.draws else "-"


def changes_found(draws):
    """(table, lines of each variant)"""
    rows, lines = [], []
    beside_all = [Cell() for _ in SET_SIZES]
    for effect in sets.EFFECTS:
        row, ratios = [], []
        for place, size in enumerate(SET_SIZES):
            together = Cell()
            for variant in sorted(variant for variant in draws.variants if variant[1] == effect.name):
                found, beside = draws.changed(variant, size)
                together.add(found)
                beside_all[place].add(beside)
                if found.draws:
                    lines.append(f"  {' '.join(variant):45} {size:3}: {found.percent:5.1f} %, ratio "
                                 f"{sorted(found.ratios)[len(found.ratios) // 2]:.3f}")
            row.append(_in_cell(together))
            ratios += together.ratios
        median = sorted(ratios)[len(ratios) // 2] if ratios else 1
        rows.append([effect.in_words(), f"{median:.2f}", *row])
    rows.append(["told of others", "", *map(_in_cell, beside_all)])
    return table(("change of one op", "mean", *(f"{size} + {size} runs" for size in SET_SIZES)), rows), lines


def tell(options, osprof):
    with tempfile.TemporaryDirectory(prefix="osproffs-accuracy.") as scratch:
        draws = Draws(options, osprof, scratch)
        first, told = false_alarms(draws)
        print(first + "\n")
        second, lines = changes_found(draws)
        print(second + "\n")
        runs_of = {scenario: draws.ordinary(scenario) for scenario in draws.scenarios}
        third, deviating = deviations.from_run_to_run(osprof, runs_of, options.seed)
    print(third + "\n")
    if options.details:
        print("Told of nothing:", *told or ["  none"], sep="\n")
        print("Found:", *lines, sep="\n")
        print("From run to run:", *deviating, sep="\n")
    return 0
