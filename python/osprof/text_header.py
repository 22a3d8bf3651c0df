"""The header of a profile as text: facts, and labels."""

from .distribution import COUNT_MAX, RESOLUTIONS
from .model import GROUPINGS, UNSEEN_KINDS, Busy, UnseenProgram
from .text_calls import CallLines
from .text_lines import Words, decoded, is_plain, unescaped
from .text_outcomes import OutcomeLines
from .text_times import unix_ns

LABELS_MAX = 65536
INTERVALS_MAX = 1048576

# Facts that are one number: the member of Profile, what the number counts, and how much of it is one of the member.
_NUMBERS = {
    "elapsed": ("elapsed_cycles", "cycles", 1),
    "stolen": ("stolen_seconds", "nanoseconds", 1e9),
    "stopped": ("stopped_seconds", "nanoseconds", 1e9),
    "storage_read": ("storage_read_bytes", "bytes", 1),
    "cache_read": ("cache_read_bytes", "bytes", 1),
    "cache_missed": ("cache_missed_bytes", "bytes", 1),
    "cache_unjudged": ("cache_unjudged_bytes", "bytes", 1),
    "user_time": ("user_time_seconds", "nanoseconds", 1e9),
    "system_time": ("system_time_seconds", "nanoseconds", 1e9),
    "queue_time": ("queue_time_seconds", "nanoseconds", 1e9),
    "program_time": ("program_time_seconds", "nanoseconds", 1e9),
    "locking_time": ("locking_time_seconds", "nanoseconds", 1e9),
    "threads_max": ("threads_max", "", 1),
    "cost_calls": ("cost_calls", "calls", 1),
    "disk_other_bytes": ("disk_other_bytes", "bytes", 1),
    "waiting_requests": ("waiting_requests", "", 1),
    "runs": ("runs", "", 1),
    "merged": ("merged", "", 1),
    "chosen_groups": ("chosen_groups", "", 1),
    "missed": ("missed_cycles", "cycles", 1),
    "clamped": ("clamped", "calls", 1),
    "ungrouped": ("ungrouped", "calls", 1),
    "slow": ("slow_cycles", "cycles", 1),
}
# Facts that are several numbers, each with a word before it: the same, the words, and whether those are known that are
# missing in the line.
_DIRECTIONS = ("read", "written")
_UNTOLD = ("of_machine", "of_processes", "of_cgroup", "failed", "untimed", "begun", "processes", "causes")
_WORDS = {
    "page_faults": ("page_faults", "", 1, ("minor", "major"), True),
    "bytes_seen": ("seen_bytes", "bytes", 1, _DIRECTIONS, True),
    "bytes_kernel": ("kernel_bytes", "bytes", 1, _DIRECTIONS, True),
    "bytes_elsewhere": ("elsewhere_bytes", "bytes", 1, _DIRECTIONS, True),
    "not_seen": ("not_seen", "", 1, UNSEEN_KINDS, False),
    "not_told": ("not_told", "", 1, _UNTOLD, False),
    "cost_time": ("cost_seconds", "nanoseconds", 1e9, ("each", "counted"), True),
    "exit": ("exit", "", 1, ("status", "signal"), True),
    "disk_bytes": ("disk_bytes", "bytes", 1, (*_DIRECTIONS, "own"), True),
    "disk_time": ("disk_seconds", "nanoseconds", 1e9, ("busy", "watched"), False),
}
UNSEEN_PROGRAMS_MAX = 64
UNSEEN_NAME_BYTES_MAX = 32
# If one of these is known the others are, too.
_TOGETHER = (
    ("cache_read_bytes", "cache_missed_bytes", "cache_unjudged_bytes"),
    ("user_time_seconds", "system_time_seconds"),
    ("program_time_seconds", "locking_time_seconds"),
    ("seen_bytes", "kernel_bytes"),
    ("cost_seconds", "cost_calls"),
)
_ABSENT_IF_ZERO = (
    "stopped_seconds",
    "slow_cycles",
    "threads_max",
    "disk_other_bytes",
    "merged",
    "chosen_groups",
    "missed_cycles",
    "disk_seconds",
)
_ZEROS = {member: dict.fromkeys(words, 0) for member, _, _, words, is_whole in _WORDS.values() if is_whole}
FACTS_OF_GROUPS = ("cache_read", "cache_missed", "cache_unjudged")


def parse_number(lines, owner, key, value):
    """A fact of a profile, or of a group, that is one number."""
    member, unit, divisor = _NUMBERS[key]
    number = Words(lines, value).only_count(f"a number of {unit}" if unit else "a number")
    setattr(owner, member, number if divisor == 1 else number / divisor)


def _parse_words(lines, owner, key, value):
    """A fact that is several numbers, such as "read 4096 written 0"."""
    member, unit, divisor, known, is_whole = _WORDS[key]
    words, numbers = Words(lines, value), {}
    while words.rest() or not numbers:
        found = words.next()
        word = decoded(found)
        if word not in known:
            lines.fail_expected("a word that has a number in this line", found)
        if word in numbers:
            lines.fail(f"expected every word once, found {word} a second time")
        number = words.count(f"a number of {unit}" if unit else "a number")
        numbers[word] = number if divisor == 1 else number / divisor
    if is_whole:
        numbers = {word: numbers.get(word, 0) for word in known}
    setattr(owner, member, {word: numbers[word] for word in known if is_whole or numbers.get(word)})


def is_label_key(key):
    """True if a label may have that key: it is none of the format itself, and can be read back."""
    return bool(key) and is_plain(key) and not key.startswith(b" ") and not key.endswith(b" ") and b":" not in key


class Header:
    """Reads the lines of a header into a profile. rows_max: the most intervals that the lines allow."""

    def __init__(self, lines, profile):
        self._lines = lines
        self._profile = profile
        self._seen = set()
        self._label_count = 0
        self._calls = CallLines(lines, profile)
        self.outcomes = OutcomeLines(lines, profile)
        self.rows_max = INTERVALS_MAX
        self._once = {
            "clock": self._parse_clock,
            "resolution": self._parse_resolution,
            "lists": self._parse_lists,
            "start": self._parse_start,
            "interval": self._parse_interval,
            "borders": self._parse_borders,
            "incomplete": self._parse_incomplete,
            "busy": self._parse_busy,
            "busy_ops": self.outcomes.parse_busy_ops,
        }
        self._repeated = {
            **self.outcomes.parsers,
            **self._calls.parsers,
            "unseen_program": self._parse_unseen_program,
        }

    def parse_line(self):
        """The current line, which begins with #."""
        line = self._lines.line
        if not line.startswith(b"# ") or b":" not in line:
            self._lines.fail_expected('"# key: value"', line)
        key, value = line[2:].split(b":", 1)
        self._parse_field(key, value[1:] if value.startswith(b" ") else value)

    def _parse_field(self, key, value):
        word = decoded(key)
        if word in self._repeated:
            self._repeated[word](Words(self._lines, value), value)
        elif word in self._once or word in _NUMBERS or word in _WORDS:
            self._refuse_second(word)
            if word in _NUMBERS:
                parse_number(self._lines, self._profile, word, value)
            elif word in _WORDS:
                _parse_words(self._lines, self._profile, word, value)
            else:
                self._once[word](value)
        else:
            self._parse_label(key, word, value)

    def _refuse_second(self, word):
        if word in self._seen:
            self._lines.fail(f'expected only one "{word}" line, found a second one')
        self._seen.add(word)

    def _parse_label(self, key, word, value):
        if word in GROUPINGS:
            self._lines.fail(f'expected "# {word}:" behind the operations only; it names a group')
        if not is_label_key(key):
            self._lines.fail_expected('"# key: value"', self._lines.line)
        if word == "layer":
            self._refuse_second(word)
        if self._label_count == LABELS_MAX:
            self._lines.fail(f"expected at most {LABELS_MAX} labels")
        self._label_count += 1
        self._profile.labels.setdefault(word, unescaped(value))

    def _parse_clock(self, value):
        words = Words(self._lines, value)
        word = words.next()
        if not word[:1].isdigit():
            if word not in (b"tsc", b"cntvct", b"monotonic"):
                self._lines.fail_expected("tsc, cntvct or monotonic", word)
            self._profile.clock = word.decode()
            word = words.next()
            if not word:
                return
        rate = self._lines.count(word, "the clock's rate")
        if rate == 0:
            self._lines.fail_expected("a clock rate above 0", word)
        self._profile.scale.frequency_hz = rate
        words.keyword("Hz")
        words.end()

    def _parse_resolution(self, value):
        resolution = Words(self._lines, value).only_count("a resolution")
        if resolution not in RESOLUTIONS:
            self._lines.fail_expected("resolution 1, 2, 4 or 8", value)
        if any(cause.latencies for cause in self._profile.causes):
            self._lines.fail("expected the resolution before buckets of causes")
        self._profile.scale.resolution = resolution

    def _parse_lists(self, value):
        words = Words(self._lines, value)
        while words.rest():
            key = unescaped(words.next())
            if key not in self._profile.labels:
                self._lines.fail_expected("the key of a label in a line before", key.encode("utf-8", "surrogateescape"))
            if key not in self._profile.lists:
                self._profile.lists.append(key)

    def _parse_start(self, value):
        self._profile.start_ns = unix_ns(decoded(value))
        if self._profile.start_ns is None:
            self._lines.fail_expected("a time like 2026-11-21T02:30:00.123456789Z", value)

    def _parse_interval(self, value):
        self._profile.interval_cycles = Words(self._lines, value).only_count("a number of cycles")
        if self._profile.interval_cycles == 0:
            self._lines.fail_expected("an interval above 0", value)

    def _parse_borders(self, value):
        words = Words(self._lines, value)
        borders = self._profile.borders_cycles
        word = words.next()
        while word:
            border = self._lines.count(word, "a number of cycles")
            if borders and border < borders[-1]:
                self._lines.fail_expected("borders in ascending order", word)
            if len(borders) == INTERVALS_MAX:
                self._lines.fail(f"expected at most {INTERVALS_MAX} intervals")
            borders.append(border)
            word = words.next()
        self.rows_max = len(borders)

    def _parse_incomplete(self, value):
        if value not in (b"yes", b"no"):
            self._lines.fail_expected("yes or no", value)
        self._profile.incomplete = value == b"yes"

    def _parse_busy(self, value):
        words = Words(self._lines, value)
        busy = words.count("a number of looks")
        looks = words.keyed_count("looks")
        most = words.keyed_count("most")
        words.end()
        if looks == 0 or busy > looks:
            self._lines.fail("expected no more busy looks than looks, and some")
        self._profile.busy = Busy(looks, busy, most)

    def _parse_unseen_program(self, words, _value):
        programs = self._profile.unseen_programs
        if len(programs) == UNSEEN_PROGRAMS_MAX:
            self._lines.fail(f"expected at most {UNSEEN_PROGRAMS_MAX} programs that were not seen")
        kind = words.next()
        if decoded(kind) not in UNSEEN_KINDS:
            self._lines.fail_expected("a kind of programs, such as static", kind)
        runs, least, most = (words.keyed_count(word) for word in ("runs", "least", "most"))
        words.keyword("name")
        name = unescaped(words.remaining())
        if len(name.encode("utf-8", "surrogateescape")) > UNSEEN_NAME_BYTES_MAX:
            self._lines.fail(f"expected a program's name of at most {UNSEEN_NAME_BYTES_MAX} bytes")
        programs.append(UnseenProgram(decoded(kind), name, runs, least / 1e9, most / 1e9 if most else None))

    def complete(self, rows_most):
        """What is to be done at the end of the profile. rows_most: the most intervals of an operation"""
        profile = self._profile
        for members in _TOGETHER:
            if any(getattr(profile, member) is not None for member in members):
                for member in members:
                    setattr(profile, member, getattr(profile, member) or dict(_ZEROS.get(member, ())) or 0)
        for member in _ABSENT_IF_ZERO:
            setattr(profile, member, getattr(profile, member) or None)
        self._complete_borders(rows_most)
        self.outcomes.settle()

    def _complete_borders(self, rows_most):
        """Without borders intervals are as long as was wanted."""
        profile = self._profile
        if "borders" in self._seen:
            if not profile.interval_cycles:
                self._lines.fail('expected a line "interval" where there is one of "borders"')
        elif rows_most * (profile.interval_cycles or 0) > COUNT_MAX:
            self._lines.fail("expected intervals that end before cycle 2^64")
        else:
            profile.borders_cycles = [(number + 1) * profile.interval_cycles for number in range(rows_most)]
