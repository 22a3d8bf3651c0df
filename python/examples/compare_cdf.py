#!/usr/bin/env python3
"""Draws the distribution of an operation's latencies in two profiles: the share of calls that took at most so long.

    python/examples/compare_cdf.py before after READ cdf.png

Takes python3-matplotlib.
"""

import argparse
import itertools

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402

import osprof  # noqa: E402


def steps(operation):
    """Latencies in seconds, and the share of calls below each: exact at the bounds of buckets."""
    buckets = operation.histogram
    below = itertools.accumulate(bucket.count for bucket in buckets)
    latencies = [max(buckets[0].lower_seconds, operation.scale.seconds(0.5))]
    latencies += [bucket.upper_seconds for bucket in buckets]
    return latencies, [0] + [count / operation.finished for count in below]


def draw(operations, name, picture):
    figure, axes = plt.subplots(figsize=(8, 4.5), constrained_layout=True)
    for label, operation in operations.items():
        latencies, shares = steps(operation)
        median = operation.percentile(0.5).seconds
        axes.plot(latencies, shares, label=f"{label}: {operation.finished} calls, median {median:.3g} s")
    axes.set_xscale("log")
    axes.set(title=name, xlabel="latency [s]", ylabel="share of calls", ylim=(0, 1.02))
    axes.legend()
    figure.savefig(picture, dpi=120)


def main():
    parser = argparse.ArgumentParser(description="Draws the distribution of an operation's latencies in two profiles.")
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("operation", help="such as READ")
    parser.add_argument("picture", help="a file to write, PNG, SVG or PDF by its name")
    parser.add_argument("--layer", help="of recordings: which layer")
    arguments = parser.parse_args()
    operations = {}
    for letter, name in (("A", arguments.a), ("B", arguments.b)):
        try:
            profile = osprof.load(name, arguments.layer)
        except (osprof.FormatError, OSError) as error:
            parser.error(str(error))
        except KeyError:
            parser.error(f"{name} has no layer {arguments.layer}")
        operation = profile.operations.get(arguments.operation)
        if operation is None or not operation.finished:
            parser.error(f"{name} has no calls of {arguments.operation}; there are: {', '.join(profile.operations)}")
        if not profile.frequency_hz:
            parser.error(f"{name} does not tell its clock's rate")
        operations[letter] = operation
    draw(operations, arguments.operation, arguments.picture)


if __name__ == "__main__":
    main()
