"""print() of profiles, runs, comparisons and waits is a screen of 24 lines and 80 columns, and repr() is a line.

Figures are rounded as osprof show rounds them. Characters that a terminal may obey are replaced by "?".
"""

import unicodedata

LINES_MAX = 24
COLUMNS_MAX = 80
REPR_COLUMNS_MAX = 120

_NAME_COLUMNS_MIN = 8
_PLACES = ("command", "attached", "mount", "lower")


class Summarized:
    """repr() is a line, from _outline(); print() shows the lines of _page()."""

    def __repr__(self):
        return f"<{fitted(f'{type(self).__name__}: {self._outline()}', REPR_COLUMNS_MAX - 2)}>"

    def __str__(self):
        return "\n".join(fitted(line) for line in list(self._page())[:LINES_MAX])

    def _page(self):
        return [repr(self)]


# ---- Text


def _columns(text):
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def fitted(text, columns=COLUMNS_MAX):
    """The text, of at most so many columns: a longer one ends in "..."."""
    head = text[: columns + 1]
    shown = "".join(character if character.isprintable() else "?" for character in head)
    if _columns(shown) <= columns and len(text) == len(head):
        return shown
    while _columns(shown) > columns - 3:
        shown = shown[:-1]
    return shown + "..."


def _path_fitted(path, columns):
    """The end of a path that is too long."""
    return fitted(path if len(path) <= columns else "..." + path[3 - columns :], columns)


def table(titles, rows):
    """Lines of a table. The first column is on the left, and is shortened if the table is too wide."""
    texts = [tuple(map(str, row)) for row in [titles, *rows]]
    widths = [max(_columns(row[i]) for row in texts) for i in range(len(titles))]
    others = sum(2 + width for width in widths[1:])
    name_columns = max(_NAME_COLUMNS_MIN, min(widths[0], COLUMNS_MAX - others))
    for row in texts:
        name = fitted(row[0], name_columns)
        cells = [name + " " * (name_columns - _columns(name))]
        cells += [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        yield "  ".join(cells).rstrip()


def entries(pairs):
    """Lines of a key and a value. Values that are None are left out."""
    return [f"{key:10} {value}" for key, value in pairs if value is not None]


def counted(count, noun, plural="s"):
    return f"{count:,} {noun}{'' if count == 1 else plural}"


def shortened(rows, most, noun):
    """At most so many rows, and what to say of those that are left out: "... and 3 more operations"."""
    if len(rows) <= most:
        return rows, []
    shown = max(most - 1, 0)
    return rows[:shown], [f"... and {counted(len(rows) - shown, 'more ' + noun)}"]


# ---- Figures


def digits(value):
    """Three significant digits; whole numbers above."""
    if value == 0:
        return "0"
    if value < 9.995:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def seconds_text(seconds):
    """A time with its unit: "1.25 ms"."""
    if seconds is None:
        return "-"
    value, unit = seconds * 1e9, "ns"
    for larger in ("µs", "ms", "s"):
        if value >= 999.5:
            value, unit = value / 1000, larger
    return f"{value:.1f} {unit}" if unit == "ns" and 0 < value < 1 else f"{digits(value)} {unit}"


def cycles_text(scale, cycles):
    """Cycles as a time, or as a number if the clock's rate is not known."""
    if cycles is None:
        return "-"
    if scale.frequency_hz:
        return seconds_text(scale.seconds(cycles))
    value, suffix = float(cycles), ""
    for larger in "kMGTPE":
        if value >= 999.5:
            value, suffix = value / 1000, larger
    return (digits(value) if suffix else f"{value:.0f}") + suffix


def _max_text(operation):
    """The longest call; "<" and its bucket's upper bound if only the bucket is known."""
    if operation.longest_cycles is not None:
        return cycles_text(operation.scale, operation.longest_cycles)
    if not operation.counts:
        return "-"
    return "<" + cycles_text(operation.scale, operation.scale.upper_cycles(max(operation.counts)))


# ---- Operations


OPERATION_TITLES = ("operation", "calls", "total", "mean", "p50", "max")


def operation_row(operation):
    scale, p50 = operation.scale, operation.percentile(0.5)
    times = (operation.total_cycles, operation.mean_cycles, p50 and p50.cycles)
    texts = [cycles_text(scale, cycles) for cycles in times]
    return (operation.name, f"{operation.calls:,}", *texts, _max_text(operation))


def operation_outline(operation):
    _, _, total, mean, p50, longest = operation_row(operation)
    calls = counted(operation.calls, "call")
    return f"{operation.name}, {calls}, total {total}, mean {mean}, p50 {p50}, max {longest}"


def by_total(operations):
    """Those with the largest total first."""
    return sorted(operations.values(), key=lambda operation: -operation.total_cycles)


def sum_text(scale, operations):
    """ "6.47 s in 495,550 calls of 6 operations" """
    if not operations:
        return "no calls"
    total = cycles_text(scale, sum(operation.total_cycles for operation in operations.values()))
    calls = counted(sum(operation.calls for operation in operations.values()), "call")
    return f"{total} in {calls} of {counted(len(operations), 'operation')}"


def group_outline(group):
    """ "program make, 1.20 s in 3 calls of 2 operations" """
    name = group.name if group.name is not None else group.id
    who = group.who if group.who != "id" else str(name)
    scale = next((operation.scale for operation in group.operations.values()), None)
    return f"{group.grouping} {fitted(who, 24)}, {sum_text(scale, group.operations)}"


# ---- Profiles


def _place(profile):
    """What was profiled: a key and its value."""
    return next(((key, profile.labels[key]) for key in _PLACES if profile.labels.get(key)), ("command", None))


def _exit_text(profile):
    if profile.exit is None:
        return None
    signal, status = profile.exit.get("signal", 0), profile.exit.get("status", 0)
    return f"signal {signal}" if signal else f"status {status}"


def profile_outline(profile):
    facts = [profile.layer, _place(profile)[1] and fitted(_place(profile)[1], 24)]
    if profile.elapsed_cycles is not None:
        facts.append(cycles_text(profile.scale, profile.elapsed_cycles) + " elapsed")
    return ", ".join([fact for fact in facts if fact] + [sum_text(profile.scale, profile.operations)])


def _heading(profile):
    elapsed = profile.elapsed_cycles
    return [
        ("host", profile.labels.get("host")),
        _place(profile),
        ("elapsed", None if elapsed is None else cycles_text(profile.scale, elapsed)),
        ("exit", _exit_text(profile)),
        ("sum of", profile.merged and counted(profile.merged, "profile")),
    ]


def profile_page(profile):
    total = sum_text(profile.scale, profile.operations)
    incomplete = "calls are missing" if profile.incomplete else None
    lines = entries([("layer", profile.layer), *_heading(profile), ("total", total), ("incomplete", incomplete)])
    if not profile.operations:
        return lines
    lines.append("")
    rows, rest = shortened(by_total(profile.operations), LINES_MAX - len(lines) - 1, "operation")
    return lines + list(table(OPERATION_TITLES, map(operation_row, rows))) + rest


def run_outline(run):
    if len(run.layers) == 1:
        return profile_outline(run.layers[0])
    sums = (f"{profile.layer} {sum_text(profile.scale, profile.operations)}" for profile in run.layers)
    return "layers " + "; ".join(sums)


def run_page(run):
    """The layers, and of each the operations with the largest total, as far as there is room."""
    if len(run.layers) == 1:
        return profile_page(run.layers[0])
    incomplete = ", ".join(profile.layer for profile in run.layers if profile.incomplete)
    missing = f"calls are missing at {incomplete}" if incomplete else None
    lines = [*entries([*_heading(run.layers[0]), ("incomplete", missing)]), ""]
    most = (LINES_MAX - len(lines) - 1) // len(run.layers) - 1
    rows = []
    for profile in run.layers:
        operations = profile.operations.values()
        total = cycles_text(profile.scale, sum(operation.total_cycles for operation in operations))
        rows.append((profile.layer, f"{sum(operation.calls for operation in operations):,}", total, "", "", ""))
        if most > 0:
            shown, rest = shortened(by_total(profile.operations), most, "operation")
            rows += [("  " + row[0], *row[1:]) for row in map(operation_row, shown)]
            rows += [("  " + line, "", "", "", "", "") for line in rest]
    return lines + list(table(("layer, operation", *OPERATION_TITLES[1:]), rows))


# ---- Comparisons


def _verdicts(operations):
    """ "9 operations: 1 slower, 8 no change", in the order of the operations"""
    counts = {}
    for operation in operations:
        counts[operation.verdict] = counts.get(operation.verdict, 0) + 1
    texts = ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items())
    return counted(len(operations), "operation") + (f": {texts}" if texts else "")


def _ended(lines, titles, rows):
    """Lines, and a table of as many rows as there is room for."""
    if not rows:
        return lines
    rows, rest = shortened(rows, LINES_MAX - len(lines) - 2, "operation")
    return [*lines, "", *table(titles, rows), *rest]


def comparison_outline(comparison):
    return f"{_verdicts(comparison.ops)} ({comparison.a.name}, {comparison.b.name})"


def comparison_page(comparison, scale):
    def side(name):
        profile, sides = getattr(comparison, name), [getattr(operation, name) for operation in comparison.ops]
        total = cycles_text(scale, sum(one.total_cycles for one in sides))
        elapsed = "" if profile.elapsed_cycles is None else f", {cycles_text(scale, profile.elapsed_cycles)} elapsed"
        sums = f"{total} in {counted(sum(one.calls for one in sides), 'call')}{elapsed}"
        return f"{_path_fitted(profile.name, max(COLUMNS_MAX - 13 - len(sums), _NAME_COLUMNS_MIN))}: {sums}"

    def mean(one):
        return cycles_text(scale, one.total_cycles / one.finished if one.finished else None)

    rows = [
        (
            operation.op,
            operation.verdict,
            mean(operation.a),
            mean(operation.b),
            "-" if operation.mean_ratio is None else digits(operation.mean_ratio),
            f"{operation.a.calls:,}",
            f"{operation.b.calls:,}",
        )
        for operation in comparison.ops
    ]
    lines = [_verdicts(comparison.ops), *entries([("A", side("a")), ("B", side("b"))])]
    return _ended(lines, ("operation", "verdict", "mean, A", "mean, B", "mean, B/A", "calls, A", "calls, B"), rows)


def _ratio(figure):
    """ "1.32 [1.27-1.36]": a ratio and its confidence interval"""
    if figure is None or figure.ratio is None:
        return "-"
    interval = "" if figure.low is None or figure.high is None else f" [{digits(figure.low)}-{digits(figure.high)}]"
    return digits(figure.ratio) + interval


def verdict_outline(verdict):
    return f"{_verdicts(verdict.ops)} ({verdict.a_runs} runs, {verdict.b_runs} runs)"


def verdict_page(verdict, scale):
    def time(time):
        if time is None:
            return None
        a, b = cycles_text(scale, time.a_cycles), cycles_text(scale, time.b_cycles)
        return f"{time.verdict}: {a} in A, {b} in B, B/A {_ratio(time)}"

    rows = []
    for operation in verdict.ops:
        mean = operation.figures.get("mean")
        means = [cycles_text(scale, mean and getattr(mean, side)) for side in ("a_cycles", "b_cycles")]
        rows.append((operation.name, operation.verdict, *means, _ratio(mean)))
    runs = [("A", counted(verdict.a_runs, "run")), ("B", counted(verdict.b_runs, "run"))]
    times = [("elapsed", time(verdict.elapsed)), ("total", time(verdict.total))]
    lines = [_verdicts(verdict.ops), *entries(runs + times)]
    interval = f"{100 * verdict.confidence:.3g} %"
    return _ended(lines, ("operation", "verdict", "mean, A", "mean, B", f"mean, B/A [{interval}]"), rows)


# ---- Waits


def waits_outline(waits):
    who = f"{counted(waits.threads, 'thread')} of {counted(waits.processes, 'process', 'es')}"
    return f"{who} waited {seconds_text(waits.total_seconds)} within {seconds_text(waits.elapsed_seconds)}"


def waits_page(waits):
    """Without waits for work, which are in no sum either."""
    rows = sorted((wait for wait in waits.waits if wait.wait_class != "work"), key=lambda wait: -wait.total_seconds)
    shown, rest = shortened(rows, LINES_MAX - 3, "wait")
    if not shown:
        return [waits_outline(waits)]
    cells = [
        (
            f"{wait.program}: {wait.cause}",
            f"{wait.waits:,}",
            seconds_text(wait.total_seconds),
            seconds_text(wait.longest_seconds),
        )
        for wait in shown
    ]
    return [waits_outline(waits), "", *table(("program: cause", "waits", "total", "max"), cells), *rest]
