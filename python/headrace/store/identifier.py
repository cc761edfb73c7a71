"""Identifiers of results: short, and sorted by creation time."""

import re
import secrets
from datetime import datetime

DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32, as in ULIDs: no letter looks like another or like a digit."""
TIME = 9
"""Digits for milliseconds since 1970: enough until the year 3084."""
CHANCE = 5
"""Digits drawn at random: of two results in one millisecond, one in 33 million pairs agree."""
LENGTH = TIME + CHANCE
PATTERN = re.compile(f"[{DIGITS}]{{{LENGTH}}}")


def new_identifier(started: datetime) -> str:
    """Return a new identifier for a start time."""
    time = max(0, int(started.timestamp() * 1000))
    return _digits(time, TIME) + _digits(secrets.randbits(5 * CHANCE), CHANCE)


def _digits(number: int, count: int) -> str:
    return "".join(DIGITS[number >> 5 * place & 31] for place in reversed(range(count)))
