"""Opening and reading files."""

import contextlib
import io
import os

from .errors import FormatError

_PIECE_BYTES = 1 << 20


@contextlib.contextmanager
def opened(source):
    """Opens a name, or takes an open binary file as it is. Gives the file and its name."""
    if isinstance(source, (str, bytes, os.PathLike)):
        with open(source, "rb") as stream:
            yield stream, os.fspath(source)
    else:
        name = getattr(source, "name", None)
        stream = source if hasattr(source, "peek") else io.BufferedReader(source)
        try:
            yield stream, name if isinstance(name, (str, bytes)) else None
        finally:
            if stream is not source:
                stream.detach()


def read_all(stream, file, most):
    """All bytes of a stream. Errors: FormatError if there are more than that"""
    pieces, length = [], 0
    piece = stream.read(_PIECE_BYTES)
    while piece:
        length += len(piece)
        if length > most:
            raise FormatError(file, "", f"expected a file of at most {most >> 20} MiB")
        pieces.append(piece)
        piece = stream.read(_PIECE_BYTES)
    return b"".join(pieces)
