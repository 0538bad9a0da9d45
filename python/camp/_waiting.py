"""Times to wait, as callers pass them.

A time that is not a number raises TypeError in the comparison."""

import time

from camp._errors import Invalid

_LONGEST_S = 10**9  # 31 years, which the system's clocks allow


def in_ns(interval: float, name: str = 'interval', unit: str = 's', per_second: int = 1) -> int:
    """Returns a time that a caller passed, in ns. Invalid: it is below 0, NaN or too long."""
    if not 0 <= interval <= _LONGEST_S * per_second:
        raise Invalid(f'{name}={interval!r}: it is a time in {unit}, 0 or more')
    return round(interval * (10**9 // per_second))


def time_between(interval: float, instead: str) -> int:
    """Returns an interval between two readings in ns, like in_ns(). Invalid: it is 0; `instead` says what to call."""
    ns = in_ns(interval)
    if ns == 0:
        raise Invalid(f'interval={interval!r}: no time lies between the two readings; {instead}')
    return ns


def wait(ns: int) -> None:
    """Sleeps for this time, if it is not 0."""
    if ns > 0:
        time.sleep(ns / 1e9)
