"""Cost of writing a page."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headrace.calibrate.case import COLD, NEW, WARM
from headrace.calibrate.estimators.copy_cost import KIB, MIB, PAGE, copied
from headrace.calibrate.estimators.estimator import Estimator, Known
from headrace.calibrate.estimators.least_squares import costs
from headrace.calibrate.probe import Probe, Times, calls

FILE = 32 * MIB
NEW_BLOCKS = (4 * KIB, 32 * KIB, 64 * KIB, 512 * KIB, MIB)
"""Sizes of new writes. No sum of costs per call, page and folio fits all of them: beyond rewrites,
a page took 0.6, 1.0, 0.5, 0.6, 0.6 and 0.3 us in folios of 4, 16, 64, 128, 256 and 1024 KiB on
ext4. More sizes reduce the error of each."""
OLD_BLOCKS = (4 * KIB, 64 * KIB, 128 * KIB, 384 * KIB, MIB, 2 * MIB)
"""Sizes of rewrites. More sizes locate the bend of the line."""


def _probes(way: str, io: str, blocks: Sequence[int]) -> dict[int, Probe]:
    return {
        block: Probe(
            f"{way} of {block // KIB} KiB", calls(FILE // block, block, ["write"], io), "write"
        )
        for block in blocks
    }


FOLIO = MIB
"""Size of the largest folios of an existing file, in bytes."""
APART = Probe(
    "rewrites of 4 KiB, a MiB apart",
    # No list is used twice.
    calls(
        128 * FOLIO // PAGE,
        PAGE,
        ["write"],
        WARM,
        order='"strided"',
        stride=str(FOLIO // PAGE),
        requests="128",
    ),
    "write",
    "p50",
)
REWRITES = _probes("rewrites", WARM, OLD_BLOCKS)
WRITES = _probes("new writes", NEW, NEW_BLOCKS)
UNCACHED = {
    block: Probe(
        f"rewrites of {block // KIB} KiB that are not cached",
        # Small, because creating such a file takes long with data=journal.
        calls(8 * MIB // block, block, ["write"], COLD),
        "write",
    )
    for block in (4 * KIB, 64 * KIB)
}


def _buffer_head(times: Times, known: Known) -> float:
    """Return the cost of a buffer head that no cache has, in seconds."""
    folio = known.get("machine.memory.largest_folio", PAGE) / PAGE
    if folio <= 1:
        return 0.0
    # A single write in a folio traverses its whole list. Sequential writes of 4 KiB traverse it
    # once over all calls in the folio.
    alone = times[REWRITES[PAGE].name] + known.get("machine.cpu.discontiguous_call", 0.0)
    return max((times[APART.name] - alone) / (folio - 1), 0.0)


def _copies(known: Known, probes: Mapping[int, Probe]) -> NDArray[np.float64]:
    """Return the time to copy as much out of the page cache."""
    return np.array([copied(block / PAGE, known) for block in probes])


def _entered(times: Times, known: Known, probes: Mapping[int, Probe]) -> NDArray[np.float64]:
    """Return the times of calls without the system call."""
    call = known["machine.cpu.system_call"]
    return np.array([times[probe.name] - call for probe in probes.values()])


@dataclass(frozen=True)
class _Line:
    """Linear model of rewrites by size."""

    call: float
    page: float
    share: float
    """Cost of a copy into the page cache, relative to a copy out of it."""

    @classmethod
    def of(cls, times: Times, known: Known, buffer_head: float) -> "_Line":
        """Fit the model, given known copies and the cost of a buffer head."""
        pages = [block / PAGE for block in REWRITES]
        whole = [times[probe.name] for probe in REWRITES.values()]
        # Each list is read from memory once.
        alone = _entered(times, known, REWRITES) - buffer_head * np.array(pages)
        copies = _copies(known, REWRITES)
        share = 1.0
        call, page = call_and_page(pages, alone - copies, whole)
        if page == 0.0:
            # A copy from a cached buffer into the page cache may cost less than one out of it.
            cheaper, part = map(float, costs((np.ones(len(pages)), copies), alone, whole))
            if part <= 1.0:
                call, share = cheaper, part
        return cls(call, page, share)


def _solve(times: Times, known: Known) -> dict[str, float]:
    buffer_head = _buffer_head(times, known)
    line = _Line.of(times, known, buffer_head)

    def beyond(probes: Mapping[int, Probe]) -> tuple[NDArray[np.float64], list[float]]:
        """Return times without the costs of a rewrite except its pages, and total times."""
        left = _entered(times, known, probes) - line.share * _copies(known, probes) - line.call
        return left, [times[probe.name] for probe in probes.values()]

    largest = known.get("machine.memory.largest_folio", PAGE)
    new_page, new_folio = new_costs(*beyond(WRITES), NEW_BLOCKS, largest)
    uncached_page = _uncached_page(*beyond(UNCACHED), new_folio, largest)
    return {
        "machine.copying.write_share": line.share,
        "machine.file_system.write_call": line.call,
        "machine.file_system.write_page": line.page,
        "machine.file_system.buffer_head": buffer_head,
        "machine.file_system.new_page": new_page,
        "machine.file_system.new_folio": new_folio,
        "machine.file_system.uncached_page": uncached_page,
    }


def call_and_page(
    pages: Sequence[float], times: ArrayLike, whole: Sequence[float]
) -> tuple[float, float]:
    """Return the cost of a call and of a page, in seconds.

    The squared errors relative to whole calls are minimal. All sizes count because no line goes
    through all of them. Large copies into the page cache do not become as cheap as copies out of
    it.

    Parameters
    ----------
    pages
        Pages of each call.
    times
        Times without known costs, in seconds.
    whole
        Total times, in seconds.
    """
    call, page = costs((np.ones(len(pages)), pages), times, whole)
    return float(call), float(page)


def new_costs(
    times: Sequence[float] | NDArray[np.float64],
    whole: Sequence[float],
    blocks: Sequence[int],
    largest: float,
) -> tuple[float, float]:
    """Return the cost of a new page and of a new folio, in seconds.

    A write makes folios of its own size up to the largest (Linux 6.18, include/linux/pagemap.h:
    fgf_set_order). If all folios are single pages, the page cost is the median over the sizes. The
    remaining time of large calls may be 0 or negative if copies into the page cache cost less than
    those out of it. XFS is an example: it allocates blocks at write-back and does little per page.

    Parameters
    ----------
    times
        Times without known costs, in seconds.
    whole
        Total times, in seconds.
    blocks
        Size of each call, in bytes.
    largest
        Size of the largest folio, in bytes.
    """
    pages = [block / PAGE for block in blocks]
    if largest <= PAGE:
        each = (time / count for time, count in zip(times, pages, strict=True))
        return max(statistics.median(each), 0.0), 0.0
    page, folio = costs((pages, [_folios(block, largest) for block in blocks]), times, whole)
    return float(page), float(folio)


def _folios(block: int, largest: float) -> float:
    """Return the number of folios that a new write makes."""
    return max(block / max(largest, PAGE), 1.0)


def _uncached_page(
    times: ArrayLike, whole: Sequence[float], new_folio: float, largest: float
) -> float:
    """Return the cost of an uncached page with allocated blocks, in seconds."""
    left = np.subtract(times, [new_folio * _folios(block, largest) for block in UNCACHED])
    (page,) = costs(([block / PAGE for block in UNCACHED],), left, whole)
    return float(page)


ESTIMATOR = Estimator(
    (*REWRITES.values(), APART, *WRITES.values(), *UNCACHED.values()),
    _solve,
    "writes of 4 KiB to 2 MiB to a cached file, sequential and a MiB apart, and to a new file;"
    " writes of 4 and 64 KiB to an uncached file",
    {"write_share": ""},
)
