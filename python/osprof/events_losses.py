"""What is missing in an events file: gaps in the numbers of calls."""

import itertools
from dataclasses import dataclass

_ENDS = ("stop", "written", "slow")


@dataclass
class Losses:
    """Calls and chunks that are not in the file."""

    dropped: int = 0  # calls that came faster than they could be saved, or for the reasons in failures
    missing: int = 0  # calls in chunks that are missing; in a ring: those that were overwritten
    cut_bytes: int = 0  # of the file, from the first chunk on that is not whole
    lost_chunks: int = 0  # between others; not known of a ring
    skipped_chunks: int = 0  # of an unknown kind, or broken inside
    is_open: bool = False  # the recording was not ended: the last calls are missing
    is_newer: bool = False  # a newer program wrote it: there may be more in it than is read


class _Reached:
    """How far a stream has been checked: all numbers below index are accounted for."""

    def __init__(self, index=0, dropped=0):
        self.index = index
        self.dropped = dropped

    def account(self, losses, index, dropped):
        """Counts the calls that are missing before the call of that number."""
        gap = max(index - self.index, 0)
        of_them = min(max(dropped - self.dropped, 0), gap)
        losses.dropped += of_them
        losses.missing += gap - of_them
        self.index = max(self.index, index)
        self.dropped = max(self.dropped, dropped)


def _begin(start, stream, runs):
    """Where a stream begins in the file: as the first mark says; else it is new."""
    if start and stream in start.streams:
        return _Reached(start.streams[stream].index, start.streams[stream].dropped)
    return _Reached() if start or not runs else _Reached(runs[0].first_index, runs[0].dropped)


def count_losses(events_file):
    """Fills the losses of a file whose runs are sorted."""
    losses = events_file.losses
    start = next((mark for mark in events_file.marks if mark.kind == "start"), None)
    stop = next((mark for mark in reversed(events_file.marks) if mark.kind in _ENDS), None)
    streams = {stream: list(runs) for stream, runs in itertools.groupby(events_file.runs, key=lambda run: run.stream)}
    absent = stop.streams if start and stop else ()
    for stream in list(streams) + [stream for stream in absent if stream not in streams]:
        runs = streams.get(stream, [])
        reached = _begin(start, stream, runs)
        for run in runs:
            reached.account(losses, run.first_index, run.dropped)
            reached.index = max(reached.index, run.first_index + run.count)
        if stop and stream in stop.streams:
            reached.account(losses, stop.streams[stream].index, stop.streams[stream].dropped)
    losses.is_open = not stop or any(host.is_open for host in events_file.hosts)
