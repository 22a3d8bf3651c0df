"""Comparisons of two sets of runs: what osprof compare --json writes of them. Members are named as in
verdict.schema.json."""

from dataclasses import dataclass
from typing import Dict, List, Optional

from . import summary
from .distribution import Scale
from .json_values import take_object
from .summary import Summarized

VERSION = 3


@dataclass
class Tested:
    """How sure it is that a change is no chance."""

    p: float
    freedom: float
    beyond_chance: bool


@dataclass
class Time(Tested):
    """A time of a whole run; geometric means of the runs of each side. ratio: B over A, None if a side is 0."""

    verdict: str
    a_cycles: float
    b_cycles: float
    ratio: Optional[float] = None
    low: Optional[float] = None
    high: Optional[float] = None
    more_runs: Optional[int] = None
    a_seconds: Optional[float] = None
    b_seconds: Optional[float] = None


@dataclass
class Common(Tested):
    """What all operations of a run have in common."""

    ratio: float
    low: float
    high: float
    verdict: str
    spread: float
    more_runs: Optional[int] = None
    trend: Optional[float] = None


@dataclass
class Figure(Tested):
    """A figure of an operation; geometric means of the runs of each side. ratio: B over A, None if a side is 0."""

    changed: bool
    ratio: Optional[float] = None
    low: Optional[float] = None
    high: Optional[float] = None
    a_cycles: Optional[float] = None
    a_seconds: Optional[float] = None
    b_cycles: Optional[float] = None
    b_seconds: Optional[float] = None
    ratio_beside_common: Optional[float] = None
    low_beside_common: Optional[float] = None
    high_beside_common: Optional[float] = None


@dataclass
class Failures:
    """Calls that failed, as shares of those that have ended."""

    a_share: float
    b_share: float
    p: float
    freedom: float
    beyond_chance: bool
    changed: bool


@dataclass
class SlowCalls(Failures):
    """Calls that take many times the typical latency, as shares of those that have ended."""

    beyond_cycles: float
    times_typical: float
    cost: float
    beyond_seconds: Optional[float] = None


@dataclass
class RunsPeak:
    """A part of an operation's latencies."""

    lower_cycles: float
    upper_cycles: float
    centre_cycles: float
    a_share: float
    b_share: float
    cost: float
    changed: bool
    lower_seconds: Optional[float] = None
    upper_seconds: Optional[float] = None
    centre_seconds: Optional[float] = None
    p: Optional[float] = None
    freedom: Optional[float] = None
    beyond_chance: Optional[bool] = None


@dataclass
class JudgedOperation:
    """An operation that any run has."""

    name: str
    verdict: str
    calls_verdict: str
    a_calls: float
    b_calls: float
    a_total_cycles: float
    b_total_cycles: float
    figures: Dict[str, Figure]
    peaks: List[RunsPeak]
    decided_by: Optional[str] = None
    a_total_seconds: Optional[float] = None
    b_total_seconds: Optional[float] = None
    more_runs: Optional[int] = None
    slow_calls: Optional[SlowCalls] = None
    failures: Optional[Failures] = None


@dataclass(repr=False)
class Verdict(Summarized):
    """The runs A and the runs B."""

    version: int
    changed: bool
    at_least: float
    alpha: float
    confidence: float
    a_runs: int
    b_runs: int
    resolution: int
    rescaled: bool
    ops: List[JudgedOperation]
    frequency_hz: Optional[int] = None
    elapsed: Optional[Time] = None
    total: Optional[Time] = None
    common: Optional[Common] = None

    @property
    def operations(self) -> Dict[str, JudgedOperation]:
        """By name, in the order of ops: changed ones first."""
        return {operation.name: operation for operation in self.ops}

    def _outline(self):
        return summary.verdict_outline(self)

    def _page(self):
        return summary.verdict_page(self, Scale(self.resolution, self.frequency_hz))


def take_verdict(value):
    """The verdict that a JSON object is. Errors: FormatError"""
    if value.get("different") is not None:
        value.fail("a comparison of two sets of runs; load_comparison() reads one of two profiles")
    value.need("a_runs")
    value.need("version").one_of((VERSION,))
    return take_object(value, Verdict)
