"""A coarse simulated machine, whose parameters follow from the figures of a baseline.

Not modelled: hard disks' seeks, the levels of the processor's caches, memory bandwidth shared by
several processes, other writers. `headrace calibrate` measures such parameters one by one.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from headrace.profile.baseline.cases import BLOCK, CHARACTERS, PAGE
from headrace.quantities import ROUNDED, binary_size, measured_time, written_rate

LEAST_DEPTH = 2
"""Least queue depth: with read-ahead, one transfer waits while another is served."""
FASTEST = 63e9
"""Upper limit of a device's rate in bytes per second: sixteen lanes of PCI Express 5.0."""
DEFAULT_SYSTEM = "ext4"
SYSTEMS = ("ext2", "ext3", "ext4", "xfs")
DEVICE_LIMITED = 0.8
"""Share of block-read from which the device is taken to limit the reading of characters."""
LIMIT_REACHED = 0.8
"""Share of a limit of the kernel (blk-throttle) from which it accounts for a measured rate."""
LIMITED = "{figure} reaches {limit}: the device behind it is faster"
LIBRARY_BUFFER = 4096
"""Bytes of the C library's buffer: one system call for each."""
NEEDED = ("block-read", "block-write", "cached-read", "cached-write", "small-call")


class SyncCost(NamedTuple):
    """Device work of 4 KiB appended and synced, in the models of local file systems."""

    flushes: int
    transfers: int
    """Transfers that wait for each other."""
    blocks: float
    """Blocks of 4 KiB in these."""


SYNC_COSTS = {
    "ext2": SyncCost(1, 3, 3.0),
    "ext3": SyncCost(2, 3, 7.0),
    "ext4": SyncCost(2, 3, 6.0),
    "xfs": SyncCost(2, 2, 1.4),
}
"""By system; a journal writes its record after the data, and flushes the device before and after
the record that commits it."""


def system_of(environment: Mapping[str, Any]) -> str:
    """Return the simulated system of an environment's file system."""
    kind = environment.get("file_system")
    return str(kind) if kind in SYSTEMS else DEFAULT_SYSTEM


def machine_text(
    figures: Mapping[str, float],
    cpu: Mapping[str, float],
    settings: Mapping[str, str],
    environment: Mapping[str, Any],
    file_bytes: int | None,
    concurrency: float | None = None,
) -> str:
    """Return the TOML of the machine.

    Parameters
    ----------
    figures
        Value of each figure, in its SI unit.
    cpu
        Processor time per second of each figure, in cores.
    settings
        TOML values of settings of the kernel, by field.
    environment
        Environment of the baseline.
    file_bytes
        Size of the file of the block figures; None if it is unknown.
    concurrency
        Rate of random reads by many processes over that by one; None if it is unknown.

    Raises
    ------
    ValueError
        If a figure is missing that the machine needs.
    """
    if missing := [name for name in NEEDED if name not in figures]:
        raise ValueError(
            f"the baseline has no {', '.join(missing)}: a simulated machine needs them; measure"
            " them with headrace baseline DIR"
        )
    system = system_of(environment)
    values = {field: (value, "read from the kernel") for field, value in settings.items()}
    values |= dict(_processor(figures, cpu))
    values |= dict(_device(figures, values, system, file_bytes))
    if concurrency is not None:
        source = "random reads by many processes, over those by one"
        values["machine.device.queue_depth"] = (str(max(round(concurrency), LEAST_DEPTH)), source)
    lines = [
        f"# Coarse machine of {environment.get('host', 'a host')}, made by headrace baseline from"
        " its figures.",
        f'system = "{system}"',
    ]
    section = None
    for field, (value, source) in sorted(values.items(), key=lambda pair: pair[0].split(".")[:-1]):
        path, name = field.rsplit(".", 1)
        if path != section:
            section = path
            lines += ["", f"[{path}]"]
            if path == "machine.device":
                lines.append('kind = "throttled"')
        lines += [f"# {source}", f"{name} = {value}"]
    return "\n".join(lines) + "\n"


Values = Mapping[str, tuple[str, str]]


def _time(seconds: float) -> str:
    return f'"{measured_time(max(seconds, 0.0))}"'


def _rate(value: float) -> str:
    return f'"{written_rate(min(value, FASTEST), ROUNDED)}"'


class _Costs(NamedTuple):
    """Processor times in seconds."""

    call: float
    page: float
    """Copy of a page out of the page cache."""
    new_page: float
    write_share: float
    """Cost of a copy into the page cache relative to one out of it."""

    @classmethod
    def of(cls, figures: Mapping[str, float]) -> "_Costs":
        """Return the costs that follow from small-call, cached-read and cached-write."""
        call = 1 / figures["small-call"]
        per_page = call * PAGE / BLOCK
        page = max(PAGE / figures["cached-read"] - per_page, 0.0)
        written = max(PAGE / figures["cached-write"] - per_page, 0.0)
        # A copy into the page cache may take less than one out of it, but no page less than 0 s.
        share = min(written / page, 1.0) if page > 0 else 1.0
        return cls(call, page, max(written - page, 0.0), share)

    @property
    def written(self) -> float:
        """Time to write a new page, without the call."""
        return self.page * self.write_share + self.new_page


def _processor(
    figures: Mapping[str, float], cpu: Mapping[str, float]
) -> Iterator[tuple[str, tuple[str, str]]]:
    costs = _Costs.of(figures)
    yield "machine.cpu.system_call", (_time(costs.call), "1 / small-call")
    yield "machine.copying.page_in_l2", (_time(costs.page), "4 KiB at cached-read, less the call")
    yield "machine.copying.write_share", (f"{costs.write_share:.6g}", "cached-write")
    yield (
        "machine.file_system.new_page",
        (_time(costs.new_page), "4 KiB at cached-write, less call and copy"),
    )
    yield from _cached_pages(figures, cpu)
    library = list(_library_calls(figures, cpu))
    if library:
        mean = sum(library) / len(library)
        source = "mean of character-write and character-read, less calls, copies and device"
        yield "machine.cpu.library_call", (_time(mean), source)
    for figure, field, calls in (
        # The file is made and closed.
        ("create", "create", 2),
        ("stat", "lookup", 1),
        ("remove", "unlink", 1),
    ):
        if figure in figures:
            seconds = 1 / figures[figure] - calls * costs.call
            yield (
                f"machine.file_system.{field}",
                (_time(seconds), f"1 / {figure}, less system calls"),
            )


def _cached_pages(
    figures: Mapping[str, float], cpu: Mapping[str, float]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield costs that show in the processor time only, because the device works meanwhile."""
    page = {
        name: PAGE * cpu[name] / value for name, value in figures.items() if cpu.get(name, 0.0) > 0
    }
    if not {"block-read", "cached-read"} <= page.keys():
        return
    read = max(page["block-read"] - page["cached-read"], 0.0)
    source = "processor time of block-read, less that of cached-read"
    yield "machine.file_system.read_page", (_time(read), source)
    if "rewrite" in page:
        # The call and the copy out of the page cache take as long as those into it.
        written = page["rewrite"] - page["block-read"] - page["cached-read"]
        source = "processor time of rewrite, less those of block-read and cached-read"
        yield "machine.file_system.write_page", (_time(written), source)


def _library_calls(figures: Mapping[str, float], cpu: Mapping[str, float]) -> Iterator[float]:
    """Yield the time of a call in seconds, by each figure of characters.

    Written data goes to the device behind the calls, during the fsync. Read data comes during the
    calls: where the device limits them, the processor time alone counts.
    """
    costs = _Costs.of(figures)
    for name, moved in zip(CHARACTERS, (costs.written, costs.page), strict=True):
        if name not in figures:
            continue
        seconds = 1 / figures[name]
        if name == "character-write":
            seconds -= max(1 / figures["block-write"] - 1 / figures["cached-write"], 0.0)
        elif figures[name] > DEVICE_LIMITED * figures["block-read"]:
            seconds *= cpu.get(name, 1.0)
        yield max(seconds - (costs.call + moved) / LIBRARY_BUFFER, 0.0)


def _device(
    figures: Mapping[str, float], settings: Values, system: str, file_bytes: int | None
) -> Iterator[tuple[str, tuple[str, str]]]:
    costs = _Costs.of(figures)
    read, source = figures["block-read"], "block-read: read-ahead keeps the device busy"
    if _is_limit(read, "read_rate", settings):
        read, source = FASTEST, LIMITED.format(figure="block-read", limit="read_rate")
    yield "machine.device.rate", (_rate(read), source)
    write, source = _write_rate(figures, settings, file_bytes), "block-write, less cached-write"
    if _is_limit(write, "write_rate", settings):
        write, source = FASTEST, LIMITED.format(figure="block-write", limit="write_rate")
    yield "machine.device.device_write_rate", (_rate(write), source)
    write_latency = 0.0
    for figure, field, rate in (
        ("random-read", "latency", read),
        ("random-write", "write_latency", write),
    ):
        if figure in figures:
            latency = max(1 / figures[figure] - PAGE / min(rate, FASTEST) - costs.call, 0.0)
            source = f"1 / {figure}, less call and transfer"
            yield f"machine.device.{field}", (_time(latency), source)
            write_latency = latency
    if "sync-write" in figures and "random-write" in figures:
        cost = _sync_cost(system, settings)
        rest = 1 / figures["sync-write"] - 2 * costs.call - costs.written
        rest -= cost.transfers * write_latency + cost.blocks * PAGE / min(write, FASTEST)
        if cost.flushes:
            source = f"1 / sync-write, less {cost.transfers} transfers, / {cost.flushes}"
            yield "machine.device.flush", (_time(rest / cost.flushes), source)


def _is_limit(rate: float, limit: str, settings: Values) -> bool:
    """Return whether a rate in bytes per second is that of a limit of the kernel, before the
    device. A transfer would pass both one after the other."""
    given = settings.get(f"machine.device.{limit}")
    return given is not None and rate >= LIMIT_REACHED * _bytes(given[0].replace("/s", ""))


def _sync_cost(system: str, settings: Values) -> SyncCost:
    if settings.get("machine.file_system.journal.mode", ("", ""))[0] == '"none"':
        return SYNC_COSTS["ext2"]
    cost = SYNC_COSTS[system]
    if settings.get("machine.file_system.journal.barriers", ("", ""))[0] == "false":
        return cost._replace(flushes=0)
    return cost


def _write_rate(figures: Mapping[str, float], settings: Values, file_bytes: int | None) -> float:
    """Return the device's rate of writing, in bytes per second.

    Up to the background limit the device begins with the fsync, after all calls. Beyond, it works
    while they go on.
    """
    whole, calls = 1 / figures["block-write"], 1 / figures["cached-write"]
    limit = settings.get("machine.write_back.background_bytes")
    if file_bytes is not None and limit is not None and file_bytes > _bytes(limit[0]):
        return figures["block-write"]
    return min(1 / max(whole - calls, 1 / FASTEST), FASTEST)


def _bytes(text: str) -> int:
    from headrace._core import parse_bytes

    return parse_bytes(text.strip('"'))


def coarse_settings(memory_bytes: int, cores: int) -> dict[str, str]:
    """Return the settings of a host on whose file system no simulation reads more."""
    return {
        "machine.cpu.cores": str(cores),
        "machine.memory.size": f'"{binary_size(memory_bytes)}"',
    }
