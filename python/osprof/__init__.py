"""Reads what osprof writes: latency profiles, recordings of several layers, comparisons, waits, and events files.

    import osprof
    profile = osprof.load("result")
    read = profile.operations["READ"]
    print(read.calls, read.mean_seconds, read.percentile(.99).seconds)

All are plain objects. Whatever a file holds, reading ends, takes memory in proportion to the file, and fails with a
FormatError if the file is not what it should be. Texts that are not UTF-8 have surrogates, as names of files have them.
"""

from .comparison import Comparison
from .distribution import Bucket, Distribution, Latency, Scale
from .errors import FormatError
from .events import Event, EventsFile, load_events
from .model import Group, Interval, Operation, Profile
from .reading import Recording, load, load_comparison, load_recording, load_verdict, load_waits
from .verdict import Verdict
from .waits import Waits

__all__ = [
    "Bucket",
    "Comparison",
    "Distribution",
    "Event",
    "EventsFile",
    "FormatError",
    "Group",
    "Interval",
    "Latency",
    "Operation",
    "Profile",
    "Recording",
    "Scale",
    "Verdict",
    "Waits",
    "load",
    "load_comparison",
    "load_events",
    "load_recording",
    "load_verdict",
    "load_waits",
]
