"""Header lines about single calls: those in flight, slow ones, and what they wait for."""

from .distribution import Distribution
from .model import CallInFlight, Cause, SlowCall, SlowCaller
from .text_lines import unescaped

_CALLS_IN_FLIGHT_MAX = 65536
_CAUSES_MAX = 4096
_SLOW_CALLS_MAX = 1024
_STACKS_MAX = 2048
_CAUSE_BYTES_MAX = 95
_STACK_BYTES_MAX = 767
_SLOW_CALLERS_MAX = 4096
_FUNCTION_BYTES_MAX = 95
_HOLDER_BYTES_MAX = 319


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
        self.parsers = {
            "in_flight": self._parse_in_flight,
            "cause": self._parse_cause,
            "cause_buckets": self._parse_cause_buckets,
            "stack": self._parse_stack,
            "slow_call": self._parse_slow_call,
            "user_stack": self._parse_user_stack,
            "slow_caller": self._parse_slow_caller,
            "waiting": self._parse_waiting,
            "holder": self._parse_holder,
        }

    def _limit(self, calls, most, what):
        if len(calls) == most:
            self._lines.fail(f"expected at most {most} {what}")

    def _text(self, text, what, most):
        text = unescaped(text)
        if not 0 < _byte_count(text) <= most:
            self._lines.fail(f"expected a {what} of 1 to {most} characters")
        return text

    def _cause_text(self, text):
        return self._text(text, "cause", _CAUSE_BYTES_MAX)

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
            words.path(),
        )
        self._profile.in_flight.append(call)

    def _parse_cause(self, words, _):
        self._limit(self._profile.causes, _CAUSES_MAX, "causes")
        name = words.name()
        numbers = [words.keyed_count(keyword) for keyword in ("calls", "total", "longest")]
        text = self._cause_text(words.rest())
        if (name, text) in self._causes:
            self._lines.fail(f"expected every cause of OP_{name} once, found one a second time")
        self._causes.add((name, text))
        self._profile.causes.append(Cause(self._profile.scale, name, text, *numbers))

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
            return None
        if number > len(causes) or causes[number - 1].operation != operation:
            self._lines.fail(f"expected the number of a cause of OP_{operation}, found {number}")
        return causes[number - 1].text

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
            cause=self._cause_of(name, number["cause"]),
            stack=self._stack(number["stack"]),
            program=words.program(),
            path=words.path(),
        )
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
        call.cause = self._cause_text(words.rest())

    def _parse_holder(self, words, _):
        calls = {b"slow_call": self._profile.slow_calls, b"in_flight": self._profile.in_flight}
        kind = words.next()
        number = words.count("the number of a call")
        if kind not in calls:
            self._lines.fail_expected("slow_call or in_flight", kind)
        call = self._one_of(number, calls[kind], "calls", lambda call: call.holder)
        call.holder = self._text(words.rest(), "holder", _HOLDER_BYTES_MAX)
