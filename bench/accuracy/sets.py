"""Runs for comparisons of sets: many of each variant of a scenario, taken once by real mounts.

A variant is the scenario as it is, or with one change of one op, made by bench/slow_layer.c. Sets are drawn from the runs
afterwards (draws.py), so that a run serves in many comparisons.
"""

import csv
import os
import random
import statistics
import sys
import time
from dataclasses import dataclass

import profiles
from plan import Run, Scenario
from subjects import Trouble

SCENARIOS = (
    Scenario("names-tmpfs", "names", "tmpfs", {"processes": 1, "iterations": 400, "entries": 100}, cache="auto"),
    Scenario("names-ext4", "names", "ext4", {"processes": 1, "iterations": 400, "entries": 100}, cache="auto"),
    Scenario("data-tmpfs", "data", "tmpfs", {"processes": 1, "iterations": 1000, "io_bytes": 4096}),
)

LOADS = {"quiet": "quiet", "busy": "cpu-2"}  # what else runs, as noise.py names it


@dataclass(frozen=True)
class Effect:
    name: str
    times: float  # the op's mean latency: added to the calls that are hit
    share: float  # of its calls

    def in_words(self):
        if self.share < 1:
            return f"{100 * self.share:g} % of its calls ×{self.times + 1:g}"
        return f"all its calls ×{self.times + 1:g}"


EFFECTS = tuple(
    [Effect(f"x{factor:g}", factor - 1, 1) for factor in (1.1, 1.25, 1.5, 2)]
    + [Effect(f"{100 * share:g}% x32", 31, share) for share in (0.01, 0.03)]
)
ORDINARY = "-"

CALLS_MIN = 200  # of an op to change, in a run: 1 % of less is hardly a call
MEAN_NS_MIN = 2000  # a tenth of less is lost in the reading of clocks
FIRST_RUNS = 5


@dataclass(frozen=True)
class Taken:
    """A run, as runs.tsv lists it."""
    run: str
    scenario: str
    load: str
    effect: str
    op: str


# ---- Which runs ----

def _often_called(texts):
    """{op: mean latency in ns} of the ops that can be changed: the median over these runs."""
    ns_per_cycle = 1e9 / profiles.frequency_hz(texts[0])
    means_ns = {}
    for text in texts:
        for op, (calls, cycles) in profiles.totals(text).items():
            if calls >= CALLS_MIN:
                means_ns.setdefault(op, []).append(cycles * ns_per_cycle / calls)
    medians_ns = {op: statistics.median(found) for op, found in means_ns.items() if len(found) == len(texts)}
    return {op: median_ns for op, median_ns in medians_ns.items() if median_ns >= MEAN_NS_MIN}


def _plan(means_ns, options, chance):
    """[(Taken, Run)] of all scenarios in the order to take them, which is mixed: what drifts meets all variants alike."""
    planned = []
    for scenario in SCENARIOS:
        for number in range(options.ordinary):
            planned.append(_planned(scenario, options.load, None, ORDINARY, number, means_ns))
        for op in chance.sample(sorted(means_ns[scenario.name]), min(options.ops, len(means_ns[scenario.name]))):
            for effect in EFFECTS:
                for number in range(options.changed):
                    planned.append(_planned(scenario, options.load, effect, op, number, means_ns))
    chance.shuffle(planned)
    return planned


def _planned(scenario, load, effect, op, number, means_ns):
    name = f"{scenario.name}-{op.lower()}-{effect.name}" if effect else f"{scenario.name}-ordinary"
    name = name.replace("% ", "p-").replace(" ", "-") + f"-{number:03}"
    run = Run(name, "", scenario, LOADS[load])
    if effect:
        run.delays = {op: ("", max(1, round(effect.times * means_ns[scenario.name][op])), effect.share, "")}
    return Taken(name, scenario.name, load, effect.name if effect else ORDINARY, op), run


# ---- Taking them ----

def take(capture, options):
    """Takes the runs into options.directory."""
    os.mkdir(f"{options.directory}/runs")
    first = {scenario.name: [] for scenario in SCENARIOS}
    for scenario in SCENARIOS * FIRST_RUNS:
        first[scenario.name].append(capture.take(Run("first", "", scenario, LOADS[options.load])))
    means_ns = {name: _often_called(texts) for name, texts in first.items()}
    planned = _plan(means_ns, options, random.Random(options.seed))
    started = time.monotonic()
    with open(f"{options.directory}/runs.tsv", "w", encoding="utf-8", newline="") as table:
        rows = csv.writer(table, delimiter="\t", lineterminator="\n")
        rows.writerow(Taken.__dataclass_fields__)
        for number, (taken, run) in enumerate(planned, 1):
            with open(f"{options.directory}/runs/{taken.run}.osprof", "w", encoding="utf-8") as profile:
                profile.write(capture.take(run))
            rows.writerow((taken.run, taken.scenario, taken.load, taken.effect, taken.op))
            print(f"\r{number} of {len(planned)} runs, {time.monotonic() - started:.0f} s", end="", file=sys.stderr)
    print(file=sys.stderr)


def read(directory):
    """[Taken] of a directory."""
    path = f"{directory}/runs.tsv"
    try:
        with open(path, encoding="utf-8", newline="") as table:
            taken = [Taken(**row) for row in csv.DictReader(table, delimiter="\t")]
    except (OSError, TypeError) as error:
        raise Trouble(f"cannot read the runs of {path}: {error}") from error
    if not taken:
        raise Trouble(f"there are no runs in {path}")
    return taken
