"""Means and ratios with their intervals of 95 %.

The mean of n samples has the interval mean ± t s / sqrt(n) (Student), as in the paper. A ratio of two
quantities that were measured in turn is the median of the ratios of neighbours: a drift over minutes is in
both measurements of a pair and cancels, and a disturbance of one pair moves the median by one place at
most. The median's interval is between two of the sorted ratios, whatever their distribution: the
probability that it misses the true median is that of nearly equal results in n throws of a coin.
"""

import math
import statistics

CONFIDENCE = 0.95


def student_t(freedom):
    """Returns t of a two-sided interval of 95 % by Cornish and Fisher's expansion: 1 % off at 3 degrees of
    freedom, less above."""
    z = statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    terms = (z, (z**3 + z) / 4, (5 * z**5 + 16 * z**3 + 3 * z) / 96,
             (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384)
    return sum(term / freedom**power for power, term in enumerate(terms))


def mean(samples):
    """Returns {"mean", "low", "high", "count"}; low and high are None for fewer than 4 samples."""
    middle = statistics.fmean(samples)
    found = {"mean": middle, "low": None, "high": None, "count": len(samples)}
    if len(samples) >= 4:
        half = student_t(len(samples) - 1) * statistics.stdev(samples) / math.sqrt(len(samples))
        found |= {"low": middle - half, "high": middle + half}
    return found


def half_width(found):
    return 0.0 if found["low"] is None else (found["high"] - found["low"]) / 2


def outside(count):
    """Returns how many of `count` sorted values are below the median's interval, and as many above it; None:
    fewer than 6 values have no interval."""
    chance, number = 0.0, 0
    while True:
        chance += 2 * math.comb(count, number) / 2**count
        if chance > 1 - CONFIDENCE:
            return number - 1 if number > 0 else None
        number += 1


def ratio(pairs):
    """Returns {"median", "low", "high", "count"} of the ratios a / b of (a, b) pairs."""
    ratios = sorted(a / b for a, b in pairs)
    found = {"median": statistics.median(ratios), "low": None, "high": None, "count": len(ratios)}
    left_out = outside(len(ratios))
    if left_out is not None:
        found |= {"low": ratios[left_out], "high": ratios[-1 - left_out]}
    return found
