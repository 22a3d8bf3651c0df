"""What all threads of a machine waited for: what osprof why -a --json writes. Members are named as in
waits.schema.json, but class is wait_class."""

from dataclasses import dataclass, field
from typing import List, Optional

from . import summary
from .json_values import take_object
from .model import Link
from .summary import Summarized

VERSION = 1


@dataclass
class Wait:
    """A cause of a thread."""

    cause: str
    cause_class: str
    wait_class: str = field(metadata={"member": "class"})  # "held up", "cpu", "work"
    named: bool
    program: str
    waits: int
    waiting_now: int
    total_seconds: float
    longest_seconds: float
    process: Optional[int] = None
    thread: Optional[int] = None
    thread_name: Optional[str] = None
    cgroup: Optional[str] = None
    stack: Optional[str] = None
    cause_id: Optional[str] = None
    holder: Optional[str] = None  # for people
    links: List[Link] = field(default_factory=list)  # the same as data
    circle: bool = False


@dataclass
class Lock:
    """A place at which a thread asked for a lock of the kernel that another had."""

    lock: str
    state: str  # "asleep", "spinning"
    program: str
    contentions: int
    waiting_now: int
    total_seconds: float
    longest_seconds: float
    access: Optional[str] = None
    function: Optional[str] = None
    process: Optional[int] = None
    thread: Optional[int] = None
    thread_name: Optional[str] = None
    cgroup: Optional[str] = None


@dataclass(repr=False)
class Waits(Summarized):
    """The waits of all threads, or of those of some processes."""

    version: int
    elapsed_seconds: float
    threads: int
    processes: int
    threads_of_work: int
    total_seconds: float
    unnamed_seconds: float
    work_seconds: float
    lost_waits: int
    skipped_waits: int
    waits: List[Wait]
    of: Optional[str] = None
    hidden: Optional[str] = None
    lost_processes: Optional[int] = None
    lost_contentions: Optional[int] = None
    skipped_contentions: Optional[int] = None
    locks: List[Lock] = field(default_factory=list)

    def _outline(self):
        return summary.waits_outline(self)

    def _page(self):
        return summary.waits_page(self)


def take_waits(value):
    """The waits that a JSON object has. Errors: FormatError"""
    value.need("version").one_of((VERSION,))
    return take_object(value, Waits)
