"""Events files, osprof-events(5): every recorded call by itself.

What follows a chunk that is not whole is not read, as by osprof itself: a recording may have been cut off. The member
losses tells what is missing.
"""

import heapq
import itertools
import struct
from typing import Iterator, List, Optional

from . import events_chunks as chunks
from .distribution import Scale
from .errors import FormatError
from .events_clock import Moment, WallClock
from .events_description import Description, take_description
from .events_losses import Losses, count_losses
from .events_model import MARK_KINDS, Event, Failure, Host, Mark, MarkStream, Run
from .events_names import Names
from .files import opened, read_all
from .summary import counted

FILE_BYTES_MAX = 4 << 30

_RING, _NAMES = 1, 2
_LONG, _MORE, _PAST_EOF = 1, 2, 4
_UNSET_CLOCK = 0x40
_HOSTS_MAX = 1023
_THREAD_MASK = (1 << 22) - 1
_HEADS = {
    chunks.CLOCK: "QqqQQII",
    chunks.BUFFER: "IIQQII",
    chunks.MARK: "IIQqQ",
    chunks.HOST: "IIIIQII",
    chunks.FAILURE: "IIQQQ",
}
class EventsFile:
    """An events file. Iterating gives its calls, ordered by their start, as often as wanted.

    description     what was recorded: host, clock, labels, operations
    scale           of the recorded profile: clock rate and resolution
    is_ring         only the last calls were kept
    has_names       names were recorded
    moments, marks, failures, hosts, losses
    """

    def __init__(self, data, file):
        self.file_name = file
        self.description = Description()
        self.moments: List[Moment] = []
        self.marks: List[Mark] = []
        self.failures: List[Failure] = []
        self.hosts: List[Host] = []
        self.runs: List[Run] = []
        self._start = chunks.read_start(data, file)
        self._record = struct.Struct(self._start.order + "QQIIII")
        self.names = Names(struct.Struct(self._start.order + "IIQQ"))
        self.is_ring = bool(self._start.flags & _RING)
        self.has_names = bool(self._start.flags & _NAMES)
        self._has_links = not self.has_names
        self.losses = Losses(is_newer=self._start.minor > chunks.MINOR)
        self._take_chunks(data)
        self.runs.sort(key=lambda run: (run.stream, run.first_index, run.sequence))
        self.hosts.sort(key=lambda host: host.number)
        self.scale = Scale(self.description.resolution, self.description.frequency_hz)
        self.wall_clock = WallClock(self.moments, self.scale.frequency_hz)
        count_losses(self)

    def __iter__(self) -> Iterator[Event]:
        if not self._has_links:
            self._find_links()
        return self._ordered()

    def __repr__(self):
        return f"<EventsFile: {counted(sum(run.count for run in self.runs), 'call')}>"

    def host_of(self, stream) -> Optional[Host]:
        for host in self.hosts:
            if 0 <= stream - host.first_stream < host.stream_count:
                return host
        return None

    def thread_number(self, thread):
        """The number of a caller's thread, or process, on its own machine; merged files have others."""
        return thread & _THREAD_MASK if self.hosts and thread is not None else thread

    # ---- Chunks

    def _take_chunks(self, data):
        takers = {
            chunks.CLOCK: self._take_clock,
            chunks.BUFFER: self._take_buffer,
            chunks.MARK: self._take_mark,
            chunks.HOST: self._take_host,
            chunks.FAILURE: self._take_failure,
        }
        count, last = 0, 0
        marks = []
        for chunk, place in chunks.read_chunks(data, self._start):
            if chunk is None:
                self.losses.cut_bytes = len(data) - place
                break
            count, last = count + 1, max(last, chunk.sequence)
            if chunk.kind == chunks.DESCRIPTION:
                take_description(chunk.inside, self.description)
            elif chunk.kind == chunks.STRINGS:
                self.losses.skipped_chunks += not self.names.take(chunk.inside)
            else:
                taker = takers.get(chunk.kind)
                head = self._head(chunk) if taker else None
                self.losses.skipped_chunks += head is None or not taker(head, chunk, place)
                marks.extend([chunk.sequence] * (len(self.marks) - len(marks)))
        self.marks = [mark for _, _, mark in sorted(zip(marks, itertools.count(), self.marks))]
        self.losses.lost_chunks = max(last - (count - 1), 0) if count and not self.is_ring else 0

    def _head(self, chunk):
        """The numbers of the chunk's head; None if it is too short."""
        head = struct.Struct(self._start.order + _HEADS[chunk.kind])
        if not head.size <= chunk.head_bytes <= len(chunk.inside):
            return None
        return head.unpack_from(chunk.inside)

    def _take_clock(self, head, _chunk, _place):
        self.moments.append(Moment(*head[:5], bool(head[5] & _UNSET_CLOCK)))
        return True

    def _take_buffer(self, head, chunk, place):
        stream, worker, first_index, dropped, count, _ = head
        records = chunk.inside[chunk.head_bytes :]
        place += 24 + chunk.head_bytes
        self.runs.append(Run(stream, worker, first_index, dropped, count, chunk.sequence, place, records))
        return True

    def _take_mark(self, head, chunk, _place):
        kind, stream_count, cycles, unix_ns, number = head
        rest = chunk.inside[chunk.head_bytes :]
        if stream_count * 24 > len(rest):
            return False
        streams = struct.Struct(self._start.order + "IIQQ").iter_unpack(rest[: stream_count * 24])
        positions = {stream: MarkStream(index, dropped, bool(inexact)) for stream, inexact, index, dropped in streams}
        name = MARK_KINDS[kind - 1] if 0 < kind <= len(MARK_KINDS) else str(kind)
        self.marks.append(Mark(name, cycles, unix_ns, number, positions))
        return True

    def _take_failure(self, head, _chunk, _place):
        self.failures.append(Failure(head[0], *head[2:]))
        return True

    def _take_host(self, head, chunk, _place):
        number, machine, first_stream, stream_count, error_ns, flags, _ = head
        if number >= _HOSTS_MAX:
            return False
        host = Host(number, machine, first_stream, stream_count, error_ns, bool(flags & 1), Description())
        host.error_ns = None if error_ns == 2**64 - 1 else error_ns
        take_description(chunk.inside[chunk.head_bytes :], host.description)
        self.hosts.append(host)
        return True

    # ---- Calls

    def _ordered(self):
        runs = itertools.groupby(self.runs, key=lambda run: run.stream)
        streams = [self._calls(list(group)) for _, group in runs]
        return heapq.merge(*streams, key=lambda event: (event.start_cycles, event.stream))

    def _calls(self, runs):
        for run in runs:
            at = 0
            for number in range(run.count):
                event, length = self._decode(run, at, number)
                yield event
                at += length

    def _decode(self, run, at, number):
        """A call, and the length of its record. Errors: FormatError"""
        records = run.records
        try:
            start, node, latency, thread, uid, head = self._record.unpack_from(records, at)
            length = (head >> 6 & 1023) * 8
            operation = self.description.operations[head & 63]
            record = _Rest(records[at + self._record.size : at + length], self._start.order)
            if length < self._record.size or at + length > len(records):
                raise ValueError
            flags = head >> 28
            if flags & _LONG:
                latency = record.columns(1)[0]
            names = operation.columns + (operation.more_columns if flags & _MORE else [])
            columns = dict(zip(names, record.columns(len(names))))
            texts = {name: record.text() for name in (operation.texts if flags & _MORE else ())}
        except (struct.error, ValueError, KeyError):
            place = f"byte {run.place + at}"
            message = "expected the whole record of a call of a known operation"
            raise FormatError(self.file_name, place, message) from None
        event = Event(
            file=self,
            operation=operation.name,
            start_cycles=start,
            latency_cycles=latency,
            node=node,
            thread=thread,
            uid=uid,
            error=head >> 16 & 4095,
            is_past_eof=bool(flags & _PAST_EOF),
            columns=columns,
            texts={name: text.decode("utf-8", "surrogateescape") for name, text in texts.items()},
            stream=run.stream,
            worker=run.worker,
            index=run.first_index + number,
            name=texts.get("name"),
        )
        return event, length

    def _find_links(self):
        """Reads all calls once: they tell names of nodes that have no path of their own."""
        for event in self._ordered():
            node = event.columns.get("entry")
            if node and event.name is not None:
                self.names.add_link(node, event.end_cycles, event.node, event.name)
        self.names.sort_links()
        self._has_links = True


class _Rest:
    """What follows the fixed part of a record."""

    def __init__(self, data, order):
        self._data = data
        self._order = order
        self._at = 0

    def columns(self, count):
        numbers = struct.unpack_from(f"{self._order}{count}Q", self._data, self._at)
        self._at += 8 * count
        return numbers

    def text(self):
        length, _ = struct.unpack_from(self._order + "HH", self._data, self._at)
        text = bytes(self._data[self._at + 4 : self._at + 4 + length])
        self._at += 4 + length
        if len(text) < length:
            raise ValueError
        return text


def load_events(source) -> EventsFile:
    """Reads an events file. The calls themselves are decoded when they are iterated.

    source: the name of a file, or a file that is open in binary mode
    Errors: FormatError, OSError; FormatError also from iterating, where the record of a call is broken
    """
    with opened(source) as (stream, file):
        data = read_all(stream, file, FILE_BYTES_MAX)
    return EventsFile(memoryview(data), file)
