#!/usr/bin/env python3
"""Draws the latencies of an operation over time, as a picture: time to the right, latency upwards, calls as colour.

    osprof run --interval 100ms --resolution 4 -o result -- make
    python/examples/heatmap.py result READ heatmap.png

Takes python3-matplotlib.
"""

import argparse

import matplotlib

matplotlib.use("Agg")

import matplotlib.colors  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402

import osprof  # noqa: E402


def table(intervals, buckets):
    """Calls by bucket and interval."""
    return [[interval.counts.get(bucket, 0) for interval in intervals] for bucket in buckets]


def draw(profile, name, picture):
    intervals = profile.intervals(name)
    scale = profile.scale
    bounds_of = scale.seconds if scale.frequency_hz else float
    used = list(profile.operations[name].counts)
    buckets = range(used[0], used[-1] + 1)
    times = [0] + [bounds_of(interval.end_cycles) for interval in intervals]
    # Bucket 0 begins at 0, which a logarithmic axis does not have: it is drawn from half a cycle on.
    latencies = [bounds_of(max(scale.lower_cycles(bucket), 0.5)) for bucket in (*buckets, buckets[-1] + 1)]
    figure, axes = plt.subplots(figsize=(8, 4.5), constrained_layout=True)
    mesh = axes.pcolormesh(times, latencies, table(intervals, buckets), norm=matplotlib.colors.LogNorm(vmin=1))
    figure.colorbar(mesh, label="calls")
    axes.set_yscale("log")
    unit = "s" if scale.frequency_hz else "cycles"
    axes.set(title=f"{name}: latency over time", xlabel=f"time [{unit}]", ylabel=f"latency [{unit}]")
    figure.savefig(picture, dpi=120)


def main():
    parser = argparse.ArgumentParser(description="Draws the latencies of an operation over time.")
    parser.add_argument("profile", help="with intervals (osprof run --interval 100ms)")
    parser.add_argument("operation", help="such as READ")
    parser.add_argument("picture", help="a file to write, PNG, SVG or PDF by its name")
    parser.add_argument("--layer", help="of a recording: which layer")
    arguments = parser.parse_args()
    try:
        profile = osprof.load(arguments.profile, arguments.layer)
    except (osprof.FormatError, OSError) as error:
        parser.error(str(error))
    except KeyError:
        parser.error(f"{arguments.profile} has no layer {arguments.layer}")
    operation = profile.operations.get(arguments.operation)
    if operation is None or not operation.finished:
        names = ", ".join(profile.operations)
        parser.error(f"{arguments.profile} has no calls of {arguments.operation}; there are: {names}")
    if not profile.interval_cycles:
        parser.error(f"{arguments.profile} has no intervals; record it with -o interval=100ms")
    draw(profile, arguments.operation, arguments.picture)


if __name__ == "__main__":
    main()
