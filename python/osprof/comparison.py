"""Comparisons of two profiles: what osprof compare --json writes. Members are named as in comparison.schema.json."""

from dataclasses import dataclass, field
from typing import Dict, List, Optional

from . import summary
from .distribution import Scale
from .json_values import take_object
from .summary import Summarized

VERSION = 3


@dataclass
class Phases:
    """Thresholds, as the options of osprof compare describe them."""

    similar_percent: float
    share_percent: float
    calls: float
    apart_calls_percent: float
    apart_latency_percent: float
    peak_percent: float
    score_only: bool


@dataclass
class ComparedProfile:
    """One of the two profiles."""

    name: str
    labels: Dict[str, str]
    incomplete: bool
    elapsed_cycles: Optional[float] = None
    elapsed_seconds: Optional[float] = None


@dataclass
class Side:
    """An operation in one of the two profiles."""

    calls: int
    finished: int
    total_cycles: int
    total_seconds: Optional[float] = None
    failed: int = 0


@dataclass
class Peak:
    """A peak of an operation's latencies."""

    first_bucket: int
    last_bucket: int
    lower_cycles: float
    upper_cycles: float
    mode_cycles: float
    centre_cycles: float
    calls: int
    latency_share: float
    lower_seconds: Optional[float] = None
    upper_seconds: Optional[float] = None
    mode_seconds: Optional[float] = None
    centre_seconds: Optional[float] = None


@dataclass
class PeakPair:
    """A peak of both profiles, or of one of them."""

    change: str  # "stayed", "moved", "appeared", "vanished"
    matters: bool
    moved_buckets: Optional[float] = None
    a: Optional[Peak] = None
    b: Optional[Peak] = None


@dataclass
class Slot:
    """A slot of time of two sampled profiles."""

    a_calls: float
    b_calls: float
    a_latency_cycles: float
    b_latency_cycles: float
    moved_buckets: float
    a_latency_seconds: Optional[float] = None
    b_latency_seconds: Optional[float] = None


@dataclass
class ComparedOperation:
    """An operation that either profile has."""

    op: str
    different: bool
    verdict: str
    reason: str
    score: float
    scores: Dict[str, float]
    a: Side
    b: Side
    peaks: List[PeakPair]
    mean_ratio: Optional[float] = None
    calls_ratio: Optional[float] = None
    slots: List[Slot] = field(default_factory=list)


@dataclass(repr=False)
class Comparison(Summarized):
    """Profile A and profile B. Both have been brought to one clock rate and one resolution."""

    version: int
    different: bool
    identical: bool
    method: str
    threshold: float
    phases: Phases
    a: ComparedProfile
    b: ComparedProfile
    resolution: int
    rescaled: bool
    allowance_buckets: float
    ops: List[ComparedOperation]
    frequency_hz: Optional[int] = None
    slot_cycles: Optional[float] = None
    slot_seconds: Optional[float] = None

    @property
    def operations(self) -> Dict[str, ComparedOperation]:
        """By name, in the order of ops: different ones first."""
        return {operation.op: operation for operation in self.ops}

    def _outline(self):
        return summary.comparison_outline(self)

    def _page(self):
        return summary.comparison_page(self, Scale(self.resolution, self.frequency_hz))


def take_comparison(value):
    """The comparison that a JSON object is. Errors: FormatError"""
    if value.get("a_runs") is not None:
        value.fail("a comparison of two profiles; load_verdict() reads one of two sets of runs")
    value.need("different")
    value.need("version").one_of((VERSION,))
    return take_object(value, Comparison)
