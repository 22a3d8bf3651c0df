"""The description in an events file: what was recorded, and which columns the records of each operation have."""

import re
from dataclasses import dataclass, field
from typing import Dict, List, Optional

from .distribution import COUNT_MAX, RESOLUTIONS
from .text_lines import decoded

_OPERATIONS_MAX = 64
_COLUMNS_MAX = 16
_TEXTS_MAX = 2
_ESCAPE = re.compile(rb"\\(.)", re.DOTALL)


@dataclass
class EventOperation:
    """An operation, and the names of the columns and texts of its records."""

    name: str  # as in profiles, without OP_
    counts_bytes: bool  # the columns size and result are bytes asked for and moved
    columns: List[str]  # of each record
    more_columns: List[str]  # of those with names
    texts: List[str]  # of those with names


@dataclass
class Description:
    """What the description says. None: it does not say."""

    host: Optional[str] = None
    version: Optional[str] = None  # of osproffs
    boot: Optional[str] = None
    pid: Optional[int] = None
    clock: Optional[str] = None
    frequency_hz: Optional[int] = None
    resolution: int = 1
    labels: Dict[str, str] = field(default_factory=dict)
    operations: Dict[int, EventOperation] = field(default_factory=dict)  # by number in records


def _unescaped(text):
    return decoded(_ESCAPE.sub(lambda match: {b"n": b"\n", b"r": b"\r"}.get(match[1], match[1]), text))


def _number(text, most=COUNT_MAX):
    if not re.fullmatch(rb"[0-9]{1,40}", text) or int(text) > most:
        return None
    return int(text)


def _describe_operation(description, rest):
    number, _, rest = rest.partition(b" ")
    number = _number(number, _OPERATIONS_MAX - 1)
    lists = rest.split(b"|")
    name, _, flag = lists[0].partition(b" ")
    names = [[decoded(word) for word in words.split(b" ") if word] for words in lists[1:4]]
    columns, more, texts = names + [[]] * (3 - len(names))
    is_known = number is not None and number not in description.operations
    if is_known and name and len(columns) + len(more) <= _COLUMNS_MAX and len(texts) <= _TEXTS_MAX:
        operation = EventOperation(decoded(name), flag == b"bytes", columns, more, texts)
        description.operations[number] = operation


def take_description(text, description):
    """Adds the lines of a text to a description. Lines that cannot be understood are skipped."""
    for line in bytes(text).split(b"\0", 1)[0].split(b"\n"):
        word, _, rest = line.partition(b" ")
        if word == b"host":
            description.host = _unescaped(rest)
        elif word == b"osproffs":
            description.version = _unescaped(rest)
        elif word == b"boot":
            description.boot = _unescaped(rest)
        elif word == b"pid":
            description.pid = _number(rest)
        elif word == b"clock":
            kind, _, rate = rest.partition(b" ")
            description.clock, description.frequency_hz = _unescaped(kind), _number(rate) or None
        elif word == b"resolution" and _number(rest) in RESOLUTIONS:
            description.resolution = _number(rest)
        elif word == b"label":
            key, _, value = rest.partition(b" ")
            description.labels.setdefault(_unescaped(key), _unescaped(value))
        elif word == b"op":
            _describe_operation(description, rest)
