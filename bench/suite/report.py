"""Tables for people, and the same as JSON.

A ratio says how many times as much time: above 1 is slower, for throughput too.
"""

import dataclasses
import json

from stats import geometric_mean, mean_with_confidence, summary

PROFILING_PAIRS = ("osproffs-call", "osproffs-tsc", "osproffs")
BASELINE = "osproffs-off"


class Result:
    """One workload's outcomes, summed up."""

    def __init__(self, workload, what, outcomes):
        self.workload = workload
        self.what = what
        self.outcomes = {outcome.subject.name: outcome for outcome in outcomes}
        self.summaries = {name: summary(record.value for record in outcome.records)
                          for name, outcome in self.outcomes.items()}

    def ratio(self, name, base):
        """How many times as slow as base; None if either was not measured."""
        a, b = self.summaries.get(name), self.summaries.get(base)
        if not a or not b or a.median <= 0 or b.median <= 0:
            return None
        return b.median / a.median if self.workload.higher_is_better else a.median / b.median

    def median_of(self, name, figure):
        values = summary(figure(record) for record in self.outcomes[name].records)
        return values.median if values else None


# ---- Tables ----


def number(value, unit=""):
    """Three significant digits, and no exponent."""
    if value is None:
        return "-"
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}{unit}"


def table(rows, left=1):
    """Aligned columns; the first `left` of them to the left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if column < left else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join(lines)


def bases_of(names):
    """What others are compared with: native, the plain pass-through, every peer."""
    return [name for name in names if name in ("native", BASELINE) or not name.startswith("osproffs")]


def result_table(result, bases):
    direction = "more is better" if result.workload.higher_is_better else "less is better"
    bases = [base for base in bases if base in result.outcomes]
    rows = [["", result.workload.unit, "min..max", *(f"×{base}" for base in bases), "daemon CPU s", "user", "system",
             "requests", "CPU µs/request"]]
    failures = []
    for name, outcome in result.outcomes.items():
        if outcome.failure:
            failures.append(f"  {name} failed: {outcome.failure}")
        if result.summaries[name]:
            rows.append(_row(result, name, bases))
    lines = [f"{result.workload.name}: {result.what} ({result.workload.unit}, {direction})"]
    return "\n".join(lines + ([table(rows)] if len(rows) > 1 else []) + failures)


def _row(result, name, bases):
    values = result.summaries[name]
    figures = (lambda record: record.daemon_cpu_s, lambda record: record.daemon_user_s,
               lambda record: record.daemon_system_s)
    requests = result.median_of(name, lambda record: record.requests)
    return [name, number(values.median), f"{number(values.low)}..{number(values.high)}",
            *(number(result.ratio(name, base)) for base in bases),
            *(number(result.median_of(name, figure)) for figure in figures),
            f"{requests:,.0f}" if requests else "-",
            number(result.median_of(name, lambda record: record.cpu_us_per_request()))]


def best_peer_table(results, peers):
    """How osproffs does against the fastest peer, workload by workload, and against each on the whole."""
    rows = [["", "best peer", "its time / osproffs's", *(f"{peer}" for peer in peers)]]
    results = [result for result in results if result.workload.is_speed]
    for result in results:
        speedups = {peer: result.ratio(peer, "osproffs") for peer in peers}
        measured = {peer: speedup for peer, speedup in speedups.items() if speedup}
        if not measured:
            continue
        best = min(measured, key=measured.get)
        rows.append([result.workload.name, best, number(measured[best]), *(number(speedups[peer]) for peer in peers)])
    if len(rows) == 1:
        return ""
    means = ["" if not speedups_of(results, peer) else number(geometric_mean(speedups_of(results, peer)))
             for peer in peers]
    rows.append(["geometric mean", "", "", *means])
    return "Times as fast as the peers (above 1: osproffs is faster)\n" + table(rows, left=2)


def speedups_of(results, peer):
    ratios = (result.ratio(peer, "osproffs") for result in results if result.workload.is_speed)
    return [ratio for ratio in ratios if ratio]


# ---- Cost of profiling, after thesis §6.2 ----


def profiling_costs(results):
    """Differences to timing=off in percent, round by round: mean and half-width of the 95 % confidence interval."""
    costs = []
    for result in results:
        if not result.workload.is_speed:
            continue
        for name in PROFILING_PAIRS:
            if name in result.outcomes and BASELINE in result.outcomes:
                cost = _profiling_cost(result, name)
                if cost:
                    costs.append(cost)
    return costs


def _profiling_cost(result, name):
    pairs = list(zip(result.outcomes[name].records, result.outcomes[BASELINE].records))
    invert = result.workload.higher_is_better
    figures = {
        "value": lambda record: record.value and (1 / record.value if invert else record.value),
        "user": lambda record: record.client_user_s + (record.daemon_user_s or 0),
        "system": lambda record: record.client_system_s + (record.daemon_system_s or 0),
        "daemon CPU": lambda record: record.daemon_cpu_s,
    }
    cost = {"workload": result.workload.name, "subject": name, "rounds": len(pairs)}
    for what, figure in figures.items():
        differences = [100 * (figure(a) / figure(b) - 1) for a, b in pairs if figure(a) and figure(b)]
        if differences:
            mean, half_width = mean_with_confidence(differences)
            cost[what] = {"percent": mean, "percent_confidence_95": half_width}
    return cost if "value" in cost else None


def profiling_table(costs):
    if not costs:
        return ""
    columns = ("value", "user", "system", "daemon CPU")
    rows = [["", "timing", "time", *columns[1:], "rounds"]]
    timing = {"osproffs-call": "call", "osproffs-tsc": "tsc", "osproffs": "full"}
    for cost in costs:
        rows.append([cost["workload"], timing[cost["subject"]], *(_percent(cost.get(column)) for column in columns),
                     str(cost["rounds"])])
    return ("Cost of profiling: % more than timing=off, ± 95 % confidence (user and system: client and daemon)\n"
            + table(rows, left=2))


def _percent(figure):
    if not figure:
        return "-"
    if figure["percent_confidence_95"] is None:
        return f"{figure['percent']:+.1f}"
    return f"{figure['percent']:+.1f} ± {figure['percent_confidence_95']:.1f}"


# ---- The machine meanwhile ----


def distance_line(results, near_ns):
    """How far apart the CPUs were, and what to do about it if nothing is done."""
    distances = summary(record.cpu_distance_ns for result in results for outcome in result.outcomes.values()
                        for record in outcome.records)
    if not distances:
        return ""
    text = (f"From one CPU to the other and back a cache line took {number(distances.median)} ns "
            f"({number(distances.low)}..{number(distances.high)}).")
    if near_ns is None and distances.high > 2 * distances.low:
        text += (f" It changes, as where a host moves the CPUs of a virtual machine: --near {1.5 * distances.low:.0f} "
                 "repeats what was measured while they were far apart.")
    return text


# ---- JSON ----


def as_json(machine, options, results, costs, peers):
    return json.dumps({
        "machine": machine,
        "options": options,
        "workloads": [_result_as_dict(result) for result in results],
        "cost_of_profiling": costs,
        "geometric_mean_speedup": {peer: geometric_mean(speedups_of(results, peer))
                                   for peer in peers if speedups_of(results, peer)},
    }, indent=1, ensure_ascii=False) + "\n"


def _result_as_dict(result):
    workload = result.workload
    return {
        "name": workload.name,
        "what": result.what,
        "unit": workload.unit,
        "higher_is_better": workload.higher_is_better,
        "subjects": {name: _outcome_as_dict(result, name, outcome) for name, outcome in result.outcomes.items()},
    }


def _outcome_as_dict(result, name, outcome):
    values = result.summaries[name]
    return {
        "failure": outcome.failure,
        "summary": dataclasses.asdict(values) if values else None,
        "times_as_slow_as": {base: result.ratio(name, base) for base in bases_of(result.outcomes)},
        "daemon_cpu_us_per_request": result.median_of(name, lambda record: record.cpu_us_per_request()),
        "runs": [_record_as_dict(record) for record in outcome.records],
    }


def _record_as_dict(record):
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record) if field.name != "scale"}
