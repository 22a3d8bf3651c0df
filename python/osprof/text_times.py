"""Times in UTC as profiles write them: 2026-11-21T02:30:00.123456789Z."""

import calendar
import datetime
import re

_TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?Z")


def unix_ns(text):
    """Nanoseconds since 1970; None if the text is no such time."""
    match = _TIME.fullmatch(text)
    if not match:
        return None
    try:
        moment = datetime.datetime(*(int(part) for part in match.groups()[:6]))
    except ValueError:
        return None
    number = calendar.timegm(moment.timetuple()) * 10**9 + int((match[7] or "").ljust(9, "0"))
    return number if -(2**63) <= number < 2**63 else None
