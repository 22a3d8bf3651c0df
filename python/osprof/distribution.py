"""Latencies in buckets: their bounds, and the percentiles that follow from them.

A latency of L cycles is in bucket floor(resolution * log2(L)); 0 cycles are in bucket 0.
"""

import bisect
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Dict, List, Optional

RESOLUTIONS = (1, 2, 4, 8)
COUNT_MAX = 2**64 - 1

_EIGHTHS = tuple(2.0 ** (eighth / 8) for eighth in range(8))
# 2^(63 + k/8), rounded up to whole numbers, for k = 1..7
_EIGHTH_BORDERS = tuple(math.isqrt(math.isqrt(math.isqrt(2 ** (63 * 8 + k)))) + 1 for k in range(1, 8))


@dataclass
class Scale:
    """The unit of latencies: cycles of a clock, and buckets per power of two."""

    resolution: int = 1
    frequency_hz: Optional[int] = None  # None: the clock's rate is not known, and neither are seconds

    @property
    def bucket_count(self) -> int:
        return 64 * self.resolution

    def _border(self, bucket) -> float:
        octave, eighth = divmod(bucket * 8 // self.resolution, 8)
        return math.ldexp(_EIGHTHS[eighth], octave)

    def lower_cycles(self, bucket) -> float:
        return self._border(bucket) if bucket > 0 else 0.0

    def upper_cycles(self, bucket) -> float:
        return self._border(bucket + 1)

    def bucket_of(self, cycles) -> int:
        octave = max(cycles, 1).bit_length() - 1
        eighth = bisect.bisect_right(_EIGHTH_BORDERS, max(cycles, 1) << (63 - octave))
        return (8 * octave + eighth) * self.resolution // 8

    def seconds(self, cycles) -> Optional[float]:
        """Cycles in seconds; None if the clock's rate, or the number of cycles, is not known."""
        if cycles is None or not self.frequency_hz:
            return None
        return float(cycles) / float(self.frequency_hz)


@dataclass
class Bucket:
    """Calls that took at least the lower bound, and less than the upper one."""

    number: int
    count: int
    lower_cycles: float
    upper_cycles: float
    lower_seconds: Optional[float]
    upper_seconds: Optional[float]


@dataclass
class Latency:
    """The latency of one call, as far as it is known.

    It certainly is in [lower_cycles, upper_cycles]; cycles is the best estimate.
    """

    bucket: int
    cycles: float
    lower_cycles: float
    upper_cycles: float
    scale: Scale = field(repr=False)

    @property
    def seconds(self) -> Optional[float]:
        return self.scale.seconds(self.cycles)

    @property
    def lower_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.lower_cycles)

    @property
    def upper_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.upper_cycles)


@dataclass
class Distribution:
    """How many calls took how long."""

    scale: Scale = field(repr=False)
    counts: Dict[int, int]  # calls by bucket, in ascending order, without empty ones

    @property
    def finished(self) -> int:
        """The number of calls in the buckets: those that have ended."""
        return sum(self.counts.values())

    @property
    def histogram(self) -> List[Bucket]:
        """The buckets that are not empty, the fastest first."""
        scale = self.scale
        return [
            Bucket(
                bucket,
                count,
                scale.lower_cycles(bucket),
                scale.upper_cycles(bucket),
                scale.seconds(scale.lower_cycles(bucket)),
                scale.seconds(scale.upper_cycles(bucket)),
            )
            for bucket, count in self.counts.items()
        ]

    def percentile(self, share) -> Optional[Latency]:
        """The smallest latency that a share (above 0, up to 1) of the calls do not exceed; None if no call has ended.

        .99 is the decimal number, not the double next to it.
        """
        exact = Fraction(repr(share)) if isinstance(share, float) and math.isfinite(share) else Fraction(share)
        if not 0 < exact <= 1:
            raise ValueError("the share must be above 0, and at most 1")
        return self.latency_of_rank(math.ceil(self.finished * exact))

    def latency_of_rank(self, rank) -> Optional[Latency]:
        """The latency of the call with that rank, from 1: the shortest. None: there is no such call."""
        for bucket, count in self.counts.items():
            if 0 < rank <= count:
                return _find_in_bucket(self, bucket, rank)
            rank -= count
        return None

    def known_total(self) -> Optional[int]:
        """The exact sum of the latencies in cycles; None: only the buckets are known."""
        return None

    def known_longest(self) -> Optional[int]:
        """The longest latency in cycles, which is in the last bucket; None: only the bucket is known."""
        return None


# Sums of latencies are exact: whole multiples of 2^-52 cycles, as all bounds are.
_UNIT = 1 << 52


def _exact(cycles):
    numerator, denominator = cycles.as_integer_ratio()
    return numerator * (_UNIT // denominator)


class _Contents:
    """What is known of the calls of a bucket: bounds of each, and of their sum."""

    def __init__(self, distribution, bucket, is_last):
        scale = distribution.scale
        longest = distribution.known_longest() if is_last else None
        self.calls = distribution.counts[bucket]
        self.lower = _exact(scale.lower_cycles(bucket))
        self.upper = _exact(scale.upper_cycles(bucket))
        self.has_longest = longest is not None
        if self.has_longest:
            self.upper = max(self.lower, _exact(longest))
        self.sum_lower = self.calls * self.lower + (self.upper - self.lower if self.has_longest else 0)
        self.sum_upper = self.calls * self.upper

    def hold_against_total(self, distribution):
        """Narrows the sum to what the total leaves for it. A total that contradicts the buckets tells nothing."""
        total = distribution.known_total()
        if total is None:
            return
        last = next(reversed(distribution.counts))
        buckets = [_Contents(distribution, bucket, bucket == last) for bucket in distribution.counts]
        least = sum(bucket.sum_lower for bucket in buckets)
        most = sum(bucket.sum_upper for bucket in buckets)
        if least <= _exact(total) <= most:
            others_least, others_most = least - self.sum_lower, most - self.sum_upper
            self.sum_lower = max(self.sum_lower, _exact(total) - others_most)
            self.sum_upper = min(self.sum_upper, _exact(total) - others_least)

    def range_of_rank(self, rank):
        """Bounds of the latency of a call in cycles. rank: from 1, of the calls of the bucket

        The calls before it take at least the lower bound, and those behind it at most the upper one; the longest, if it
        is known, is not among them.
        """
        longest = self.upper if self.has_longest else 0
        calls = self.calls - self.has_longest
        if rank > calls:
            return longest / _UNIT, longest / _UNIT
        most = (self.sum_upper - longest - (rank - 1) * self.lower) / ((calls - rank + 1) * _UNIT)
        least = (self.sum_lower - longest - (calls - rank) * self.upper) / (rank * _UNIT)
        lower = max(self.lower / _UNIT, least)
        return lower, max(min(self.upper / _UNIT, most), lower)

    def interpolate(self, rank):
        """The latency, if the calls are spread evenly over the logarithm of latency."""
        share = (float(rank) - 0.5) / float(self.calls)
        lower = self.lower / _UNIT
        upper = self.range_of_rank(self.calls)[1]
        return lower * math.pow(upper / lower, share) if lower > 0 else upper * share


def _find_in_bucket(distribution, bucket, rank):
    contents = _Contents(distribution, bucket, bucket == next(reversed(distribution.counts)))
    contents.hold_against_total(distribution)
    lower, upper = contents.range_of_rank(rank)
    cycles = min(max(contents.interpolate(rank), lower), upper)
    return Latency(bucket, cycles, lower, upper, distribution.scale)
