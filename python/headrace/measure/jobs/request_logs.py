"""Logs of requests in fio's files and format: `NAME_bw.JOB.log`, `NAME_iops…`, `NAME_clat…`."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from headrace.files import atomic_file
from headrace.jobs.plan import Log
from headrace.measure.jobs.report import LoggedRequest

MILLISECOND = 1_000_000
"""Nanoseconds."""
WORDS = {"bw": ("bw",), "iops": ("iops",), "lat": ("lat", "clat")}
"""Kinds of files of each kind of log."""
Row = tuple[int, int, int, int, int]
"""Milliseconds, value, direction, bytes and offset."""


def write_logs(
    logs: Sequence[Log], requests: Mapping[str, Sequence[Sequence[LoggedRequest]]]
) -> list[Path]:
    """Write the logs of jobs, one file for each process, and return their paths.

    Raises OSError if one cannot be written.
    """
    written: list[Path] = []
    number = 0
    for log in logs:
        for process in requests.get(log.name, ()):
            number += 1
            for kind, prefix in log.kinds:
                for word in WORDS[kind]:
                    path = Path(f"{prefix}_{word}.{number}.log")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with atomic_file(path) as partial:
                        lines = (
                            ", ".join(map(str, row)) + ", 0\n"
                            for row in rows(process, kind, log.milliseconds)
                        )
                        partial.write_text("".join(lines), encoding="utf-8")
                    written.append(path)
    return written


def rows(requests: Sequence[LoggedRequest], kind: str, milliseconds: int) -> Iterator[Row]:
    """Yield the rows of a log: each request, or means over windows of some milliseconds.

    Bandwidth in KiB/s, latency in ns; of a single request, its size over its latency.
    """
    own = sorted(request for request in requests if request.kind < 2)
    if not milliseconds:
        for each in own:
            value = {
                "bw": each.bytes * 10**9 // 1024 // max(each.latency, 1),
                "iops": 1,
                "lat": each.latency,
            }[kind]
            yield each.ended // MILLISECOND, value, each.kind, each.bytes, each.offset
        return
    windows: dict[tuple[int, int], list[LoggedRequest]] = {}
    for each in own:
        key = (each.ended // (milliseconds * MILLISECOND), each.kind)
        windows.setdefault(key, []).append(each)
    for (window, way), together in sorted(windows.items()):
        amount = len(together)
        value = {
            "bw": sum(each.bytes for each in together) * 1000 // 1024 // milliseconds,
            "iops": amount * 1000 // milliseconds,
            "lat": sum(each.latency for each in together) // amount,
        }[kind]
        yield (window + 1) * milliseconds, value, way, 0, 0
