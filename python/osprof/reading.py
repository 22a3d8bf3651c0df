"""Which file is what: opening files, and choosing the reader by how they begin."""

import os
from dataclasses import dataclass
from typing import List, Optional

from . import json_profile, summary, text
from .comparison import take_comparison
from .errors import FormatError
from .files import opened
from .json_values import read_document, take_object
from .model import Profile
from .summary import Summarized
from .verdict import take_verdict
from .waits import take_waits

_LIVE_FILE_MAGIC = b"OSPROFLV"
_EVENTS_MAGIC = b"OSPEVENT"


@dataclass
class Cell:
    """What a layer has of a row of a recording's table."""

    layer: str
    ops: List[str]
    calls: int
    total_seconds: Optional[float] = None
    queued_seconds: Optional[float] = None
    here_seconds: Optional[float] = None
    asynchronous_below: bool = False
    answered_share: Optional[float] = None


@dataclass
class Row:
    """Operations of the layers of a recording that are related."""

    name: str
    layers: List[Cell]


@dataclass(repr=False)
class Recording(Summarized):
    """The profiles of the layers of one run, the outermost first."""

    layers: List[Profile]
    table: Optional[List[Row]] = None  # None: the file was text, which has none

    def __getitem__(self, layer) -> Profile:
        for profile in self.layers:
            if profile.layer == layer:
                return profile
        raise KeyError(layer)

    def _outline(self):
        return summary.run_outline(self)

    def _page(self):
        return summary.run_page(self)


def _document(source):
    with opened(source) as (stream, file):
        return read_document(stream, file)


def load_recording(source) -> Recording:
    """Reads a recording as text or JSON; a single profile is a recording of one layer.

    source: the name of a file, or a file that is open in binary mode
    Errors: FormatError, OSError
    """
    with opened(source) as (stream, file):
        beginning = stream.peek(64)[:64]
        if beginning.startswith(_EVENTS_MAGIC):
            raise FormatError(file, "", "expected a profile, found an events file; load_events() reads it")
        if beginning.startswith(_LIVE_FILE_MAGIC):
            raise FormatError(file, "", "expected a profile, found a live file; osprof save makes a profile of it")
        if not beginning.lstrip(b" \t\r\n").startswith(b"{"):
            return Recording(text.read_layers(stream, file))
        document = read_document(stream, file)
        table = [take_object(row, Row) for row in document.get("table") or ()]
        return Recording(json_profile.take_layers(document), table if document.get("layers") else None)


def load(source, layer=None) -> Profile:
    """Reads the profile of one layer, as text or JSON. Of a recording of several layers say which.

    Errors: FormatError, OSError; KeyError there is no such layer
    """
    recording = load_recording(source)
    if layer is not None:
        return recording[layer]
    if len(recording.layers) > 1:
        names = ", ".join(profile.layer for profile in recording.layers)
        name = source if isinstance(source, (str, bytes, os.PathLike)) else getattr(source, "name", None)
        raise FormatError(name, "", f"expected a single profile, found a recording of the layers {names}; say which")
    return recording.layers[0]


def load_comparison(source):
    """Reads what osprof compare --json wrote of two profiles. Errors: FormatError, OSError"""
    return take_comparison(_document(source))


def load_verdict(source):
    """Reads what osprof compare --json wrote of two sets of runs. Errors: FormatError, OSError"""
    return take_verdict(_document(source))


def load_waits(source):
    """Reads what osprof why -a --json wrote. Errors: FormatError, OSError"""
    return take_waits(_document(source))
