"""Profiles as far as the capture has to know them: the text of osprof(5)."""

import math

# Of the machine that captured them, and of no use to a comparison
PRIVATE_KEYS = ("host", "lower", "mount", "profile", "control", "start")


def anonymous(text, lower):
    """The text without names and paths of this machine; lower is what to call the lower file system."""
    lines = []
    for line in text.splitlines():
        key = line[2:].partition(":")[0] if line.startswith("# ") else None
        if key == "process":
            break
        if key == "lower":
            lines.append(f"# lower: {lower}")
        elif key not in PRIVATE_KEYS:
            lines.append(line)
    return "\n".join(lines) + "\n"


def read(text):
    """{op: [calls per bucket]} of a complete profile."""
    ops = {}
    name = None
    for line in text.splitlines():
        if line.startswith("OP_"):
            name = line.split()[0][3:]
        elif line.startswith(" ") and name:
            ops[name] = [int(word) for word in line.split()]
    return ops


def totals(text):
    """{op: (calls, total cycles)}"""
    rows = (line.split() for line in text.splitlines() if line.startswith("OP_"))
    return {row[0][3:]: (int(row[1]), int(row[2])) for row in rows}


def frequency_hz(text):
    line = next(line for line in text.splitlines() if line.startswith("# clock:"))
    return int(line.split()[3])


def median_cycles(buckets):
    """At resolution 1. Calls of a bucket are taken to be spread evenly over the logarithm."""
    half = sum(buckets) / 2
    for bucket, calls in enumerate(buckets):
        if half <= calls:
            return math.exp2(bucket + half / calls)
        half -= calls
    raise ValueError("no calls")
