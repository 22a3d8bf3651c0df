"""How often rare operations are called, in runs that are made up: how often an exact difference is found, and chance is
taken for one.

In each comparison, ten operations are called equally often in each run, beside those that draw their number. No run is in
two comparisons.
"""

import random
import tempfile

import rates
from corpus import comparison
from tables import table

SIZES = (3, 4, 5)  # runs a side
STEADY = 10               # operations that are called equally often in each run


def _either(chance):
    return 3 + chance.randrange(2)


def _poisson(chance):
    """As many as events of a Poisson process with two in a run."""
    count, time = 0, chance.expovariate(2)
    while time < 1:
        count, time = count + 1, time + chance.expovariate(2)
    return count


# name: (how many operations draw their number, how, what is added to a steady one of B)
KINDS = {
    "one draws 3 or 4": (1, _either, 0),
    "two draw 3 or 4": (2, _either, 0),
    "six draw 3 or 4": (6, _either, 0),
    "20 draw 3 or 4": (20, _either, 0),
    "six draw of a Poisson distribution": (6, _poisson, 0),
    "one call more, nothing drawn": (0, None, 1),
    "one call more, one draws 3 or 4": (1, _either, 1),
    "one call more, six draw of a Poisson distribution": (6, _poisson, 1),
}
CHANGED = "OP_STEADY0"


def _write(path, chance, drawn_count, draw, more):
    counts = {f"OP_STEADY{number}": number for number in range(STEADY)}
    counts[CHANGED] += more
    counts.update({f"OP_DRAWN{number}": draw(chance) for number in range(drawn_count)})
    counts["OP_READ"] = 1000
    with open(path, "w", encoding="ascii") as file:
        file.write("# osprof 1\n# layer: fs\n# clock: tsc 1000000000 Hz\n# resolution: 1\n")
        for name, count in counts.items():
            if count > 0:
                file.write(f"{name} {count} {count * 1000}\n{' 0' * 9} {count}\n")


def _told(said):
    """The operations that are said to have changed."""
    return {f"OP_{op['name']}" for op in said["ops"] if op["verdict"] in ("more calls", "fewer calls", "only in A", "only in B")}


def _cell(osprof, scratch, options, name, size):
    drawn_count, draw, more = KINDS[name]
    found = alarms = 0
    for number in range(options.trials):
        chance = random.Random(f"{options.seed} {name} {size} {number}")
        paths = [f"{scratch}/{run}.osprof" for run in range(2 * size)]
        for run, path in enumerate(paths):
            _write(path, chance, drawn_count, draw, more if run >= size else 0)
        told = _told(comparison(osprof, *paths[:size], "--", *paths[size:]))
        found += CHANGED in told
        alarms += bool(told - {CHANGED}) or (not more and CHANGED in told)
    alarmed = f"{alarms} of {options.trials}" if more else rates.bounded(alarms, options.trials)
    return f"{100 * found / options.trials:.0f} %; others {alarmed}" if more else alarmed


def counts(options, osprof):
    with tempfile.TemporaryDirectory(prefix="osproffs-accuracy.") as scratch:
        rows = [[name, *(_cell(osprof, scratch, options, name, size) for size in SIZES)] for name in KINDS]
    print(table(("", *(f"{size} + {size} runs" for size in SIZES)), rows))
    return 0
