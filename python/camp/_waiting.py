"""How long to wait, as callers say it.

A time of another type than a number is a TypeError, by the comparison."""

import time

from camp._errors import Invalid

_LONGEST_S = 10**9  # 31 years: what the system's clocks take for certain


def in_ns(interval: float, name: str = 'interval', unit: str = 's', per_second: int = 1) -> int:
    """An argument that is a time, in ns. Invalid: it is below 0, or no time at all."""
    if not 0 <= interval <= _LONGEST_S * per_second:
        raise Invalid(f'{name}={interval!r}: it is a time in {unit}, 0 or more')
    return round(interval * (10**9 // per_second))


def wait(ns: int) -> None:
    """Sleeps so long; of 0 not at all."""
    if ns > 0:
        time.sleep(ns / 1e9)
