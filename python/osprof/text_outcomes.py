"""Header lines about the calls of an operation: busy_ops, failed, bytes, longest, left.

The operations follow behind them.
"""

from . import checks
from .text_lines import Words

OPERATIONS_MAX = 4096


class _Outcome:
    """The lines of one operation."""

    def __init__(self):
        self.line = 0  # number of the latest one
        self.kinds = set()
        self.members = {}  # of Operation


class OutcomeLines:
    """Reads these lines, and gives the operations of a profile their values in the end."""

    def __init__(self, lines, profile):
        self._lines = lines
        self._profile = profile
        self._outcomes = {}
        self._has_looks = False
        self.parsers = {
            "failed": self._parse_failed,
            "bytes": self._parse_bytes,
            "longest": self._parse_longest,
            "left": self._parse_left,
        }

    def _members(self, kind, words, word=None):
        name = words.name() if word is None else self._lines.name(word)
        if name not in self._outcomes and len(self._outcomes) == OPERATIONS_MAX:
            self._lines.fail(f"expected at most {OPERATIONS_MAX} operations")
        outcome = self._outcomes.setdefault(name, _Outcome())
        outcome.line = self._lines.number
        if kind in outcome.kinds:
            self._lines.fail(f'expected one "{kind}" line of OP_{name}, found a second one')
        outcome.kinds.add(kind)
        return outcome.members

    def _parse_failed(self, words, _):
        members = self._members("failed", words)
        failed = {}
        word = words.next()
        while word or not failed:
            error = word.decode("ascii", "replace")
            if error not in checks.ERRORS:
                self._lines.fail_expected("the name of an error, such as ENOENT, or other", word)
            if error in failed:
                self._lines.fail(f"expected every error once, found {error} a second time")
            failed[error] = words.count("a number of calls")
            word = words.next()
        members["failed"] = {error: calls for error, calls in failed.items() if calls}

    def _parse_bytes(self, words, _):
        members = self._members("bytes", words)
        members["asked_bytes"] = words.keyed_count("asked")
        members["moved_bytes"] = words.keyed_count("moved")
        words.end()

    def _parse_longest(self, words, _):
        members = self._members("longest", words)
        longest = words.count("the latency of a call in cycles")
        words.keyed_count("object")
        path = words.path()
        if longest:
            members["longest_cycles"] = longest
            members["longest_path"] = path

    def _parse_left(self, words, _):
        members = self._members("left", words)
        members["left"] = words.count("a number of calls")
        words.end()

    def parse_busy_ops(self, value):
        """Of all operations in one line."""
        self._has_looks = True
        words = Words(self._lines, value)
        word = words.next()
        while value != b"none":
            members = self._members("busy_ops", words, word)
            members["busy_looks"] = words.count("a number of looks")
            word = words.next()
            if not word:
                break

    def settle(self):
        """Gives the operations, which are there now, the values of their lines."""
        for operation in self._profile.operations.values():
            operation.busy_looks = 0 if self._has_looks else None
        for name, outcome in self._outcomes.items():
            operation = self._profile.operations.get(name)
            if operation is None:
                self._lines.fail(f"expected OP_{name} behind what is told of its calls", outcome.line)
            for member, value in outcome.members.items():
                setattr(operation, member, value)
            for check in checks.OF_OUTCOMES:
                self._refuse(check(operation), outcome.line)
            self._refuse(checks.wrong_with_looks(self._profile, operation), outcome.line)

    def _refuse(self, complaint, line):
        if complaint:
            self._lines.fail("expected " + complaint, line)
