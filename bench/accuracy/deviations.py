"""How much typical latencies differ from run to run, in runs of which nothing was changed.

osprof compares sets of two runs or more. So these are typical latencies of two runs each, whose deviation is less by √2."""

import collections
import math
import random
import statistics

import sets
from corpus import comparison
from tables import table


def _logarithms(osprof, runs):
    """{op: [logarithm of the typical latency of two runs]} of the ops that are called often in all of them."""
    found = collections.defaultdict(list)
    for place in range(0, len(runs) - 3, 4):
        for op in comparison(osprof, *runs[place:place + 2], "--", *runs[place + 2:place + 4])["ops"]:
            typical = op.get("figures", {}).get("typical")
            if typical and op["a_calls"] >= sets.CALLS_MIN:
                found[op["name"]] += (math.log(typical["a_cycles"]), math.log(typical["b_cycles"]))
    return {op: values for op, values in found.items() if len(values) == 2 * (len(runs) // 4)}


def _deviations(logarithms):
    """That of all operations together, and {op: its own beside it}: of one run, and of the logarithm."""
    beside_mean = {op: [value - statistics.fmean(values) for value in values] for op, values in logarithms.items()}
    common = [statistics.median(values) for values in zip(*beside_mean.values())]
    own = {op: math.sqrt(2) * statistics.stdev(value - of_all for value, of_all in zip(values, common))
           for op, values in beside_mean.items()}
    return math.sqrt(2) * statistics.stdev(common), own


def from_run_to_run(osprof, runs_of, seed):
    """(table, lines of each operation); runs_of: {scenario: [path]}"""
    rows, lines = [], []
    for scenario, runs in runs_of.items():
        logarithms = _logarithms(osprof, random.Random(seed).sample(runs, len(runs)))
        if len(logarithms) < 2:
            continue
        common, own = _deviations(logarithms)
        low, middle, high = statistics.quantiles(own.values(), n=4, method="inclusive")
        rows.append((scenario, len(own), f"{100 * common:.1f} %",
                     f"{100 * middle:.1f} % ({100 * low:.1f}–{100 * high:.1f})"))
        lines += [f"  {scenario} {op}: {100 * deviation:.1f} %" for op, deviation in sorted(own.items())]
    return table(("from run to run", "operations", "all together", "each beside that: median (quartiles)"), rows), lines
