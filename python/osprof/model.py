"""Profiles as plain objects.

Cycles are whole numbers, as they were counted; what ends in _seconds is a float, or None if the clock's rate is not
known. osprof(5) and profile.schema.json say what each number means.
"""

import datetime
from array import array
from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Optional, Tuple

from . import summary
from .distribution import Distribution, Scale
from .summary import Summarized

GROUPINGS = ("process", "uid", "program", "cgroup", "file", "directory", "filesystem")


class Cells:
    """A sparse table of counts, by row and bucket. Iterating gives (row, bucket, count), in this order."""

    def __init__(self):
        self._rows, self._buckets, self._counts = array("Q"), array("H"), array("Q")

    def add(self, row, bucket, count):
        """Appends a cell. Rows, and buckets in a row, must come in ascending order."""
        self._rows.append(row)
        self._buckets.append(bucket)
        self._counts.append(count)

    def __iter__(self) -> Iterator[Tuple[int, int, int]]:
        return zip(self._rows, self._buckets, self._counts)

    def __len__(self):
        return len(self._rows)

    def __eq__(self, other):
        return isinstance(other, Cells) and list(self) == list(other)

    def __repr__(self):
        return f"<{len(self)} cells>"


@dataclass(repr=False)
class Operation(Summarized, Distribution):
    """The calls of one operation, such as READ."""

    name: str
    calls: int  # that have begun; finished tells how many have ended
    total_cycles: int  # the sum of the latencies of those that have ended
    left: int = 0  # calls that will never return
    busy_looks: Optional[int] = None  # of the looks of the profile: those at which a call was in flight
    longest_cycles: Optional[int] = None  # of the longest call that has ended; None: only its bucket is known
    longest_path: Optional[str] = None
    asked_bytes: int = 0
    moved_bytes: int = 0
    failed: Dict[str, int] = field(default_factory=dict)  # calls by error: "ENOENT", ... or "other"
    samples: Optional[Cells] = None  # of a sampled profile: by interval

    def known_total(self):
        return self.total_cycles

    def known_longest(self):
        return self.longest_cycles

    def _outline(self):
        return summary.operation_outline(self)

    @property
    def total_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.total_cycles)

    @property
    def longest_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.longest_cycles)

    @property
    def mean_cycles(self) -> Optional[float]:
        """The mean latency of the calls that have ended; None if there are none."""
        finished = self.finished
        return self.total_cycles / finished if finished else None

    @property
    def mean_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.mean_cycles)


@dataclass
class Interval(Distribution):
    """The calls of one operation that ended in an interval of a sampled profile."""

    number: int
    begin_cycles: int  # since the start of the profile, without pauses
    end_cycles: int

    @property
    def begin_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.begin_cycles)

    @property
    def end_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.end_cycles)


@dataclass
class Busy:
    """At so many of so many looks a call was in flight; and the most calls at one look."""

    looks: int
    busy: int
    most: int


def _text(most):
    """A text of at most so many bytes."""
    return field(default=None, metadata={"most": most})


def _of_ended():
    """A number of calls that have ended: all of these have it, and no others."""
    return field(default=None, metadata={"is_of": "ended"})


@dataclass
class Link:
    """Somebody who waits, for what, and who or what has that. What is unknown is None."""

    process: Optional[int] = None  # that waits
    thread: Optional[int] = None
    program: Optional[str] = _text(63)
    all_threads: bool = False  # all threads of the process have this cause
    cause_id: Optional[str] = None
    cause_class: Optional[str] = None
    cause: Optional[str] = _text(95)
    waits_for: Optional[str] = None  # "flock", "disk": a class of causes
    object: Optional[str] = _text(511)  # the file, the mount point, the disk, the function of the kernel
    source: Optional[str] = _text(511)  # the type of a FUSE file system, the server, the file of a loop device
    cgroup: Optional[str] = _text(511)  # limits the waiter at that disk
    requests: Optional[int] = field(default=None, metadata={"is_of": "disks"})  # that the disk has not completed
    relation: Optional[str] = None  # "held", "taken", "asked_before", "held_by_description", "held_by_unseen"
    holder_process: Optional[int] = None
    holder_thread: Optional[int] = None
    holder_program: Optional[str] = _text(63)
    others: Optional[int] = None  # other holders


@dataclass
class Cause:
    """What slow calls of an operation have waited for."""

    scale: Scale = field(repr=False)
    operation: str = field(metadata={"member": "op"})
    text: str = field(metadata={"member": "cause", "most": 95})
    calls: int
    total_cycles: int
    longest_cycles: int
    latencies: Optional[Distribution] = None  # of its calls, as far as they are known
    cause_id: Optional[str] = None
    cause_class: Optional[str] = None
    other_thread: bool = False
    since_before: bool = False

    @property
    def total_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.total_cycles)

    @property
    def longest_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.longest_cycles)


@dataclass
class Call:
    """A call that had not returned, or one of the last slow calls that have ended. What is unknown is None."""

    scale: Scale = field(repr=False)
    operation: str = field(metadata={"member": "op"})
    pid: int  # of the thread that called
    age_cycles: Optional[int] = field(default=None, metadata={"is_of": "in flight"})
    latency_cycles: Optional[int] = _of_ended()
    end_ns: Optional[int] = _of_ended()  # since 1970
    cause: Optional[str] = _text(95)  # what it waits for, or has waited for the longest
    cause_id: Optional[str] = None
    cause_class: Optional[str] = None
    other_thread: bool = False  # the cause is of another thread of the process, which works for this one
    since_before: bool = False  # the call had begun before anybody looked
    path: Optional[str] = None
    inode: Optional[int] = None
    process: Optional[int] = None
    program: Optional[str] = _text(31)
    uid: Optional[int] = _of_ended()
    error: Optional[int] = _of_ended()  # errno value; 0: none
    asked_bytes: Optional[int] = _of_ended()
    moved_bytes: Optional[int] = _of_ended()
    offset: Optional[int] = _of_ended()
    stack: Optional[str] = None
    user_stack: Optional[str] = None  # functions of the program and its libraries; ends in "..." if there are more
    links: List[Link] = field(default_factory=list)  # what exactly it waits for, who or what holds that, and so on
    circle: bool = False  # the last holder waits for one before

    @property
    def age_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.age_cycles)

    @property
    def latency_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.latency_cycles)


@dataclass
class SlowCaller:
    """How many slow calls of an operation a function has made. Without program and function: all for which there was no
    room."""

    operation: str = field(metadata={"member": "op"})
    calls: int
    program: Optional[str] = _text(31)
    function: Optional[str] = _text(95)  # "(not known: ...)", "(none: ...)": the reason


@dataclass
class Joint:
    """How the latencies of an operation go together with a value of its calls, such as SIZE. Rows are its numbers."""

    operation: str
    value: str
    cells: Cells


@dataclass(repr=False)
class Group(Summarized):
    """The calls of a process, a user, a program, a control group, or on a file, a directory or a file system."""

    grouping: str  # one of GROUPINGS
    who: str  # "id"; "kernel": of the kernel itself; "other": of all that there were too many of
    id: Optional[int] = None  # of a process or user
    name: Optional[str] = None  # of the program; the path
    missed_cycles_max: Optional[int] = None  # of a file or directory: latency of its calls among the others', at most
    cache_read_bytes: Optional[int] = None
    cache_missed_bytes: Optional[int] = None
    cache_unjudged_bytes: Optional[int] = None
    operations: Dict[str, Operation] = field(default_factory=dict)

    def _outline(self):
        return summary.group_outline(self)


# Why programs, calls and threads are not seen, as osprof(5) explains it.
UNSEEN_KINDS = (
    "static",
    "set_id",
    "foreign",
    "sandboxed",
    "go",
    "bare",
    "starved",
    "async",
    "io_uring",
    "root",
    "user",
    "unknown",
    "crowded",
    "broken",
)


@dataclass
class UnseenProgram:
    """Programs of one kind and name that the layer user does not see."""

    kind: str  # one of UNSEEN_KINDS
    program: str
    runs: int
    least_seconds: float  # they ran so long at least, added up
    most_seconds: Optional[float] = None  # and at most; None: unknown


@dataclass(repr=False)
class Profile(Summarized):
    """A profile of one layer."""

    scale: Scale
    clock: Optional[str] = None  # "tsc", "cntvct", "monotonic"
    labels: Dict[str, str] = field(default_factory=dict)
    lists: List[str] = field(default_factory=list)  # keys of labels of which the profiles of a sum have several values
    start_ns: Optional[int] = None  # since 1970
    elapsed_cycles: Optional[int] = None
    stolen_seconds: Optional[float] = None
    stopped_seconds: Optional[float] = None
    storage_read_bytes: Optional[int] = None
    cache_read_bytes: Optional[int] = None
    cache_missed_bytes: Optional[int] = None
    cache_unjudged_bytes: Optional[int] = None
    user_time_seconds: Optional[float] = None
    system_time_seconds: Optional[float] = None
    queue_time_seconds: Optional[float] = None
    program_time_seconds: Optional[float] = None
    locking_time_seconds: Optional[float] = None
    page_faults: Optional[Dict[str, int]] = None  # "minor" and "major"
    seen_bytes: Optional[Dict[str, int]] = None  # "read" and "written", like the next two: in the calls of programs
    kernel_bytes: Optional[Dict[str, int]] = None  # by the kernel's own sums for the same programs
    elsewhere_bytes: Optional[Dict[str, int]] = None  # on descriptors that do not count
    not_seen: Dict[str, int] = field(default_factory=dict)  # by kind, one of UNSEEN_KINDS
    unseen_programs: List[UnseenProgram] = field(default_factory=list)
    threads_max: Optional[int] = None  # that could be counted at a time, if there were more
    not_told: Dict[str, int] = field(default_factory=dict)  # by kind, see osprof(5)
    cost_seconds: Optional[Dict[str, float]] = None  # of "each" system call of the machine, and of those "counted"
    cost_calls: Optional[int] = None  # system calls of the machine
    disk_bytes: Optional[Dict[str, int]] = None  # "read" and "written" at the disk of a command, and its "own"
    disk_seconds: Optional[Dict[str, float]] = None  # that disk was "busy" for so long of the time it was "watched"
    disk_other_bytes: Optional[int] = None  # of the process that the label disk_other names
    waiting_requests: Optional[int] = None  # for a FUSE daemon in trouble
    exit: Optional[Dict[str, int]] = None  # "status" and "signal" of the command; of several runs the first that failed
    runs: Optional[int] = None
    merged: Optional[int] = None  # how many profiles this is the sum of
    chosen_groups: Optional[int] = None  # how many groups this is the sum of
    missed_cycles: Optional[int] = None  # latency of their calls that is missing, at most
    clamped: int = 0
    ungrouped: int = 0
    incomplete: bool = False
    busy: Optional[Busy] = None
    in_flight: List[Call] = field(default_factory=list)
    slow_cycles: Optional[int] = None  # calls that took so long are slow; None: nobody looked for them
    causes: List[Cause] = field(default_factory=list)
    slow_calls: List[Call] = field(default_factory=list)
    slow_callers: List[SlowCaller] = field(default_factory=list)
    interval_cycles: Optional[int] = None  # of a sampled profile
    borders_cycles: List[int] = field(default_factory=list)  # where each interval ends
    operations: Dict[str, Operation] = field(default_factory=dict)  # those with the largest total first
    joints: List[Joint] = field(default_factory=list)
    groups: List[Group] = field(default_factory=list)

    @property
    def resolution(self) -> int:
        """Buckets per power of two."""
        return self.scale.resolution

    @property
    def frequency_hz(self) -> Optional[int]:
        return self.scale.frequency_hz

    @property
    def layer(self) -> Optional[str]:
        return self.labels.get("layer")

    @property
    def start(self) -> Optional[datetime.datetime]:
        """When the profile began, in UTC, to the microsecond."""
        if self.start_ns is None:
            return None
        epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        return epoch + datetime.timedelta(microseconds=self.start_ns // 1000)

    @property
    def elapsed_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.elapsed_cycles)

    @property
    def missed_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.missed_cycles)

    @property
    def slow_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.slow_cycles)

    @property
    def interval_seconds(self) -> Optional[float]:
        return self.scale.seconds(self.interval_cycles)

    def groups_of(self, grouping) -> List[Group]:
        """The groups of one kind, such as "file": those with the largest total first, "other" last."""
        return [group for group in self.groups if group.grouping == grouping]

    def intervals(self, operation) -> List[Interval]:
        """The timeline of an operation: all intervals of a sampled profile, also those without calls."""
        begins = [0] + self.borders_cycles[:-1]
        intervals = [
            Interval(self.scale, {}, number, begin, end)
            for number, (begin, end) in enumerate(zip(begins, self.borders_cycles))
        ]
        for number, bucket, count in self.operations[operation].samples or ():
            intervals[number].counts[bucket] = count
        return intervals

    def _outline(self):
        return summary.profile_outline(self)

    def _page(self):
        return summary.profile_page(self)
