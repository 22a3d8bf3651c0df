"""What events files consist of, as plain objects."""

from dataclasses import dataclass, field
from typing import Dict, Optional

from .events_description import Description

MARK_KINDS = "start stop reset pause resume rotate rotated not_rotated written slow".split()


@dataclass
class MarkStream:
    """Where a mark is among the calls of a stream."""

    index: int  # number of the first call after it
    dropped: int  # of the calls before it
    is_inexact: bool  # a call that was just ending may be on the wrong side


@dataclass
class Mark:
    """What was done to the recorded profile."""

    kind: str  # one of MARK_KINDS, or a number
    cycles: int
    unix_ns: int
    number: int  # of the rotation
    streams: Dict[int, MarkStream]


@dataclass
class Failure:
    """Why calls were dropped, if not because they came faster than they could be saved."""

    error: int  # errno value; 0: the file had become as large as it was to be
    dropped: int
    first_cycles: int
    last_cycles: int


@dataclass
class Host:
    """One of the recordings that a file was merged from."""

    number: int
    machine: int  # the same for recordings of one boot of one machine
    first_stream: int
    stream_count: int
    error_ns: Optional[int]  # by how much its times may be off; None: nobody set its clock
    is_open: bool  # it was not ended
    description: Description


@dataclass
class Run:
    """Calls of a stream that follow each other without a gap."""

    stream: int
    worker: int
    first_index: int
    dropped: int  # calls of the stream before it
    count: int
    sequence: int
    place: int  # of the records, in the file
    records: memoryview = field(repr=False)


@dataclass
class Event:
    """A call that has ended."""

    file: object = field(repr=False, compare=False)  # the EventsFile
    operation: str
    start_cycles: int
    latency_cycles: int
    node: int
    thread: int  # of the caller; 0: the kernel itself
    uid: int
    error: int  # errno value; 0: none
    is_past_eof: bool  # nothing was left to read
    columns: Dict[str, int]  # "size", "offset", "result", ... as osprof-events(5) lists them
    texts: Dict[str, str]  # "name", ... if names were recorded
    stream: int
    worker: int  # the thread that served the call
    index: int  # in its stream
    name: Optional[bytes] = field(default=None, repr=False)  # the text name as it is

    @property
    def end_cycles(self) -> int:
        return self.start_cycles + self.latency_cycles

    @property
    def latency_seconds(self) -> Optional[float]:
        return self.file.scale.seconds(self.latency_cycles)

    @property
    def start_ns(self) -> Optional[int]:
        """When it began, in nanoseconds since 1970; None if that is not known."""
        return self.file.wall_clock.unix_ns(self.start_cycles)

    @property
    def path(self) -> Optional[str]:
        """Of what it worked on, with the name if it has one; None if that is not known."""
        return self.file.names.path(self.node, self.start_cycles, self.name)

    @property
    def process(self) -> Optional[int]:
        """Of the caller; None if that is not known."""
        return self.columns.get("process") or self.file.names.task(self.thread)[0]

    @property
    def program(self) -> Optional[str]:
        """The caller's name, "kernel" for the kernel itself; None if that is not known."""
        if self.thread == 0:
            return "kernel"
        return self.texts.get("program") or self.file.names.task(self.thread)[1]

    @property
    def host(self) -> Optional[Host]:
        """In a merged file: the recording that it is from."""
        return self.file.host_of(self.stream)
