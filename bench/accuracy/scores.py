"""The commands score, check and slack: what osprof compare makes of a corpus, as tables and plots."""

import collections
import os
import random
import re
import subprocess

import rates
from corpus import opened
from distance import far_mover
from plan import HALVES, KINDS_APART
from subjects import Trouble
from tables import table

CHOOSE, JUDGE = HALVES
ALL_PHASES = "all three phases"
METHOD_HEADING = ("method", "threshold", "false positives", "false negatives", "best on the choosing half")
PLOT_POINTS = 120
PLOTTED_TO = {"%": 100.0, "buckets": 1.0}
NOISE_OCTAVES = 1.75  # as in src/analysis/include/distance.h
FEW_CALLS = (10, 20, 30, 50, 100)
ALL_SHARES = ("--min-share", "0")  # delays in one op make others a small part of the whole


# ---- Tables ----

def corpus_table(scored):
    counts = collections.Counter((item.pair.half, item.pair.label, item.pair.kind) for item in scored)
    kinds = sorted({(kind in KINDS_APART, label != "same", label, kind) for _, label, kind in counts})
    rows = [(kind, label, "no" if is_apart else "yes", counts[CHOOSE, label, kind], counts[JUDGE, label, kind])
            for is_apart, _, label, kind in kinds]
    return table(("kind", "label", "counted", CHOOSE, JUDGE), rows)


def judged_of(scored, halves):
    return [item for item in scored if item.pair.half in halves and item.counts]


def method_rows(scored, judged, default, thresholds):
    """(method, threshold, errors of those judged, best thresholds on the choosing half)"""
    chosen_by = judged_of(scored, (CHOOSE,))
    rows = []
    for method, threshold in thresholds.items():
        low, high, least = rates.best_thresholds([(item.is_labelled_different, item.scores[method])
                                                  for item in chosen_by])
        errors = rates.errors_at(judged, method, threshold)
        name = f"**{method}**" if method == default else method
        rows.append((name, f"{threshold:g}", errors.false_positives, errors.false_negatives,
                     f"{low:.4g} to {high:.4g}: {least:.1f} %"))
    errors = rates.errors_of_verdicts(judged)
    rows.append((ALL_PHASES, "", errors.false_positives, errors.false_negatives, ""))
    return rows


def method_table(scored, judged, default, thresholds):
    rows = method_rows(scored, judged, default, thresholds)
    if len(judged) > len(judged_of(scored, (JUDGE,))):  # nothing was chosen by this corpus
        return table(METHOD_HEADING[:-1], [row[:-1] for row in rows])
    return table(METHOD_HEADING, rows)


def resampled_lines(judged, default, thresholds):
    """How far the rates of the default method and of all phases depend on which runs there were."""
    lines = []
    for name, finds in ((default, lambda item: item.scores[default] > thresholds[default]),
                        (ALL_PHASES, lambda item: item.is_different)):
        for what, is_labelled in (("false positives", False), ("false negatives", True)):
            items = [item for item in judged if item.is_labelled_different == is_labelled]
            low, high = rates.resampled_percent(items, lambda item: finds(item) != is_labelled)
            runs = len({(item.pair.a, item.pair.b) for item in items})
            lines.append(f"{name}, {what}: {low:.1f} to {high:.1f} % when its {runs} pairs of runs are drawn anew")
    return lines


def _effect(pair):
    """(times, percent of the calls) of a delay."""
    found = re.search(r"([\d.]+) times the median, for ([\d.]+) %", pair.why)
    return (float(found[1]), float(found[2])) if found else None


def effect_table(scored, default, thresholds):
    """What is found of each delay, in both halves: nothing was chosen to find it."""
    found = collections.defaultdict(list)
    for item in scored:
        effect = _effect(item.pair)
        if effect:
            found[item.pair.kind, -effect[1], effect[0]].append(item)
    rows = []
    for (kind, falling, times), items in sorted(found.items()):
        counted = "no" if kind in KINDS_APART else "yes"
        rows.append((f"{times:g} times the median", f"{-falling:g} %", counted, len(items),
                     _share(items, lambda item: item.scores[default] > thresholds[default]),
                     _share(items, lambda item: item.scores["EARTHMOVER"] > thresholds["EARTHMOVER"]),
                     _share(items, lambda item: item.is_different)))
    heading = ("delay", "calls", "counted", "pairs", f"found by {default}", "by EARTHMOVER", f"by {ALL_PHASES}")
    return table(heading, rows)


def kind_table(scored, default, thresholds):
    kinds = collections.defaultdict(list)
    for item in scored:
        if not _effect(item.pair):
            kinds[item.pair.kind in KINDS_APART, item.pair.label, item.pair.kind, _essence(item.pair)].append(item)
    rows = [(kind, what, label, len(items), _share(items, lambda item: item.scores[default] > thresholds[default]),
             _share(items, lambda item: item.is_different))
            for (_, label, kind, what), items in sorted(kinds.items())]
    return table(("kind", "what", "label", "pairs", f"different by {default}", f"by {ALL_PHASES}"), rows)


def _essence(pair):
    if pair.label == "same":
        return "by noise alone"
    return f"{pair.why}: {pair.op}" if pair.kind in ("size", "cold") else pair.why


def _share(items, is_so):
    count = sum(bool(is_so(item)) for item in items)
    return f"{count} ({100 * count / len(items):.0f} %)"


def mistakes(judged, default, thresholds):
    """Lines that name each pair that the default method gets wrong."""
    lines = []
    for item in judged:
        score = item.scores[default]
        if (score > thresholds[default]) != item.is_labelled_different:
            pair = item.pair
            lines.append(f"  {pair.label:9}  {score:5.2f}  {pair.op:14} {pair.a} {pair.b}  ({pair.why})")
    return lines


# ---- Plots ----

def _rates_over_thresholds(scored, method, most):
    for point in range(PLOT_POINTS + 1):
        errors = rates.errors_at(scored, method, most * point / PLOT_POINTS)
        yield most * point / PLOT_POINTS, errors.false_positives.percent, errors.false_negatives.percent


def plot(scored, method, unit, threshold, path):
    """Error rates of a method against its threshold, as SVG (thesis Figures 6.3 to 6.8)."""
    most = PLOTTED_TO[unit]
    lines = [" ".join(f"{value:.4g}" for value in row) for row in _rates_over_thresholds(scored, method, most)]
    script = f"""
        set terminal svg size 480,300 font "sans-serif,11" background "white"
        set output {_quoted(path)}
        set title "{method}: at {threshold:g}, the default, dashed"
        set xlabel "threshold ({unit})"
        set ylabel "wrong (%)"
        set xrange [0:{most}]
        set yrange [0:40]
        set grid
        set key top center horizontal
        set arrow from {threshold}, graph 0 to {threshold}, graph 1 nohead dashtype 2 linecolor "gray40"
        $rates << END
{chr(10).join(lines)}
END
        plot $rates using 1:2 with lines linewidth 2 linecolor "#c0392b" title "false positives", \\
             $rates using 1:3 with lines linewidth 2 linecolor "#2463a8" title "false negatives"
    """
    try:
        result = subprocess.run(["gnuplot"], input=script, capture_output=True, text=True)
    except OSError as error:
        raise Trouble(f"cannot run gnuplot: {error.strerror}") from error
    if result.returncode != 0:
        raise Trouble(f"gnuplot cannot plot {path}: {result.stderr.strip()}")


def _quoted(path):
    return "'" + str(path).replace("'", "''") + "'"


# ---- Claims ----

def claimed(document, default):
    """(false positives, false negatives) in percent that a document's table of methods states for the default method
    and for all three phases."""
    try:
        with open(document, encoding="utf-8") as text:
            rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in text if line.startswith("|")]
    except OSError as error:
        raise Trouble(f"cannot read {document}: {error.strerror}") from error
    claims = {}
    for row in rows:
        if len(row) == len(METHOD_HEADING) and row[0] in (default, ALL_PHASES):
            numbers = [re.search(r"([\d.]+) % \(", cell) for cell in row[2:4]]
            if all(numbers):
                claims[row[0]] = tuple(float(number[1]) for number in numbers)
    if set(claims) != {default, ALL_PHASES}:
        raise Trouble(f"{document} has no table that states the errors of {default} and of {ALL_PHASES}")
    return claims


def check_claims(judged, default, thresholds, document):
    """Complaints: what is worse than the document says."""
    found = {default: rates.errors_at(judged, default, thresholds[default]),
             ALL_PHASES: rates.errors_of_verdicts(judged)}
    complaints = []
    for name, claims in claimed(document, default).items():
        for what, claim, rate in zip(("false positives", "false negatives"), claims,
                                     (found[name].false_positives, found[name].false_negatives)):
            if round(rate.percent, 1) > claim:
                complaints.append(f"{name}: {rate} {what}, and {document} says {claim} %")
    return complaints


# ---- Commands ----

UNITS = {"EARTHMOVER": "buckets", "FARMOVER": "buckets"}


def score(options, osprof):
    if options.plot and not os.path.isdir(options.plot):
        raise Trouble(f"--plot {options.plot}: is not a directory")
    with opened(options.corpus, osprof) as corpus:
        scored = corpus.score(*ALL_SHARES)
        default, thresholds = corpus.thresholds()
    judged = judged_of(scored, HALVES if options.both else (JUDGE,))
    print(corpus_table(scored) + "\n")
    print(method_table(scored, judged, default, thresholds) + "\n")
    print("\n".join(resampled_lines(judged, default, thresholds)) + "\n")
    print(effect_table(scored, default, thresholds) + "\n")
    print(kind_table(scored, default, thresholds) + "\n")
    print(f"Wrong by {default}:")
    print("\n".join(mistakes(judged, default, thresholds)) or "  none")
    if options.plot:
        for method, threshold in thresholds.items():
            path = f"{options.plot}/{method.lower()}.svg"
            plot(judged, method, UNITS.get(method, "%"), threshold, path)
    return 0


def check(options, osprof):
    """Ends with 1 if the results of the judging half are worse than a document says."""
    with opened(options.corpus, osprof) as corpus:
        judged = judged_of(corpus.score(*ALL_SHARES, halves=(JUDGE,)), (JUDGE,))
        default, thresholds = corpus.thresholds()
    complaints = check_claims(judged, default, thresholds, options.document)
    for complaint in complaints:
        print(f"worse than documented: {complaint}")
    return 1 if complaints else 0


def slack(options, osprof):
    """How FARMOVER's two numbers were chosen: by the choosing half alone, with all calls and with a few of them."""
    with opened(options.corpus, osprof) as corpus:
        pairs = [pair for pair in corpus.pairs if pair.half == CHOOSE and pair.kind not in KINDS_APART]
        buckets = {run: corpus.buckets(run) for run in {run for pair in pairs for run in (pair.a, pair.b)}}
    whole = [(pair.label == "different", buckets[pair.a][pair.op], buckets[pair.b][pair.op]) for pair in pairs]
    rows = []
    for noise in (quarters / 4 for quarters in range(0, 13)):
        low, high, least = rates.best_thresholds([(label, far_mover(a, b, noise)) for label, a, b in whole])
        rows.append((f"{noise:g}", f"{low:.3f} to {high:.3f}", f"{least:.2f} %"))
    print(table(("octaves that cost nothing", "best thresholds", "larger error rate there"), rows) + "\n")
    chance = random.Random(1)
    drawn = [[(label, _draw(a, calls, chance), _draw(b, calls, chance)) for label, a, b in whole]
             for calls in FEW_CALLS]
    rows = []
    for errors in (0, 0.5, 1, 1.5, 2):
        low, high, _ = rates.best_thresholds([(label, far_mover(a, b, NOISE_OCTAVES, errors)) for label, a, b in whole])
        found = [rates.errors_of([(label, far_mover(a, b, NOISE_OCTAVES, errors) > (low + high) / 2)
                                  for label, a, b in some]) for some in drawn + [whole]]
        rows.append([f"{errors:g}", f"{low:.3f} to {high:.3f}"]
                    + [f"{one.false_positives.percent:.1f}, {one.false_negatives.percent:.1f} %" for one in found])
    heading = ["standard errors less", "best thresholds", *(f"{calls} calls" for calls in FEW_CALLS), "all calls"]
    print(table(heading, rows))
    return 0


def _draw(buckets, count, chance):
    """A histogram of so many of its calls, drawn by chance; all of them if there are no more."""
    calls = [bucket for bucket, calls_of_it in enumerate(buckets) for _ in range(calls_of_it)]
    drawn = [0] * len(buckets)
    for bucket in chance.sample(calls, min(count, len(calls))):
        drawn[bucket] += 1
    return drawn
