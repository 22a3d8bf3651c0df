"""The chunks of an events file, osprof-events(5): one after the other, until one is not whole."""

import itertools
import struct
import sys
from array import array
from dataclasses import dataclass

from .errors import FormatError

MAGIC = b"OSPEVENT"
MAJOR, MINOR = 1, 1
DESCRIPTION, CLOCK, BUFFER, MARK, STRINGS, HOST, FAILURE = range(1, 8)

_BYTE_ORDER = 0x01020304
_CHUNK_MAGIC = 0x4B4E4843
_CHUNK_BYTES_MAX = 4 << 20
_START_BYTES = 32
_CHUNK_BYTES = 24
_CHECKSUM_AT = 12
_WORD_MASK = 2**64 - 1


@dataclass
class Start:
    """The start of a file. order: of bytes, as module struct has it"""

    order: str
    minor: int
    flags: int
    length: int


@dataclass
class Chunk:
    """A whole chunk. inside: what is behind its head, which all chunks have"""

    kind: int
    head_bytes: int
    sequence: int
    inside: memoryview


def read_start(data, file):
    """The start of the file. Errors: FormatError"""
    if len(data) < _START_BYTES or bytes(data[:8]) != MAGIC:
        raise FormatError(file, "", "expected an events file of osproffs")
    orders = [order for order in "<>" if struct.unpack_from(order + "I", data, 8)[0] == _BYTE_ORDER]
    if not orders:
        raise FormatError(file, "byte 8", f"expected the number {_BYTE_ORDER:#010x} in either order of bytes")
    major, minor, length, flags = struct.unpack_from(orders[0] + "HHII", data, 12)
    if major != MAJOR:
        raise FormatError(file, "byte 12", f"expected version {MAJOR} of the format, found version {major}")
    if length < _START_BYTES or length > len(data) or length % 8:
        raise FormatError(file, "byte 16", f"expected the length of the start, found {length}")
    return Start(orders[0], minor, flags, length)


def _checksum(chunk, order):
    words = array("Q")
    words.frombytes(chunk)
    if (order == "<") != (sys.byteorder == "little"):
        words.byteswap()
    stored = _CHECKSUM_AT // 8  # the checksum counts as 0: it is the upper half of that word, or the lower one
    words[stored] &= 0xFFFFFFFF if order == "<" else 0xFFFFFFFF00000000
    a = sum(words) & _WORD_MASK
    b = sum(itertools.accumulate(words)) & _WORD_MASK
    both = a ^ (b << 32 & _WORD_MASK | b >> 32)
    return (both ^ both >> 32) & 0xFFFFFFFF


def read_chunks(data, start):
    """Yields each whole chunk and the place where it begins; in the end None and the place where no other follows."""
    head = struct.Struct(start.order + "IHHIIQ")
    at = start.length
    while len(data) - at >= _CHUNK_BYTES:
        magic, kind, head_bytes, length, checksum, sequence = head.unpack_from(data, at)
        if magic != _CHUNK_MAGIC or not _CHUNK_BYTES <= length <= min(_CHUNK_BYTES_MAX, len(data) - at) or length % 8:
            break
        if _checksum(data[at : at + length], start.order) != checksum:
            break
        yield Chunk(kind, head_bytes, sequence, data[at + _CHUNK_BYTES : at + length]), at
        at += length
    yield None, at
