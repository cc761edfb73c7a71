"""InfiniBand ports (Linux, Documentation/ABI/stable/sysfs-class-infiniband)."""

from headrace.profile.counters.source import (
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    naturals,
    open_file,
    per_second,
    with_prefix,
)

NAME = "infiniband"
UNIT = 4
"""Bytes of a unit of the data counters."""
FILES = ("port_rcv_data", "port_xmit_data")


def _open(watched: Watched) -> Read | None:
    ports = {}
    for counters in sorted((watched.sys / "class" / "infiniband").glob("*/ports/*/counters")):
        files = [open_file(counters / name) for name in FILES]
        there = [file for file in files if file is not None]
        if len(there) == len(FILES):
            ports[f"{counters.parts[-4]}:{counters.parts[-2]}"] = there

    def read() -> Raw:
        raw: Raw = {}
        for name, files in ports.items():
            values = naturals(file.read() for file in files)
            if values is None:
                watched.left_out[NAME] += 1
            else:
                raw[name] = values
        return raw

    return read if ports else None


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return the throughput of each port."""
    columns: Columns = {}
    for name, now in after.items():
        if (then := before.get(name)) is None:
            continue
        received, sent = (per_second(a, b, seconds) for a, b in zip(then, now, strict=True))
        columns |= with_prefix(
            f"infiniband.{name}",
            {
                "receive_bytes_per_s": None if received is None else UNIT * received,
                "send_bytes_per_s": None if sent is None else UNIT * sent,
            },
        )
    return columns


SOURCE = Source(NAME, _open, rates)
