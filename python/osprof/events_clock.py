"""From cycles to the wall clock: by moments at which both were read."""

import bisect
from dataclasses import dataclass

_APART_S = 3600
_COUNT_MAX = 2**64 - 1
_NS_MAX = 9_200_000_000_000_000_000


@dataclass
class Moment:
    """A moment on all clocks."""

    cycles: int
    realtime_ns: int  # since 1970
    monotonic_ns: int
    gap_cycles: int  # how long reading them took
    error_ns: int  # by how much the wall clock may be off, as the kernel says; means nothing if is_unset
    is_unset: bool  # nobody sets the wall clock


class WallClock:
    """The line through the moments of a file."""

    def __init__(self, moments, frequency_hz):
        self._moments = sorted(moments, key=lambda moment: moment.cycles)
        self._cycles = [moment.cycles for moment in self._moments]
        self._frequency_hz = frequency_hz

    def _pair(self, cycles):
        """The moments around that time, or the nearest two."""
        if len(self._moments) < 2:
            return None
        at = min(max(bisect.bisect_right(self._cycles, cycles), 1), len(self._moments) - 1)
        before, after = self._moments[at - 1], self._moments[at]
        return (before, after) if after.cycles > before.cycles and after.realtime_ns > before.realtime_ns else None

    def unix_ns(self, cycles):
        """Nanoseconds since 1970; None: no moment tells."""
        pair = self._pair(cycles)
        if pair:
            before, after = pair
            passed = (after.realtime_ns - before.realtime_ns) * (cycles - before.cycles)
            number = before.realtime_ns * (after.cycles - before.cycles) + passed
            ns = _divided(number, after.cycles - before.cycles)
        elif self._moments and self._frequency_hz:
            only = self._moments[0]
            number = only.realtime_ns * self._frequency_hz + (cycles - only.cycles) * 10**9
            ns = _divided(number, self._frequency_hz)
        else:
            return None
        return ns if abs(ns) <= _NS_MAX else None

    def span(self, marks):
        """No call begins before the first cycle that this returns, or ends after the second. marks: when they were"""
        known = self._cycles + [cycles for cycles in marks if cycles]
        apart = (self._frequency_hz or 0) * _APART_S
        if not known or not apart:
            return 0, _COUNT_MAX
        return max(min(known) - apart, 0), min(max(known) + apart, _COUNT_MAX)


def _divided(number, by):
    """Rounded towards zero, as C does."""
    return number // by if number >= 0 else -(-number // by)
