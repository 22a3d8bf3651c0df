"""Lines, words and numbers of texts, with limits: a text that never ends must not take all memory."""

import re

from .distribution import COUNT_MAX
from .errors import FormatError, shown

LINE_BYTES_MAX = 32 << 20
TEXT_BYTES_MAX = 1 << 30

_WORD = re.compile(rb"[ \t]*([^ \t]*)")
_DIGITS = re.compile(rb"[0-9]+")
_NAME = re.compile(rb"[A-Za-z0-9_.-]{1,31}")
# Characters that terminals obey or nobody sees, and bytes that are not UTF-8: osprof escapes them.
_NOT_PLAIN = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f\udc80-\udcff]"
)
_ESCAPE = re.compile(rb"\\([0-3][0-7][0-7])")


def decoded(text):
    """Bytes as str. Those that are not UTF-8 become surrogates, as in names of files; os.fsencode() turns them back."""
    return text.decode("utf-8", "surrogateescape")


def unescaped(text):
    """The str that a value with octal escapes stands for."""
    return decoded(_ESCAPE.sub(lambda match: bytes((int(match[1], 8),)) if match[1] != b"000" else match[0], text))


def is_plain(text):
    """True for UTF-8 of which a terminal shows each character."""
    return not _NOT_PLAIN.search(decoded(text))


class Lines:
    """The lines of a binary stream. line is the current one, number its number, from 1."""

    def __init__(self, stream, file):
        self.file = file
        self.number = 0
        self.line = b""
        self.is_cut_short = False  # the last line that was read has no end
        self._stream = stream
        self._bytes = 0
        self._again = False

    def fail(self, message, number=None):
        number = self.number if number is None else number
        raise FormatError(self.file, f"line {number}" if number else "", message, number or None)

    def fail_expected(self, expected, found):
        what = f'"{shown(found)}"' if found else "the end of the line"
        self.fail(f"expected {expected}, found {what}")

    def next(self):
        """Reads the next line. Returns False at the end."""
        if self._again:
            self._again = False
            return True
        line = self._stream.readline(LINE_BYTES_MAX + 2)
        if not line:
            return False
        self.number += 1
        self._bytes += len(line)
        self.is_cut_short = not line.endswith(b"\n")
        line = line if self.is_cut_short else line[:-1]
        if b"\0" in line:
            self.fail("expected text, found a NUL byte")
        if len(line) > LINE_BYTES_MAX:
            self.fail(f"expected lines of at most {LINE_BYTES_MAX >> 20} MiB")
        if self._bytes > TEXT_BYTES_MAX:
            self.fail(f"expected a text of at most {TEXT_BYTES_MAX >> 20} MiB")
        self.line = line[:-1] if line.endswith(b"\r") else line
        return True

    def unread(self):
        """The current line will be read once more."""
        self._again = True

    def count(self, word, expected):
        """The number that a word is."""
        if not _DIGITS.fullmatch(word):
            self.fail_expected(expected, word)
        digits = word.lstrip(b"0") or b"0"
        if len(digits) > 20 or int(digits) > COUNT_MAX:
            self.fail(f'expected {expected} below 2^64, found "{shown(word)}"')
        return int(digits)

    def name(self, word):
        """The name of an operation."""
        if not _NAME.fullmatch(word):
            self.fail(f'expected an operation\'s name (letters, digits, _-., at most 31), found "{shown(word)}"')
        return word.decode()


class Words:
    """The words of a text of the current line, one after the other."""

    def __init__(self, lines, text):
        self._lines = lines
        self._text = text
        self._at = 0

    def next(self):
        """Returns the next word; b"" at the end."""
        match = _WORD.match(self._text, self._at)
        self._at = min(match.end() + 1, len(self._text))
        return match[1]

    def peek(self):
        """The word that next() would return."""
        match = _WORD.match(self._text, self._at)
        return match[1]

    def remaining(self):
        """What follows the blank behind the last word."""
        return self._text[self._at :]

    def rest(self):
        """The same without blanks before it."""
        return self.remaining().lstrip(b" \t")

    def end(self):
        if self.rest():
            self._lines.fail_expected("the end of the line", self.rest())

    def count(self, expected="a number"):
        return self._lines.count(self.next(), expected)

    def only_count(self, expected):
        number = self.count(expected)
        self.end()
        return number

    def name(self):
        return self._lines.name(self.next())

    def keyword(self, keyword):
        word = self.next()
        if word != keyword.encode():
            self._lines.fail_expected(keyword, word)

    def keyed_count(self, keyword):
        self.keyword(keyword)
        return self.count()

    def path(self):
        """The path behind the word path, up to the end of the line; None if nothing follows."""
        if not self.rest():
            return None
        self.keyword("path")
        return unescaped(self.remaining())
