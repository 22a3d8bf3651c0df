"""Pairs of profiles that are made up: a mixture of peaks, and another draw of it, as it is or with one known change.

A call's latency is drawn from one of one to three log-normal peaks. Peaks lie at least three octaves apart, so that each
is one; each has at least 3 % of the calls.
"""

import collections
import math
import random
import tempfile
from dataclasses import dataclass, replace

import rates
from corpus import comparison
from tables import table

HZ = 1_000_000_000
CALLS = (2_000, 100_000)
FIRST_OCTAVES = (9.0, 14.0)  # where the fastest peak lies: 0.5 to 16 µs
APART_OCTAVES = (3.0, 6.0)
WIDTH_OCTAVES = (0.2, 0.8)  # standard deviation
SHARE_MIN = 0.03
OCTAVES_MAX = 50


@dataclass(frozen=True)
class Peak:
    share: float
    centre: float  # log2 of cycles
    width: float


# ---- Mixtures, and what may change in them ----

def _mixture(chance, least_peaks=1):
    count = chance.randint(least_peaks, 3)
    weights = [chance.random() for _ in range(count)]
    centre, peaks = chance.uniform(*FIRST_OCTAVES), []
    for weight in weights:
        share = SHARE_MIN + (1 - count * SHARE_MIN) * weight / sum(weights)
        peaks.append(Peak(share, centre, chance.uniform(*WIDTH_OCTAVES)))
        centre += chance.uniform(*APART_OCTAVES)
    return peaks


def _moved(peak, octaves):
    return replace(peak, centre=peak.centre + octaves)


def one_moved(chance):
    peaks = _mixture(chance)
    at, octaves = chance.randrange(len(peaks)), chance.choice((-2.5, 2.5))
    return peaks, [_moved(peak, octaves) if place == at else peak for place, peak in enumerate(peaks)]


def all_moved(chance):
    peaks = _mixture(chance)
    return peaks, [_moved(peak, 2) for peak in peaks]


def slow_mode(chance):
    peaks, share = _mixture(chance), chance.uniform(0.02, 0.06)
    slow = Peak(share, peaks[-1].centre + 6, chance.uniform(*WIDTH_OCTAVES))
    return peaks, [replace(peak, share=peak.share * (1 - share)) for peak in peaks] + [slow]


def slowest_gone(chance):
    peaks = _mixture(chance, least_peaks=2)
    return peaks, [replace(peak, share=peak.share / (1 - peaks[-1].share)) for peak in peaks[:-1]]


def nothing(chance):
    peaks = _mixture(chance)
    return peaks, peaks


KINDS = {
    "one peak moved by 2.5 octaves": one_moved,
    "all peaks moved by 2 octaves": all_moved,
    "2 to 6 % of the calls six octaves slower": slow_mode,
    "the slowest peak gone": slowest_gone,
    "nothing: other random numbers": nothing,
}


# ---- Profiles ----

def _write(path, peaks, calls, chance):
    buckets, total = [0] * 64, 0
    drawn = collections.Counter(chance.choices(range(len(peaks)), [peak.share for peak in peaks], k=calls))
    for place, count in drawn.items():
        for _ in range(count):
            latency = 2 ** min(OCTAVES_MAX, max(0, chance.gauss(peaks[place].centre, peaks[place].width)))
            buckets[int(latency).bit_length() - 1] += 1
            total += int(latency)
    with open(path, "w", encoding="ascii") as profile:
        profile.write(f"# osprof 1\n# layer: fs\n# clock: tsc {HZ} Hz\n# resolution: 1\n"
                      f"OP_READ {calls} {total}\n {' '.join(map(str, buckets))}\n")


def _in_words(peaks):
    return " + ".join(f"{100 * peak.share:.0f} % at {peak.centre:.1f} ±{peak.width:.1f}" for peak in peaks)


def _is_told_right(osprof, scratch, kind, chance):
    """(whether it is, which pair it was)"""
    calls = round(2 ** chance.uniform(*(math.log2(limit) for limit in CALLS)))
    before, after = KINDS[kind](chance)
    sides = [f"{scratch}/{side}" for side in ("a", "b")]
    for path, peaks in zip(sides, (before, after)):
        _write(path, peaks, calls, chance)
    is_different = comparison(osprof, *sides)["ops"][0]["different"]
    return is_different == (before is not after), f"{kind}: {calls} calls, {_in_words(before)}; then {_in_words(after)}"


def synthetic(options, osprof):
    rows, wrong = [], []
    with tempfile.TemporaryDirectory(prefix="osproffs-accuracy.") as scratch:
        for kind, make in KINDS.items():
            chance = random.Random(f"{options.seed} {kind}")
            told = [_is_told_right(osprof, scratch, kind, chance) for _ in range(options.pairs)]
            right = rates.Rate(sum(is_right for is_right, _ in told), options.pairs)
            rows.append((kind, "same" if make is nothing else "different", right))
            wrong += [f"  {pair}" for is_right, pair in told if not is_right]
    print(table(("what changes", "is", "told so"), rows) + "\n")
    print("Told wrongly:", *wrong or ["  none"], sep="\n")
    return 0
