"""A control group (Linux, Documentation/admin-guide/cgroup-v2.rst)."""

from collections import Counter

from headrace.profile.counters.source import (
    Columns,
    Raw,
    Read,
    Source,
    Watched,
    as_text,
    naturals,
    open_file,
    per_second,
    with_prefix,
)

NAME = "cgroup"
TIMES = ("user_usec", "system_usec", "throttled_usec")
AMOUNTS = {"anon": "memory_bytes", "file": "cached_bytes", "file_dirty": "dirty_bytes"}
AMOUNTS |= {"file_writeback": "write_back_bytes"}
TRANSFERS = {
    "rbytes": "read_bytes_per_s",
    "wbytes": "write_bytes_per_s",
    "rios": "reads_per_s",
    "wios": "writes_per_s",
}


def parse_pairs(text: bytes, left_out: Counter[str]) -> Raw:
    """Return the lines `name number` of cpu.stat and memory.stat."""
    raw: Raw = {}
    for line in text.splitlines():
        words = line.split()
        values = naturals(words[1:])
        if values is None or len(values) != 1:
            left_out[NAME] += 1
        else:
            raw[as_text(words[0])] = values[0]
    return raw


def parse_transfers(text: bytes, left_out: Counter[str]) -> dict[str, int]:
    """Return the sums over all devices of io.stat."""
    sums = dict.fromkeys(TRANSFERS, 0)
    for line in text.splitlines():
        for word in line.split()[1:]:
            name, _, value = word.partition(b"=")
            if as_text(name) in sums:
                values = naturals([value])
                if values is None:
                    left_out[NAME] += 1
                else:
                    sums[as_text(name)] = min(sums[as_text(name)] + values[0], 2**63)
    return sums


def _open(watched: Watched) -> Read | None:
    if watched.cgroup is None:
        return None
    # Without its controller, a group lacks the file.
    cpu, memory, io = (
        open_file(watched.cgroup / name) for name in ("cpu.stat", "memory.stat", "io.stat")
    )

    def read() -> Raw:
        raw: Raw = {}
        if cpu is not None:
            values = parse_pairs(cpu.read(), watched.left_out)
            raw["cpu"] = {name: values[name] for name in TIMES if name in values}
        if memory is not None:
            values = parse_pairs(memory.read(), watched.left_out)
            raw["memory"] = {name: values[name] for name in AMOUNTS if name in values}
        if io is not None:
            raw["io"] = parse_transfers(io.read(), watched.left_out)
        return raw

    return None if cpu is None and memory is None and io is None else read


def rates(before: Raw, after: Raw, seconds: float) -> Columns:
    """Return processors, throttling, memory and transfers of the group."""
    columns: Columns = {}
    for part, names, unit in (
        ("cpu", {name: name.removesuffix("_usec") for name in TIMES}, 1e6),
        ("io", TRANSFERS, 1.0),
    ):
        then, now = before.get(part, {}), after.get(part, {})
        for name, column in names.items():
            known = name in then and name in now
            columns[column] = per_second(then[name], now[name], unit * seconds) if known else None
    for name, column in AMOUNTS.items():
        columns[column] = after.get("memory", {}).get(name)
    return with_prefix(NAME, columns)


SOURCE = Source(NAME, _open, rates)
