"""compare_scores.py A B COMPARISON: ends with 0 if the scores in the JSON of osprof compare are those computed here.

Both profiles have one clock rate; A may have the finer resolution. Nothing of osprof is used: earth is moved load by
load, and far, with exact fractions, and the probability of chi-square is summed up term by term.
"""

import json
import math
import sys
from fractions import Fraction


def read_profile(path):
    """{op: (total, buckets)}, and the resolution."""
    ops = {}
    resolution = 1
    name = total = None
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if line.startswith("# resolution:"):
                resolution = int(words[2])
            elif line.startswith("OP_"):
                name, total = words[0][3:], int(words[2])
                ops[name] = (total, [0] * 64 * 8)
            elif line.startswith("JOINT"):
                name = None
            elif line[0] == " " and name and words != ["-"]:
                for bucket, count in enumerate(words):
                    ops[name][1][bucket] += int(count)
    return ops, resolution


def coarsen(ops, factor):
    return {
        name: (total, [sum(buckets[i : i + factor]) for i in range(0, len(buckets), factor)])
        for name, (total, buckets) in ops.items()
    }


def difference_percent(a, b):
    return 100 * abs(a - b) / max(a, b) if max(a, b) else 0


def chi_square_distribution(x, degrees):
    """P(X <= x), from its closed forms: a Poisson sum for even degrees, the error function and a sum for odd ones."""
    if degrees % 2 == 0:
        terms = (k * math.log(x / 2) - math.lgamma(k + 1) - x / 2 if x else -math.inf for k in range(1, degrees // 2))
        return 1 - math.exp(-x / 2) - math.fsum(math.exp(term) for term in terms)
    terms = (
        (k - 0.5) * math.log(x / 2) - math.lgamma(k + 0.5) - x / 2 if x else -math.inf
        for k in range(1, (degrees - 1) // 2 + 1)
    )
    return math.erf(math.sqrt(x / 2)) - math.fsum(math.exp(term) for term in terms)


def chi_square_score(a, b):
    ratio = math.sqrt(sum(b) / sum(a))
    pairs = [(n, m) for n, m in zip(a, b) if n + m]
    if len(pairs) < 2:
        return 0
    chi_square = math.fsum((n * ratio - m / ratio) ** 2 / (n + m) for n, m in pairs)
    return 100 * chi_square_distribution(chi_square, len(pairs) - 1)


def earth_mover_score(a, b, resolution):
    """From the left, each hole is filled from the nearest earth that is left: greedy, and best on a line."""
    earth = [[bucket, Fraction(count, sum(a))] for bucket, count in enumerate(a) if count]
    work = Fraction(0)
    for hole, count in enumerate(b):
        wanted = Fraction(count, sum(b))
        while wanted:
            load = min(wanted, earth[0][1])
            work += load * abs(hole - earth[0][0])
            wanted -= load
            earth[0][1] -= load
            if not earth[0][1]:
                earth.pop(0)
    return float(work / resolution)


NOISE_OCTAVES = Fraction(7, 4)


def quantile(buckets, share):
    """Two: how many buckets up the call is behind which the rest begins, from the left and from the right of share."""
    total, before, found = sum(buckets), 0, []
    for bucket, count in enumerate(buckets):
        if count and before <= share * total <= before + count:
            found.append(bucket + (share * total - before) / Fraction(count))
        before += count
    return found[0], found[-1]


def far_mover_score(a, b, resolution):
    """Between shares at which neither histogram comes to another bucket ways are straight lines: their ends do."""
    shares = {Fraction(sum(buckets[:end]), sum(buckets)) for buckets in (a, b) for end in range(len(buckets) + 1)}
    work = squares = Fraction(0)
    for left, right in zip(sorted(shares), sorted(shares)[1:]):
        start = (quantile(a, left)[1] - quantile(b, left)[1]) / resolution
        end = (quantile(a, right)[0] - quantile(b, right)[0]) / resolution
        for sign in (1, -1):
            rest = [sign * way - NOISE_OCTAVES for way in (start, end)]
            if max(rest) > 0:  # the area of a trapezium, or of the triangle that is above zero
                width = (right - left) * (1 if min(rest) >= 0 else max(rest) / (max(rest) - min(rest)))
                low, middle, high = max(min(rest), 0), (max(min(rest), 0) + max(rest)) / 2, max(rest)
                work += width * middle
                squares += width * (low**2 + 4 * middle**2 + high**2) / 6  # Simpson's rule: exact
    return max(0, float(work) - math.sqrt((squares - work**2) / min(sum(a), sum(b))))


def main():
    (a_ops, a_resolution), (b_ops, b_resolution) = read_profile(sys.argv[1]), read_profile(sys.argv[2])
    resolution = min(a_resolution, b_resolution)
    a_ops = coarsen(a_ops, a_resolution // resolution)
    b_ops = coarsen(b_ops, b_resolution // resolution)
    with open(sys.argv[3], encoding="utf-8") as comparison_file:
        comparison = json.load(comparison_file)
    compared = 0
    wrong = []
    for op in comparison["ops"]:
        a_total, a = a_ops.get(op["op"], (0, []))
        b_total, b = b_ops.get(op["op"], (0, []))
        if sum(a) == 0 or sum(b) == 0:
            continue
        expected = {
            "TOTOPS": difference_percent(sum(a), sum(b)),
            "TOTLAT": difference_percent(a_total, b_total),
            "CHISQUARE": chi_square_score(a, b),
            "EARTHMOVER": earth_mover_score(a, b, resolution),
            "FARMOVER": far_mover_score(a, b, resolution),
        }
        for method, score in expected.items():
            compared += 1
            if not math.isclose(op["scores"][method], score, rel_tol=1e-9, abs_tol=1e-7):
                wrong.append(f"{op['op']} {method}: {op['scores'][method]}, not {score}")
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(bool(wrong) or compared == 0 or {op["op"] for op in comparison["ops"]} != set(a_ops) | set(b_ops))


main()
