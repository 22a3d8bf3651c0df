"""Operations that are made up: a mixture of log-normal modes, and buckets of calls drawn from it."""

import collections
import math

# Share of the calls, median latency in seconds, deviation of the logarithm of latency
Mode = collections.namedtuple("Mode", "share median deviation")


def normal(value):
    return 0.5 * (1 + math.erf(value / math.sqrt(2)))


def poisson(chance, mean):
    """A number of calls."""
    if mean > 50:
        return max(0, round(chance.gauss(mean, math.sqrt(mean))))
    limit, product, count = math.exp(-mean), chance.random(), 0
    while product > limit:
        product *= chance.random()
        count += 1
    return count


def draw_op(chance, calls, modes, hz, resolution):
    """Buckets of calls that go these ways, and their total latency in cycles."""
    buckets, total = collections.Counter(), 0.0
    for share, median, deviation in modes:
        log_median = math.log(median * hz)
        step = math.log(2) / resolution
        first = max(0, int((log_median - 5 * deviation) / step))
        last = min(64 * resolution - 1, int((log_median + 5 * deviation) / step))
        lower = (first * step - log_median) / deviation
        below, weight_below = normal(lower), normal(lower - deviation)
        for bucket in range(first, last + 1):
            upper = ((bucket + 1) * step - log_median) / deviation
            above, weight_above = normal(upper), normal(upper - deviation)
            if above > below:
                count = poisson(chance, calls * share * (above - below))
                mean = math.exp(log_median + deviation ** 2 / 2) * (weight_above - weight_below) / (above - below)
                mean = min(max(mean, math.exp(bucket * step)), math.exp((bucket + 1) * step))
                if count:
                    buckets[bucket] += count
                    total += count * mean
            below, weight_below = above, weight_above
    return buckets, round(total)


def vary_shares(chance, modes):
    """The same ways, not taken equally often on each host."""
    weights = [mode.share * math.exp(chance.gauss(0, 0.2 if mode.share < 0.5 else 0)) for mode in modes]
    return [mode._replace(share=weight / sum(weights)) for mode, weight in zip(modes, weights)]
