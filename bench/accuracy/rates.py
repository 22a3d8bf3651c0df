"""How often a method is wrong: counts, rates and how sure they are."""

import collections
import math
import random
from dataclasses import dataclass

Z_95 = 1.959964


def wilson_percent(share, count):
    """95 % interval of a share seen in so many cases that have nothing to do with each other, after Wilson."""
    z2n = Z_95 ** 2 / count
    middle = (share + z2n / 2) / (1 + z2n)
    half = Z_95 * math.sqrt(share * (1 - share) / count + z2n / count / 4) / (1 + z2n)
    return max(0.0, 100 * (middle - half)), min(100.0, 100 * (middle + half))


def upper_percent(hits, count):
    """The share that is exceeded in 95 % of the cases where so many of count were seen: exact, of one side."""
    low, high = hits / count, 1.0
    while high - low > 1e-6:
        share = (low + high) / 2
        at_most = sum(math.exp(math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
                               + k * math.log(share) + (count - k) * math.log1p(-share)) for k in range(hits + 1))
        low, high = (share, high) if at_most > 0.05 else (low, share)
    return 100 * high


def bounded(hits, count):
    """How many of how many, and what that bounds the rate to."""
    return f"{hits} of {count}: below {math.ceil(10 * upper_percent(hits, count)) / 10:.1f} %"


@dataclass(frozen=True)
class Rate:
    wrong: int
    count: int

    @property
    def percent(self):
        return 100 * self.wrong / self.count if self.count else 0.0

    def interval_percent(self):
        return wilson_percent(self.wrong / self.count, self.count) if self.count else (0.0, 100.0)

    def __str__(self):
        low, high = self.interval_percent()
        return f"{self.wrong} of {self.count}, {self.percent:.1f} % ({low:.1f}–{high:.1f})"


@dataclass(frozen=True)
class Errors:
    false_positives: Rate
    false_negatives: Rate

    @property
    def worse_percent(self):
        return max(self.false_positives.percent, self.false_negatives.percent)


def errors_of(verdicts):
    """verdicts: [(labelled different, found different)]"""
    same = [found for labelled, found in verdicts if not labelled]
    different = [found for labelled, found in verdicts if labelled]
    return Errors(Rate(sum(same), len(same)), Rate(len(different) - sum(different), len(different)))


def resampled_percent(items, is_wrong, rounds=2000):
    """95 % of a rate, from the 2.5th to the 97.5th percentile: the runs' pairs are drawn anew so many times, each with
    all its ops, since those share their noise. items: Scored"""
    pairs = collections.defaultdict(list)
    for item in items:
        pairs[item.pair.a, item.pair.b].append(bool(is_wrong(item)))
    counts = [(sum(wrong), len(wrong)) for wrong in pairs.values()]
    chance = random.Random(1)
    rates = []
    for _ in range(rounds):
        drawn = chance.choices(counts, k=len(counts))
        rates.append(100 * sum(wrong for wrong, _ in drawn) / sum(count for _, count in drawn))
    rates.sort()
    return rates[rounds // 40], rates[-1 - rounds // 40]


def errors_at(scored, method, threshold):
    return errors_of([(item.is_labelled_different, item.scores[method] > threshold) for item in scored])


def errors_of_verdicts(scored):
    return errors_of([(item.is_labelled_different, item.is_different) for item in scored])


def best_thresholds(labelled_scores):
    """Where the larger of both error rates is least: from which threshold (included) to which (not included), and that
    rate in percent. labelled_scores: [(labelled different, score)]"""
    scores = sorted({0.0} | {score for _, score in labelled_scores})
    rates = [errors_of([(labelled, score > threshold) for labelled, score in labelled_scores]).worse_percent
             for threshold in scores]
    least = min(rates)
    first = rates.index(least)
    last = first
    while last + 1 < len(rates) and rates[last + 1] == least:
        last += 1
    return scores[first], scores[last + 1] if last + 1 < len(scores) else math.inf, least
