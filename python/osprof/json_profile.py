"""Reading profiles and recordings as JSON: what osprof show --json and osprof why --json write."""

from . import checks
from .distribution import COUNT_MAX, RESOLUTIONS, Distribution, Scale
from .json_values import Value, take, take_object
from .model import GROUPINGS, Busy, Call, Cause, Cells, Group, Joint, Operation, Profile, SlowCaller
from .model import UNSEEN_KINDS, UnseenProgram
from .text_header import INTERVALS_MAX
from .text_times import unix_ns

_COUNTS = (
    "elapsed_cycles",
    "storage_read_bytes",
    "cache_read_bytes",
    "cache_missed_bytes",
    "cache_unjudged_bytes",
    "slow_cycles",
    "threads_max",
    "cost_calls",
    "disk_other_bytes",
    "waiting_requests",
    "runs",
    "merged",
    "chosen_groups",
    "missed_cycles",
)
_SECONDS = (
    "stolen_seconds",
    "stopped_seconds",
    "user_time_seconds",
    "system_time_seconds",
    "queue_time_seconds",
    "program_time_seconds",
    "locking_time_seconds",
)


_COUNTS_BY_WORD = (
    "page_faults",
    "seen_bytes",
    "kernel_bytes",
    "elsewhere_bytes",
    "not_seen",
    "not_told",
    "disk_bytes",
    "exit",
)
_SECONDS_BY_WORD = ("cost_seconds", "disk_seconds")


def _by_word(method):
    return lambda member: {word: method(member.get(word)) for word in member.keys()}


def _unseen_program(value):
    return UnseenProgram(
        value.need("kind").one_of(UNSEEN_KINDS),
        value.need("program").text(),
        value.need("runs").count(),
        value.need("least_seconds").real(),
        take(value, "most_seconds", Value.real),
    )


def _require(value, complaint):
    if complaint:
        value.fail(complaint)


def _bucket(cell, scale):
    return cell.need("bucket").count(scale.bucket_count - 1)


def _counts(buckets, scale):
    counts, last = {}, -1
    for cell in buckets:
        bucket = _bucket(cell, scale)
        if bucket <= last:
            cell.fail("buckets in ascending order")
        last = bucket
        counts[bucket] = cell.need("count").count(least=1)
    return counts


def _cells(value, row_key, row_max, scale):
    cells, last = Cells(), (-1, -1)
    for cell in value:
        row, bucket = cell.need(row_key).count(row_max), _bucket(cell, scale)
        if (row, bucket) <= last:
            cell.fail("cells in ascending order")
        last = row, bucket
        cells.add(row, bucket, cell.need("count").count(least=1))
    return cells


def _operation(value, profile):
    scale = profile.scale
    operation = Operation(
        scale=scale,
        counts=_counts(value.need("buckets"), scale),
        name=value.need("op").text(),
        calls=value.need("calls").count(),
        total_cycles=value.need("total_cycles").count(),
        left=take(value, "left", Value.count) or 0,
        busy_looks=take(value, "busy_looks", Value.count),
        longest_cycles=take(value, "longest_cycles", Value.count) or None,
        longest_path=take(value, "longest_path", Value.text),
        asked_bytes=take(value, "asked_bytes", Value.count) or 0,
        moved_bytes=take(value, "moved_bytes", Value.count) or 0,
    )
    failed = value.get("failed")
    for error in failed.keys() if failed else ():
        if error not in checks.ERRORS:
            failed.fail("names of errors, such as ENOENT, or other")
        operation.failed[error] = failed.get(error).count(least=1)
    for check in checks.OF_OPERATIONS:
        _require(value, check(operation))
    _require(value, checks.wrong_with_looks(profile, operation))
    if value.get("samples") is not None:
        intervals = len(profile.borders_cycles)
        operation.samples = _cells(value.get("samples"), "interval", intervals - 1, scale)
    return operation


def _operations(value, profile):
    operations = {}
    for element in value.need("ops"):
        operation = _operation(element, profile)
        if operation.name in operations:
            element.fail("every operation once")
        operations[operation.name] = operation
    return operations


def _group(value, profile):
    group = Group(
        grouping=value.need("grouping").one_of(GROUPINGS),
        who=value.need("who").one_of(("id", "kernel", "other")),
        id=take(value, "id", Value.count),
        name=take(value, "name", Value.text),
        missed_cycles_max=take(value, "missed_cycles_max", Value.count),
        cache_read_bytes=take(value, "cache_read_bytes", Value.count),
        cache_missed_bytes=take(value, "cache_missed_bytes", Value.count),
        cache_unjudged_bytes=take(value, "cache_unjudged_bytes", Value.count),
    )
    group.operations = _operations(value, profile)
    return group


def _groups(value, profile):
    groups, grouped = [], checks.GroupedCalls(profile)
    for element in value.get("groups") or ():
        group = _group(element, profile)
        for operation in group.operations.values():
            _require(element, grouped.wrong_with(group.grouping, operation))
        groups.append(group)
    return groups


def _call(value, scale):
    call = take_object(value, Call, scale=scale)
    _require(value, checks.wrong_with_call(call))
    return call


def _cause(value, scale):
    cause = take_object(value, Cause, scale=scale)
    if value.get("buckets"):
        cause.latencies = Distribution(scale, _counts(value.get("buckets"), scale))
        if cause.latencies.finished > cause.calls:
            value.fail("buckets that sum up to at most its calls")
    return cause


def _slow_caller(value):
    caller = take_object(value, SlowCaller)
    if bool(caller.program) != bool(caller.function):
        value.fail("a program and its function, or neither")
    return caller


def _joint(value, profile):
    name, kind = value.need("op").text(), value.need("value").one_of(checks.VALUES)
    if name not in profile.operations:
        value.fail("an operation of this profile")
    joint = Joint(name, kind, _cells(value.need("cells"), "number", COUNT_MAX, profile.scale))
    if not all(checks.is_row_of(kind, row) for row, _, _ in joint.cells):
        value.fail("numbers that are the first of a row")
    if sum(count for _, _, count in joint.cells) > profile.operations[name].calls:
        value.fail("cells that sum up to at most the calls of their operation")
    return joint


def _borders(value):
    borders = [border.need("end_cycles").count() for border in value.get("borders") or ()]
    if borders != sorted(borders) or len(borders) > INTERVALS_MAX:
        value.get("borders").fail(f"at most {INTERVALS_MAX} borders in ascending order")
    return borders


def _start(value):
    if value.get("start") is None:
        return None
    start_ns = unix_ns(value.get("start").text())
    if start_ns is None:
        value.get("start").fail("a time like 2026-11-21T02:30:00.123456789Z")
    return start_ns


def take_profile(value):
    """The profile that a JSON object is. Errors: FormatError"""
    value.need("version").one_of((1,))
    clock, labels, busy = value.need("clock"), value.need("labels"), value.get("busy")
    rate = take(clock, "frequency_hz", lambda member: member.count(least=1))
    profile = Profile(Scale(value.need("resolution").one_of(RESOLUTIONS), rate))
    scale = profile.scale
    profile.clock = take(clock, "kind", lambda member: member.one_of(("tsc", "cntvct", "monotonic")))
    profile.labels = {key: labels.get(key).text() for key in labels.keys()}
    profile.lists = [key.text() for key in value.get("lists") or ()]
    profile.start_ns = _start(value)
    for member in _COUNTS:
        setattr(profile, member, take(value, member, Value.count))
    for member in _SECONDS:
        setattr(profile, member, take(value, member, Value.real))
    for member in _COUNTS_BY_WORD:
        setattr(profile, member, take(value, member, _by_word(Value.count)) or getattr(profile, member))
    for member in _SECONDS_BY_WORD:
        setattr(profile, member, take(value, member, _by_word(Value.real)))
    profile.unseen_programs = [_unseen_program(program) for program in value.get("unseen_programs") or ()]
    profile.clamped = value.need("clamped").count()
    profile.ungrouped = take(value, "ungrouped", Value.count) or 0
    profile.incomplete = value.need("incomplete").flag()
    if busy:
        profile.busy = Busy(*(busy.need(member).count() for member in ("looks", "busy", "most")))
    profile.in_flight = [_call(call, scale) for call in value.need("in_flight")]
    profile.causes = [_cause(cause, scale) for cause in value.get("causes") or ()]
    profile.slow_calls = [_call(call, scale) for call in value.get("slow_calls") or ()]
    profile.slow_callers = [_slow_caller(caller) for caller in value.get("slow_callers") or ()]
    profile.interval_cycles = take(value, "interval_cycles", lambda member: member.count(least=1))
    profile.borders_cycles = _borders(value)
    profile.operations = _operations(value, profile)
    profile.joints = [_joint(joint, profile) for joint in value.get("joints") or ()]
    profile.groups = _groups(value, profile)
    return profile


def take_layers(value):
    """All profiles of a document: of a recording, or a single one. Errors: FormatError"""
    if value.get("layers") is None:
        if value.get("ops") is None:
            value.fail('a profile, with the member "ops", or a recording, with "layers"')
        return [take_profile(value)]
    value.need("version").one_of((1,))
    layers = [take_profile(layer) for layer in value.get("layers")]
    if not layers:
        value.get("layers").fail("at least one layer")
    _require(value.get("layers"), checks.wrong_with_layers(layers))
    return layers
