"""FARMOVER for any amount of noise: osprof has it for one, which is chosen by this."""

import math


def _spans(buckets):
    """[(share of the calls before, share up to its end, bucket)] of those that have calls."""
    finished = sum(buckets)
    spans = []
    before = 0
    for bucket, calls in enumerate(buckets):
        if calls:
            spans.append((before / finished, (before + calls) / finished, bucket))
            before += calls
    return spans


def _place(span, share):
    share_from, share_to, bucket = span
    return bucket + (share - share_from) / (share_to - share_from)


def _line_above_zero(share, one, other):
    """Of a straight line over so large a share: the integral of what is above zero, and of its square."""
    lower, higher = min(one, other), max(one, other)
    if higher <= 0:
        return 0.0, 0.0
    if lower < 0:
        share *= higher / (higher - lower)
        lower = 0.0
    return share * (lower + higher) / 2, share * (lower * lower + lower * higher + higher * higher) / 3


def far_mover(a, b, noise_octaves, standard_errors=1.0):
    """Of two lists of calls per bucket, at resolution 1: how far calls have moved on the average, the first so many
    octaves of each way not counted, less so many standard errors of it."""
    a_spans, b_spans = _spans(a), _spans(b)
    i = j = 0
    share = ways = squares = 0.0
    while i < len(a_spans) and j < len(b_spans):
        share_to = min(a_spans[i][1], b_spans[j][1])
        if share_to > share:
            way_from = _place(a_spans[i], share) - _place(b_spans[j], share)
            way_to = _place(a_spans[i], share_to) - _place(b_spans[j], share_to)
            for sign in (1, -1):
                far_from, far_to = sign * way_from - noise_octaves, sign * way_to - noise_octaves
                way, square = _line_above_zero(share_to - share, far_from, far_to)
                ways += way
                squares += square
        share = share_to
        a_ends, b_ends = a_spans[i][1] <= share, b_spans[j][1] <= share
        i += a_ends
        j += b_ends
    variance = max(0.0, squares - ways * ways)
    return max(0.0, ways - standard_errors * math.sqrt(variance / min(sum(a), sum(b))))
