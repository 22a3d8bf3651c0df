"""The error of everything that cannot be read."""

import os

_SHOWN_LENGTH = 40


def shown(text):
    """Returns the beginning of a text, as bytes or str, in a form that any terminal and any encoding can print."""
    if isinstance(text, bytes):
        text = text[:_SHOWN_LENGTH].decode("utf-8", "replace")
    text = text[:_SHOWN_LENGTH].encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c.isprintable() else "?" for c in text)


class FormatError(ValueError):
    """A file is not what it should be.

    file      its name, as it was given; None if it has none
    place     where in the file: "line 12", "byte 4096", "ops[3].calls"; "" if the error is about all of it
    line      the number of the line, from 1; None if the file does not consist of lines
    message   what was expected there, and what was found
    """

    def __init__(self, file, place, message, line=None):
        self.file = file
        self.place = place
        self.line = line
        self.message = message
        name = None if file is None else os.fsencode(file).decode("utf-8", "replace")
        name = name and "".join(c if c.isprintable() else "?" for c in name)
        super().__init__(": ".join(part for part in (name, place, message) if part))

    def __reduce__(self):
        return FormatError, (self.file, self.place, self.message, self.line)
