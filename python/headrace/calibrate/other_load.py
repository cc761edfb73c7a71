"""Load by other programs while a calibration measures."""

import os
import time
from collections.abc import Sequence

import psutil

from headrace._core import RunError
from headrace.measure.report import ResultWarning

MOST = 0.2
"""Largest share of the processors that others may use. Declared default: beside a compiler on one
of two processors, intervals reached a factor of 13 each way."""
LOOK_S = 1.0
"""Time for which the load is measured before a calibration, in seconds."""
CONDITION = "busy-machine"


class OtherLoad:
    """Measures the share of the processors that other programs use.

    Counted are their user time and the time that a hypervisor withholds. System time is not: the
    kernel writes back, and serves loop devices, on behalf of the measured process.
    """

    def __init__(self) -> None:
        self._before = _times()

    def share(self) -> float:
        """Return the share since the last call, or since the start; 0 to 1."""
        now = _times()
        whole, others = (after - before for after, before in zip(now, self._before, strict=True))
        self._before = now
        return min(max(others / whole, 0.0), 1.0) if whole > 0 else 0.0


def _times() -> tuple[float, float]:
    """Return the time of all processors so far, and that of other programs, in seconds."""
    processors, own = psutil.cpu_times(), os.times()
    # A guest's time is part of the user time.
    counted = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    whole = sum(float(getattr(processors, name, 0.0)) for name in counted)
    others = processors.user + processors.nice + getattr(processors, "steal", 0.0)
    return whole, others - own.user - own.children_user


def check_idle() -> None:
    """Check that the machine is idle enough for a calibration.

    Raises
    ------
    RunError
        If other programs use more than `MOST` of the processors.
    """
    load = OtherLoad()
    time.sleep(LOOK_S)
    share = load.share()
    if share > MOST:
        raise RunError(
            f"other programs use {share:.0%} of the processors: a calibration needs a machine of"
            f" which they use at most {MOST:.0%}: end them, or calibrate all the same with --busy"
        )


def describe(shares: Sequence[float]) -> str:
    """Return a sentence about the shares of each round."""
    least, most = min(shares), max(shares)
    span = f"{most:.0%}" if f"{least:.0%}" == f"{most:.0%}" else f"{least:.0%} to {most:.0%}"
    return f"Other programs used {span} of the processors during the rounds."


def busy_warnings(shares: Sequence[float]) -> list[ResultWarning]:
    """Return a warning if others used more than `MOST` of the processors in a round."""
    busy = sum(share > MOST for share in shares)
    if not busy:
        return []
    message = (
        f"other programs used up to {max(shares):.0%} of the processors, in {busy} of"
        f" {len(shares)} rounds more than {MOST:.0%}: predictions from this calibration are"
        " uncertain, and it should be repeated on an idle machine"
    )
    return [ResultWarning(CONDITION, message)]
