"""The little statistics that a comparison of medians needs."""

import math
import statistics
from dataclasses import dataclass

# Student's t, two-sided 95 %, by degrees of freedom from 1
T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
        2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
T_95_MANY = 1.960


@dataclass(frozen=True)
class Summary:
    median: float
    low: float  # smallest
    high: float  # largest
    quartile_low: float
    quartile_high: float
    count: int


def summary(values):
    """None if there are no values."""
    values = [value for value in values if value is not None]
    if not values:
        return None
    quartiles = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return Summary(statistics.median(values), min(values), max(values), quartiles[0], quartiles[2], len(values))


def mean_with_confidence(values):
    """The mean and the half-width of its 95 % confidence interval; the latter None for fewer than 2 values."""
    mean = statistics.fmean(values)
    if len(values) < 2:
        return mean, None
    degrees = len(values) - 1
    t = T_95[degrees - 1] if degrees <= len(T_95) else T_95_MANY
    return mean, t * statistics.stdev(values) / math.sqrt(len(values))


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))
