"""Header lines about single calls: those in flight, slow ones, and what they wait for."""

import re

from .distribution import Distribution
from .model import CallInFlight, Cause, Link, SlowCall, SlowCaller
from .text_lines import unescaped

_CALLS_IN_FLIGHT_MAX = 65536
_CAUSES_MAX = 4096
_SLOW_CALLS_MAX = 1024
_STACKS_MAX = 2048
_CAUSE_BYTES_MAX = 95
_STACK_BYTES_MAX = 767
_SLOW_CALLERS_MAX = 4096
_FUNCTION_BYTES_MAX = 95
_LINKS_MAX = 4
_CHAINS_MAX = 2048
_ID = re.compile(rb"[A-Za-z0-9_.-]{1,63}")
_CLASSES = """other unknown rest running function disk_read disk storage flock fcntl lease frozen fuse server pipe_room
    pipe_data lock memory cpu network socket thread requests stopped work""".split()
_RELATIONS = "unknown held taken asked_before held_by_description held_by_unseen".split()
_FLAGS = ("other_thread", "since_before")
# How values of a link's fields are read: those of numbers, with a class or another word of a list, and texts with their
# most bytes.
_NUMBERS = ("process", "thread", "requests", "holder_process", "holder_thread", "others")
_NAMES = {"cause_class": _CLASSES, "waits_for": _CLASSES, "relation": _RELATIONS, "all_threads": ("yes",)}
_TEXTS = {"program": 63, "holder_program": 63, "cause_id": 63, "cause": 95, "object": 511, "source": 511, "cgroup": 511}
_DEFAULTS = ("other", "unknown")  # are as if they were not there


def _byte_count(text):
    return len(text.encode("utf-8", "surrogateescape"))


class CallLines:
    """Reads these lines into a profile."""

    def __init__(self, lines, profile):
        self._lines = lines
        self._profile = profile
        self._stacks = []
        self._causes = set()
        self._callers = set()
        self._chains = 0
        self.parsers = {
            "in_flight": self._parse_in_flight,
            "cause": self._parse_cause,
            "cause_buckets": self._parse_cause_buckets,
            "stack": self._parse_stack,
            "slow_call": self._parse_slow_call,
            "user_stack": self._parse_user_stack,
            "slow_caller": self._parse_slow_caller,
            "waiting": self._parse_waiting,
        }

    def _limit(self, calls, most, what):
        if len(calls) == most:
            self._lines.fail(f"expected at most {most} {what}")

    def _text(self, text, what, most):
        text = unescaped(text)
        if not 0 < _byte_count(text) <= most:
            self._lines.fail(f"expected a {what} of 1 to {most} characters")
        return text

    def _one_word(self, word, words, what):
        if word.decode("ascii", "replace") not in words:
            self._lines.fail_expected(what, word)
        return word.decode()

    def _id(self, word):
        if not _ID.fullmatch(word):
            self._lines.fail_expected("the identifier of a cause", word)
        return word.decode()

    def _why(self, words):
        """What is waited for, up to the end of the line: its words, and the other members that causes have."""
        why, word = {}, words.next()
        if word == b"id":
            why["cause_id"] = self._id(words.next())
            word = words.next()
        self._one_word(word, ("class",), "class")
        why["cause_class"] = self._one_word(words.next(), _CLASSES, "a class of causes")
        word = words.next()
        for flag in _FLAGS:
            if word == flag.encode():
                why[flag] = True
                word = words.next()
        self._one_word(word, ("words",), "words")
        text = self._text(words.rest(), "cause", _CAUSE_BYTES_MAX)
        before = "another thread: " if "other_thread" in why else ""
        behind = " (since before osprof attached)" if "since_before" in why else ""
        return before + text + behind, why

    def _field(self, key, word):
        if key in _NUMBERS:
            return self._lines.count(word, f"a value of {key}")
        if key == "cause_id":
            return self._id(word)
        if key in _TEXTS:
            return self._text(word, f"value of {key}", _TEXTS[key])
        word = self._one_word(word, _NAMES[key], f"a value of {key}")
        return True if word == "yes" else word

    def _link(self, words):
        link = Link()
        while (key := words.peek().decode("ascii", "replace")) in _NUMBERS or key in _TEXTS or key in _NAMES:
            words.next()
            value = self._field(key, words.next())
            is_there = value not in _DEFAULTS if key in _NAMES else value or key == "requests"
            setattr(link, key, value if is_there else None)
        return link

    def _chain(self, words):
        """The members about holders that calls have."""
        links = []
        while words.peek() == b"link":
            self._limit(links, _LINKS_MAX, "links")
            words.next()
            links.append(self._link(words))
        circle = bool(links) and words.peek() == b"circle"
        if circle:
            words.next()
        self._chains += bool(links)
        if self._chains > _CHAINS_MAX:
            self._lines.fail(f"expected at most {_CHAINS_MAX} calls with links")
        return {"links": links, "circle": circle}

    def _stack(self, number):
        if number > len(self._stacks):
            self._lines.fail(f"expected one of the {len(self._stacks)} stacks so far, found number {number}")
        return self._stacks[number - 1] if number else None

    def _one_of(self, number, members, what, is_taken):
        if not 0 < number <= len(members) or is_taken(members[number - 1]):
            self._lines.fail(f"expected one of the {len(members)} {what} so far, once, found number {number}")
        return members[number - 1]

    def _parse_in_flight(self, words, _):
        self._limit(self._profile.in_flight, _CALLS_IN_FLIGHT_MAX, "calls in flight")
        call = CallInFlight(
            self._profile.scale,
            words.name(),
            words.keyed_count("object") or None,
            words.keyed_count("pid"),
            words.keyed_count("age"),
            words.program(),
            **self._chain(words),
        )
        call.path = words.path()
        self._profile.in_flight.append(call)

    def _parse_cause(self, words, _):
        self._limit(self._profile.causes, _CAUSES_MAX, "causes")
        name = words.name()
        numbers = [words.keyed_count(keyword) for keyword in ("calls", "total", "longest")]
        text, why = self._why(words)
        flags = [why.get(flag) for flag in _FLAGS]
        known_by = (why["cause_class"], why["cause_id"]) if "cause_id" in why else text
        key = (name, known_by, *flags)
        if key in self._causes:
            self._lines.fail(f"expected every cause of OP_{name} once, found one a second time")
        self._causes.add(key)
        self._profile.causes.append(Cause(self._profile.scale, name, text, *numbers, **why))

    def _parse_cause_buckets(self, words, _):
        number = words.count("the number of a cause")
        cause = self._one_of(number, self._profile.causes, "causes", lambda cause: cause.latencies)
        counts = {}
        word = words.next()
        while word:
            bucket, colon, calls = word.partition(b":")
            if not colon:
                self._lines.fail_expected("BUCKET:CALLS", word)
            bucket = self._lines.count(bucket, "the number of a bucket")
            if bucket >= self._profile.scale.bucket_count or bucket in counts:
                most = self._profile.scale.bucket_count
                self._lines.fail(f"expected each bucket once, below {most}, found {bucket}")
            counts[bucket] = self._lines.count(calls, "a number of calls")
            word = words.next()
        if sum(counts.values()) > cause.calls:
            self._lines.fail(f"expected buckets that sum up to at most {cause.calls} calls of that cause")
        counts = {bucket: calls for bucket, calls in sorted(counts.items()) if calls}
        cause.latencies = Distribution(self._profile.scale, counts)

    def _stack_text(self, text):
        return self._text(text, "stack", _STACK_BYTES_MAX)

    def _parse_stack(self, _, value):
        self._limit(self._stacks, _STACKS_MAX, "stacks")
        self._stacks.append(self._stack_text(value))

    def _cause_of(self, operation, number):
        causes = self._profile.causes
        if number == 0:
            return {}
        if number > len(causes) or causes[number - 1].operation != operation:
            self._lines.fail(f"expected the number of a cause of OP_{operation}, found {number}")
        cause = causes[number - 1]
        why = {member: getattr(cause, member) for member in ("cause_id", "cause_class", *_FLAGS)}
        return dict(why, cause=cause.text)

    def _parse_slow_call(self, words, _):
        self._limit(self._profile.slow_calls, _SLOW_CALLS_MAX, "slow calls")
        name = words.name()
        keywords = "latency end cause object pid uid error asked moved offset stack process".split()
        number = {keyword: words.keyed_count(keyword) for keyword in keywords}
        if number["end"] >= 2**63:
            self._lines.fail("expected nanoseconds since 1970 as the end of a slow call")
        call = SlowCall(
            scale=self._profile.scale,
            operation=name,
            latency_cycles=number["latency"],
            end_ns=number["end"],
            inode=number["object"] or None,
            pid=number["pid"],
            uid=number["uid"],
            error=number["error"],
            asked_bytes=number["asked"],
            moved_bytes=number["moved"],
            offset=number["offset"],
            process=number["process"] or None,
            **self._cause_of(name, number["cause"]),
            stack=self._stack(number["stack"]),
            program=words.program(),
            **self._chain(words),
        )
        call.path = words.path()
        self._profile.slow_calls.append(call)

    def _parse_user_stack(self, words, _):
        number = words.count("the number of a slow call")
        call = self._one_of(number, self._profile.slow_calls, "slow calls", lambda call: call.user_stack)
        call.user_stack = self._stack_text(words.rest())

    def _parse_slow_caller(self, words, _):
        self._limit(self._profile.slow_callers, _SLOW_CALLERS_MAX, "callers of slow calls")
        name = words.name()
        calls = words.keyed_count("calls")
        program, function = words.program(), unescaped(words.rest()) or None
        if bool(program) != bool(function) or _byte_count(function or "") > _FUNCTION_BYTES_MAX:
            most = _FUNCTION_BYTES_MAX
            self._lines.fail(f"expected a program and its function of 1 to {most} characters, or neither")
        if (name, program, function) in self._callers:
            self._lines.fail(f"expected every caller of OP_{name} once, found one a second time")
        self._callers.add((name, program, function))
        self._profile.slow_callers.append(SlowCaller(name, calls, program, function))

    def _parse_waiting(self, words, _):
        number = words.count("the number of a call in flight")
        call = self._one_of(number, self._profile.in_flight, "calls in flight", lambda call: call.cause)
        call.stack = self._stack(words.keyed_count("stack"))
        call.cause, why = self._why(words)
        for member, value in why.items():
            setattr(call, member, value)
