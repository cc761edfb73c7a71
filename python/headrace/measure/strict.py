"""Measurements that are complete or raise an error."""

import signal
from os import PathLike

from headrace._core import RunError
from headrace.measure.benchmark import measure
from headrace.measure.measurement import Measurement
from headrace.measure.removal import cleanup_failures
from headrace.measure.workload import load


def measure_strict(
    text: str, below: str | PathLike[str], *, calls: str = "posix", settle: float = 0.0
) -> Measurement:
    """Run the scenario in a text to its end.

    Raises as `headrace.measure.measure` does, RunError if an operation fails, and KeyboardInterrupt
    or the exception of a signal, even if it arrived late. Notes of the exception name directories
    that were not removed.
    """
    measurement = measure(load(text), below, calls=calls, settle=settle)
    try:
        if measurement.stop_signal is not None:
            signal.raise_signal(measurement.stop_signal)
        if measurement.document["stop"]["reason"] == "interrupted":
            raise KeyboardInterrupt
        if measurement.partial:
            raise RunError(measurement.document["error"])
    except BaseException as error:
        for message in cleanup_failures(measurement.document):
            error.add_note(message)
        raise
    return measurement
