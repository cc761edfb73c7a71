"""Times as pages show them."""

from datetime import datetime


def local_time(seconds: float) -> str:
    """Return a time in seconds since the epoch as date and time of the server's time zone."""
    return f"{datetime.fromtimestamp(seconds).astimezone():%Y-%m-%d %H:%M:%S}"
