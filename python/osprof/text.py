"""Reading profiles and recordings as text, osprof(5).

Strict: what the grammar does not allow is an error, because a profile misread is worse than one refused.
"""

import re

from . import checks
from .distribution import Scale
from .model import GROUPINGS, Cells, Group, Joint, Operation, Profile
from .text_header import FACTS_OF_GROUPS, Header, parse_number
from .text_lines import Lines, Words, unescaped
from .text_outcomes import OPERATIONS_MAX

_VERSION = 1
_GROUPS_MAX = 32768
_GROUP_OPERATIONS_MAX = 262144
_OPERATIONS_MAX_WITH_GROUPS = 64
_GROUP_NAME_BYTES_MAX = 255

_COUNTS = re.compile(rb"[ \t]*[0-9]+(?:[ \t]+[0-9]+)*[ \t]*")
_VERSION_LINE = re.compile(rb"# osprof [^:]*")


def _make_cache_known(group):
    """Bytes that are not told are 0."""
    for member in ("cache_read_bytes", "cache_missed_bytes", "cache_unjudged_bytes"):
        setattr(group, member, getattr(group, member) or 0)


class _ProfileReader:
    """Reads one profile: from its line "# osprof 1" to the next, or to the end."""

    def __init__(self, lines, is_begun):
        self._lines = lines
        self._first_line = lines.number if is_begun else 1
        self._profile = Profile(Scale())
        self._header = Header(lines, self._profile)
        self._grouped = checks.GroupedCalls(self._profile)
        self._group_kinds = set()
        self._group_operation_count = 0
        self._rows_most = 0
        self.has_next = False

    def read(self):
        lines = self._lines
        while not self.has_next and lines.next():
            self._parse_line(lines.line)
        if lines.number == 0:
            lines.fail(f'expected "# osprof {_VERSION}" or OP_<NAME>, found nothing')
        self._header.complete(self._rows_most)
        checks.sort(self._profile)
        return self._profile

    def _parse_line(self, line):
        profile, lines = self._profile, self._lines
        is_operation = line.startswith(b"OP_")
        if _VERSION_LINE.fullmatch(line):
            self._parse_version(line)
            self.has_next = lines.number > self._first_line
        elif line.startswith(b"#") and not profile.operations:
            self._header.parse_line()
        elif line.startswith(b"#"):
            self._parse_group(line)
        elif profile.groups:
            if not is_operation:
                lines.fail_expected("OP_<NAME> or another group", line)
            self._parse_group_operation()
        elif line.startswith(b"JOINT_"):
            self._parse_joint(line)
        elif is_operation and not profile.joints:
            self._parse_operation(profile.operations, profile.interval_cycles)
        else:
            lines.fail_expected("OP_<NAME> or the end of the file", line)

    def _parse_version(self, line):
        version = Words(self._lines, line[len("# osprof ") :]).only_count("a version")
        if version > _VERSION:
            self._lines.fail(f"expected osprof version {_VERSION} or older, found {version}")

    # ---- Rows of counts

    def _counts(self, text):
        """The counts of a row by bucket, without those that are 0."""
        lines = self._lines
        most = self._profile.scale.bucket_count
        if not _COUNTS.fullmatch(text):
            words = Words(lines, text)
            for _ in range(most + 1):
                words.count("bucket counts separated by blanks, or -")
        words = text.split(None, most)
        if len(words) > most:
            lines.fail(f"expected at most {most} buckets")
        is_small = len(max(words, key=len)) < 20  # below 2^64 without a look
        counts = map(int, words) if is_small else [lines.count(word, "bucket counts") for word in words]
        return {bucket: count for bucket, count in enumerate(counts) if count}

    def _row_follows(self):
        """True if the next line is a row; it stays the next one."""
        if not self._lines.next():
            return False
        self._lines.unread()
        return not self._lines.line.startswith((b"#", b"OP_", b"JOINT_"))

    def _next_row(self, operation):
        lines = self._lines
        if not lines.next():
            lines.fail(f"expected a row of bucket counts after OP_{operation.name}, found the end of the file")
        if lines.line.strip(b" \t") == b"-":
            return {}
        counts = self._counts(lines.line)
        for bucket, count in counts.items():
            operation.counts[bucket] = operation.counts.get(bucket, 0) + count
        complaint = counts and checks.wrong_with_buckets(operation)
        if complaint:
            lines.fail("expected " + complaint)
        return counts

    def _parse_intervals(self, operation):
        operation.samples = Cells()
        number = 0
        while number == 0 or self._row_follows():
            row = self._next_row(operation)
            if number == self._header.rows_max:
                self._lines.fail(f"expected at most {self._header.rows_max} intervals")
            for bucket, count in row.items():
                operation.samples.add(number, bucket, count)
            number += 1
        self._rows_most = max(self._rows_most, number)

    # ---- Operations

    def _parse_operation(self, operations, interval_cycles):
        lines = self._lines
        words = Words(lines, lines.line[len("OP_") :])
        name = lines.name(words.next())
        if name in operations:
            lines.fail(f"expected every operation once, found OP_{name} a second time")
        if len(operations) == OPERATIONS_MAX:
            lines.fail(f"expected at most {OPERATIONS_MAX} operations")
        calls, total = words.count("the number of calls"), words.count("the total latency in cycles")
        words.end()
        operation = operations[name] = Operation(self._profile.scale, {}, name, calls, total)
        if interval_cycles:
            self._parse_intervals(operation)
        else:
            self._next_row(operation)
        operation.counts = dict(sorted(operation.counts.items()))
        return operation

    # ---- Joint profiles

    def _parse_joint(self, line):
        words = Words(self._lines, line[len("JOINT_") :])
        text = words.next()
        words.end()
        joint = self._joint_of(text)
        if joint.operation not in self._profile.operations:
            self._lines.fail(f"expected OP_{joint.operation} before its joint profiles")
        if any((other.operation, other.value) == (joint.operation, joint.value) for other in self._profile.joints):
            self._lines.fail("expected every joint profile once, found one a second time")
        self._parse_joint_rows(joint, self._profile.operations[joint.operation].calls)
        self._profile.joints.append(joint)

    def _joint_of(self, text):
        for value in checks.VALUES:
            if text.endswith(b"_" + value.encode()) and len(text) > len(value) + 1:
                return Joint(self._lines.name(text[: -len(value) - 1]), value, Cells())
        return self._lines.fail_expected("JOINT_<NAME>_<VALUE>", b"JOINT_" + text)

    def _parse_joint_rows(self, joint, calls):
        lines = self._lines
        total, before = 0, -1
        while self._row_follows():
            lines.next()
            number, colon, counts = lines.line.partition(b":")
            if not colon:
                lines.fail_expected('"value: counts"', lines.line)
            number = Words(lines, number).only_count("a value")
            if number <= before or not checks.is_row_of(joint.value, number):
                lines.fail("expected values in ascending order, the first of each row")
            for bucket, count in self._counts(counts).items():
                joint.cells.add(number, bucket, count)
                total += count
            if total > calls:
                lines.fail(f"expected buckets that sum up to at most {calls} calls of OP_{joint.operation}")
            before = number

    # ---- Groups

    def _parse_group(self, line):
        key, colon, value = line[2:].partition(b":")
        value = value[1:] if value.startswith(b" ") else value
        grouping = key.decode("ascii", "replace") if line.startswith(b"# ") and colon else ""
        groups = self._profile.groups
        if grouping in FACTS_OF_GROUPS and groups and not groups[-1].operations:
            parse_number(self._lines, groups[-1], grouping, value)
            _make_cache_known(groups[-1])
            return
        if grouping not in GROUPINGS:
            self._lines.fail_expected("OP_<NAME> or the end of the file", line)
        group = self._who(grouping, value)
        self._check_group(group)
        groups.append(group)
        if checks.has_objects(grouping) and self._profile.cache_read_bytes is not None:
            _make_cache_known(group)

    def _who(self, grouping, value):
        """ "4711 grep", "1000", "kernel", "other"; where groups have no numbers "grep"; of a file "1200 /src/a.c" """
        if value in (b"kernel", b"other"):
            return Group(grouping, value.decode())
        words = Words(self._lines, value)
        group = Group(grouping, "id")
        if checks.has_objects(grouping):
            group.missed_cycles_max = words.count("cycles, kernel or other")
        elif checks.has_ids(grouping):
            group.id = words.count("a number, kernel or other")
        name = unescaped(words.remaining())
        if len(name.encode("utf-8", "surrogateescape")) > _GROUP_NAME_BYTES_MAX:
            self._lines.fail(f"expected a name of at most {_GROUP_NAME_BYTES_MAX} bytes")
        group.name = name or None
        return group

    def _check_group(self, group):
        profile, lines = self._profile, self._lines
        if len(profile.groups) == _GROUPS_MAX:
            lines.fail(f"expected at most {_GROUPS_MAX} groups")
        if len(profile.operations) > _OPERATIONS_MAX_WITH_GROUPS:
            lines.fail(f"expected at most {_OPERATIONS_MAX_WITH_GROUPS} operations where there are groups")
        if group.who != "id" and (group.grouping, group.who) in self._group_kinds:
            lines.fail(f'expected "{group.who}" once, found it a second time')
        self._group_kinds.add((group.grouping, group.who))

    def _parse_group_operation(self):
        group = self._profile.groups[-1]
        if self._group_operation_count == _GROUP_OPERATIONS_MAX:
            self._lines.fail(f"expected at most {_GROUP_OPERATIONS_MAX} operations in all groups")
        self._group_operation_count += 1
        operation = self._parse_operation(group.operations, None)
        complaint = self._grouped.wrong_with(group.grouping, operation)
        if complaint:
            self._lines.fail("expected " + complaint)


def read_layers(stream, file):
    """All profiles of a text, at least one. Errors: FormatError"""
    lines = Lines(stream, file)
    layers, has_next = [], True
    while has_next:
        reader = _ProfileReader(lines, bool(layers))
        layers.append(reader.read())
        has_next = reader.has_next
        if len(layers) > checks.LAYERS_MAX:
            lines.fail(f"expected at most {checks.LAYERS_MAX} layers")
    if lines.is_cut_short:
        lines.fail("expected a whole profile, found a text that ends within a line: it was cut short")
    complaint = checks.wrong_with_layers(layers)
    if complaint:
        lines.fail("expected " + complaint, 0)
    return checks.sorted_layers(layers)
