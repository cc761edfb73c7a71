"""Time that a capture method adds to each traced call, measured on this machine."""

import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from headrace.profile.paced_trace import read_paced

CALLS = 1000
LONGEST_S = 20.0


def tracer_cost(wrap: Callable[[list[str], Path], list[str]]) -> float | None:
    """Return seconds per traced call: the median gap between calls of `dd` with blocks of one byte.

    `dd` itself takes far less than a microsecond between two calls. None if it cannot be measured.
    `wrap` returns the command that captures a command in a file.
    """
    with tempfile.TemporaryDirectory(prefix="headrace-profile-") as folder:
        source, target, trace = (Path(folder) / it for it in ("source", "target", "trace.strace"))
        source.write_bytes(bytes(CALLS))
        command = ["dd", f"if={source}", f"of={target}", "bs=1", "status=none"]
        try:
            subprocess.run(
                wrap(command, trace),
                check=True,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LONGEST_S,
            )
            records = read_paced(trace)
        except (OSError, ValueError, subprocess.SubprocessError):
            return None
    small = records.filter(records["size"] == 1)["gap_ns"].to_list()
    return statistics.median(small) / 1e9 if len(small) > CALLS // 2 else None
