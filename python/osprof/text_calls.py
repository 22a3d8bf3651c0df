"""Header lines about calls, and about causes and callers of slow ones. Fields are read as those of the dataclasses, a key and a
word each, in any order."""

import dataclasses
import re
import typing

from . import checks
from .distribution import Distribution
from .model import Call, Cause, Link, SlowCaller
from .text_lines import unescaped

_CALLS_IN_FLIGHT_MAX = 65536
_CAUSES_MAX = 4096
_SLOW_CALLS_MAX = 1024
_STACKS_MAX = 2048
_STACK_BYTES_MAX = 767
_SLOW_CALLERS_MAX = 4096
_LINKS_MAX = 4
_CHAINS_MAX = 2048
_ID = re.compile(rb"[A-Za-z0-9_.-]{1,63}")
_CLASSES = """other unknown rest running function disk_read disk storage flock fcntl lease frozen fuse server pipe_room
    pipe_data lock memory cpu network socket thread requests stopped work""".split()
_RELATIONS = "unknown held taken asked_before held_by_description held_by_unseen".split()
_WORDS = {"cause_class": _CLASSES, "waits_for": _CLASSES, "relation": _RELATIONS}  # the first is as if it were not there
_FLAGS = ("other_thread", "since_before")


def _fields(kind):
    """By key: the field, and the type of its values."""
    fields, types = {}, typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        of_value = (typing.get_args(types[field.name]) or (types[field.name],))[0]
        if of_value in (int, bool, str) and "op" not in field.metadata.values():
            key = field.metadata.get("member", field.name)
            fields[key[: -len("_cycles")] if key.endswith("_cycles") else key] = field, of_value
    return fields


_FIELDS = {kind: _fields(kind) for kind in (Call, Cause, SlowCaller, Link)}


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
            "cause": self._parse_cause,
            "cause_buckets": self._parse_cause_buckets,
            "stack": self._parse_stack,
            "call": self._parse_call,
            "slow_caller": self._parse_slow_caller,
        }

    def _append(self, calls, call, most, what):
        if len(calls) == most:
            self._lines.fail(f"expected at most {most} {what}")
        calls.append(call)

    def _text(self, key, word, most):
        text = unescaped(word)
        if not text:
            self._lines.fail_expected(key, word)
        if most and len(text.encode("utf-8", "surrogateescape")) > most:
            self._lines.fail(f"expected a {key} of 1 to {most} characters")
        return text

    def _value(self, key, field, of_value, word):
        """The value of a field; None: it is as if it were not there."""
        if key in ("stack", "user_stack"):
            number = self._lines.count(word, "the number of a stack")
            if not 0 < number <= len(self._stacks):
                self._lines.fail(f"expected one of the {len(self._stacks)} stacks so far, found number {number}")
            return self._stacks[number - 1]
        if of_value is int:
            number = self._lines.count(word, "a number")
            return None if number == 0 and field.default is None and not field.metadata else number
        if of_value is str and key not in _WORDS:
            if key == "cause_id" and not _ID.fullmatch(word):
                self._lines.fail_expected("the identifier of a cause", word)
            return self._text(key, word, field.metadata.get("most"))
        words = _WORDS.get(key, ("yes",))
        if word.decode("ascii", "replace") not in words:
            self._lines.fail_expected(f"a value of {key}", word)
        return True if of_value is bool else None if word == words[0].encode() else word.decode()

    def _record(self, words, kind):
        """The members that the next words are."""
        members, seen = {}, set()
        while (key := words.peek().decode("ascii", "replace")) in _FIELDS[kind]:
            words.next()
            if key in seen:
                self._lines.fail(f"expected {key} once, found it a second time")
            seen.add(key)
            field, of_value = _FIELDS[kind][key]
            value = self._value(key, field, of_value, words.next())
            if value is not None:
                members[field.name] = value
        for key, (field, _) in _FIELDS[kind].items():
            if field.default is dataclasses.MISSING and key not in seen:
                self._lines.fail_expected(key, words.rest())
        return members

    def _word_cause(self, members, name):
        """Adds to the words of a cause what its flags say."""
        if name in members:
            before = "another thread: " if "other_thread" in members else ""
            behind = " (since before osprof attached)" if "since_before" in members else ""
            members[name] = before + members[name] + behind
            members.setdefault("cause_class", _CLASSES[0])
        elif any(member in members for member in ("cause_id", "cause_class", *_FLAGS)):
            self._lines.fail("expected the cause in words, too")

    def _chain(self, words):
        """The members about holders that calls have."""
        links = []
        while words.peek() == b"link":
            words.next()
            self._append(links, Link(**self._record(words, Link)), _LINKS_MAX, "links")
        circle = bool(links) and words.peek() == b"circle"
        if circle:
            words.next()
        self._chains += bool(links)
        if self._chains > _CHAINS_MAX:
            self._lines.fail(f"expected at most {_CHAINS_MAX} calls with links")
        return {"links": links, "circle": circle}

    def _parse_call(self, words, _):
        profile, name = self._profile, words.name()
        members = self._record(words, Call)
        self._word_cause(members, "cause")
        call = Call(profile.scale, name, **members, **self._chain(words))
        words.end()
        complaint = checks.wrong_with_call(call)
        if complaint:
            self._lines.fail(f"expected {complaint}")
        if call.age_cycles is not None:
            self._append(profile.in_flight, call, _CALLS_IN_FLIGHT_MAX, "calls in flight")
        else:
            self._append(profile.slow_calls, call, _SLOW_CALLS_MAX, "slow calls")

    def _parse_cause(self, words, _):
        name = words.name()
        members = self._record(words, Cause)
        self._word_cause(members, "text")
        words.end()
        cause = Cause(self._profile.scale, name, **members)
        known_by = (cause.cause_class, cause.cause_id) if cause.cause_id else cause.text
        key = name, known_by, cause.other_thread, cause.since_before
        if key in self._causes:
            self._lines.fail(f"expected every cause of OP_{name} once, found one a second time")
        self._causes.add(key)
        self._append(self._profile.causes, cause, _CAUSES_MAX, "causes")

    def _parse_cause_buckets(self, words, _):
        number, causes = words.count("the number of a cause"), self._profile.causes
        if not 0 < number <= len(causes) or causes[number - 1].latencies:
            self._lines.fail(f"expected one of the {len(causes)} causes so far, once, found number {number}")
        cause, counts = causes[number - 1], {}
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

    def _parse_stack(self, _, value):
        self._append(self._stacks, self._text("stack", value, _STACK_BYTES_MAX), _STACKS_MAX, "stacks")

    def _parse_slow_caller(self, words, _):
        caller = SlowCaller(words.name(), **self._record(words, SlowCaller))
        words.end()
        if bool(caller.program) != bool(caller.function):
            self._lines.fail("expected a program and its function, or neither")
        key = caller.operation, caller.program, caller.function
        if key in self._callers:
            self._lines.fail(f"expected every caller of OP_{caller.operation} once, found one a second time")
        self._callers.add(key)
        self._append(self._profile.slow_callers, caller, _SLOW_CALLERS_MAX, "callers of slow calls")
