"""JSON documents: reading them with limits, and taking their values with checks.

Members that are not known are skipped: newer versions of osprof may write more.
"""

import dataclasses
import json
import math
import typing

from .distribution import COUNT_MAX
from .errors import FormatError, shown
from .files import read_all

DOCUMENT_BYTES_MAX = 256 << 20
_COUNT_DIGITS_MAX = 24  # the largest sums of counts that osprof writes have fewer


def _whole(text):
    if len(text) > _COUNT_DIGITS_MAX:
        raise ValueError(f"expected numbers of at most {_COUNT_DIGITS_MAX} digits")
    return int(text)


def _real(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("expected finite numbers")
    return number


def _refuse_constant(text):
    raise ValueError(f"expected a number, found {text}")


def read_document(stream, file):
    """The whole document, an object, as a Value. Errors: FormatError"""
    text = read_all(stream, file, DOCUMENT_BYTES_MAX)
    try:
        document = json.loads(
            text.decode("utf-8"), parse_int=_whole, parse_float=_real, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}"
        raise FormatError(file, place, f"expected JSON: {error.msg}", error.lineno) from None
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise FormatError(file, f"line {line}", "expected JSON, which is UTF-8", line) from None
    except ValueError as error:
        raise FormatError(file, "", str(error)) from None
    except RecursionError:
        raise FormatError(file, "", "expected JSON that is less deeply nested") from None
    value = Value(document, "", file)
    value.members()
    return value


class Value:
    """A value in a document, and its place there, such as "ops[3].calls"."""

    def __init__(self, value, place, file):
        self.value = value
        self.place = place
        self.file = file

    def fail(self, expected):
        found = self.value if isinstance(self.value, (str, int, float)) else type(self.value).__name__
        raise FormatError(self.file, self.place, f"expected {expected}, found {shown(repr(found))}")

    def members(self):
        if not isinstance(self.value, dict):
            self.fail("an object")
        return self.value

    def keys(self):
        return list(self.members())

    def get(self, key):
        """The member of that name; None if there is none."""
        members = self.members()
        place = f"{self.place}.{key}" if self.place else key
        return Value(members[key], place, self.file) if key in members else None

    def need(self, key):
        member = self.get(key)
        if member is None:
            raise FormatError(self.file, self.place, f'expected a member "{key}"')
        return member

    def __iter__(self):
        """The elements of an array."""
        if not isinstance(self.value, list):
            self.fail("an array")
        return (Value(element, f"{self.place}[{number}]", self.file) for number, element in enumerate(self.value))

    def count(self, most=COUNT_MAX, least=0):
        if type(self.value) is not int or not least <= self.value <= most:
            self.fail(f"a whole number from {least} to {'2^64 - 1' if most == COUNT_MAX else most}")
        return self.value

    def whole(self):
        """As a count, but sums of counts may be larger."""
        if type(self.value) is not int or self.value < 0:
            self.fail("a whole number of at least 0")
        return self.value

    def real(self):
        if type(self.value) not in (int, float):
            self.fail("a number")
        return float(self.value)

    def flag(self):
        if not isinstance(self.value, bool):
            self.fail("true or false")
        return self.value

    def text(self):
        if not isinstance(self.value, str):
            self.fail("a text")
        return self.value

    def one_of(self, values):
        if isinstance(self.value, bool) or not isinstance(self.value, (str, int)) or self.value not in values:
            self.fail(" or ".join(str(value) for value in values))
        return self.value


def take(parent, key, method):
    """What that method of a member returns; None if there is no such member."""
    member = parent.get(key)
    return None if member is None else method(member)


def _take_of_type(value, kind):
    arguments = typing.get_args(kind)
    if typing.get_origin(kind) is typing.Union:
        return _take_of_type(value, arguments[0])
    if typing.get_origin(kind) is list:
        return [_take_of_type(element, arguments[0]) for element in value]
    if typing.get_origin(kind) is dict:
        return {key: _take_of_type(value.get(key), arguments[1]) for key in value.keys()}
    if dataclasses.is_dataclass(kind):
        return take_object(value, kind)
    return {int: Value.whole, float: Value.real, bool: Value.flag, str: Value.text}[kind](value)


def take_object(value, kind, **fields):
    """An object as a dataclass whose fields are named as the members are. Those that have a default may be missing. fields:
    those that are no members"""
    types = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if field.name in fields:
            continue
        is_optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        name = field.metadata.get("member", field.name)
        member = value.get(name) if is_optional else value.need(name)
        if member is not None:
            fields[field.name] = _take_of_type(member, types[field.name])
    return kind(**fields)
