"""Cost of writing a page."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from headrace.calibrate.case import COLD, NEW, WARM
from headrace.calibrate.estimators import l3_reuse
from headrace.calibrate.estimators.copy_cost import (
    KIB,
    LARGEST_SHARE,
    MIB,
    PAGE,
    copied,
    mean_bends,
)
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


def _probes(what: str, io: str, blocks: Sequence[int]) -> dict[int, Probe]:
    return {
        block: Probe(
            f"{what} of {block // KIB} KiB", calls(FILE // block, block, ["write"], io), "write"
        )
        for block in blocks
    }


FOLIO = MIB
"""Size of the largest folios of an existing file, in bytes."""
APART = Probe(
    "rewrites of 4 KiB, a MiB apart",
    # Writing 128 folios evicts the first lists from an L3 of 32 MiB; 64 did not.
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


def _again(file: int, often: int = 1, **more: str) -> Probe:
    return Probe(
        f"rewrites of 4 KiB, a MiB apart in {file // MIB} MiB, again and again",
        calls(
            file // PAGE,
            PAGE,
            ["write"] * often,
            WARM,
            order='"strided"',
            stride=str(FOLIO // PAGE),
            **more,
        ),
        "write",
        "p50",
    )


NEAR_FILE = 4 * MIB
NEAR = _again(NEAR_FILE, 4)
"""Uses 123 KB until a list is used again: more than the L1 cache, less than the L2. In three of
four passes the L3 has most of the pages."""
FAR_LISTS = 96
FAR = _again(FAR_LISTS * FOLIO, requests=str(10 * FAR_LISTS))
"""Uses 2.9 MB: more than most L2 caches, less than the L3."""
FEW = 0.3
"""Share of those lists that the L3 must have for FAR to yield a cost."""
SHARE, WRITE_SHARE = "machine.copying.l2_share", "machine.copying.write_l2_share"
BENDS = tuple(size * KIB for size in (64, 128, 192, 256, 384, 512, 768, 1024, 1536))
"""Candidate bends of the line of writes, besides that of reads and the size of the L2."""
HEAD = 104
"""Size of a buffer head on 64-bit machines in bytes (Linux 6.18, include/linux/buffer_head.h)."""
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


def _buffer_head(times: Times, known: Known, folio: float) -> float:
    """Return the cost of a buffer head that is read from memory, in seconds."""
    # A single write in a folio traverses its whole list. Sequential writes of 4 KiB traverse it
    # once over all calls in the folio.
    return max((times[APART.name] - _alone(times, known)) / (folio - 1), 0.0) if folio > 1 else 0.0


def _alone(times: Times, known: Known) -> float:
    """Return the time of a call that is the only one in a folio, without the other buffer heads of
    its list."""
    return times[REWRITES[PAGE].name] + known.get("machine.cpu.discontiguous_call", 0.0)


def _common(times: Times, known: Known) -> dict[str, float]:
    """Estimate the bend of the line of writes, and the cost of buffer heads in the L3.

    All rounds share the L3 cost. A measurement of some milliseconds also reflects other users of
    the cache: 3 ns in one round and 35 ns in the next.
    """
    folio = known.get("machine.memory.largest_folio", PAGE) / PAGE
    buffer_head = _buffer_head(times, known, folio)
    in_l3 = 0.0
    if folio > 1:
        there = _far_there(folio, known)
        # A sequential page has one buffer head's share of traversing the list from memory.
        each = (times[FAR.name] - _alone(times, known) + buffer_head) / folio
        in_l3 = buffer_head
        if there >= FEW:
            in_l3 = min(max((each - (1 - there) * buffer_head) / there, 0.0), buffer_head)
    found = {"machine.file_system.buffer_head_in_l3": in_l3}
    level = known.get("machine.copying.l2", 0.0)
    if level > 0 and SHARE in known:
        found[WRITE_SHARE] = _bend(times, {**known, **found}, level)
    return found


def _bend(times: Times, known: Known, level: float) -> float:
    """Return the share of the L2 up to which pages cost `page_in_l2`: the weighted mean of all
    candidates, as in `copy_cost.change_points`."""
    within = [block / level for block in BENDS if block < LARGEST_SHARE * level]
    shares = np.array([*within, LARGEST_SHARE, known[SHARE]])
    lists = _lists(times, known)
    errors = np.array(
        [_Line.of(times, {**known, WRITE_SHARE: share}, lists).error for share in shares]
    )
    return float(mean_bends(shares, errors, len(REWRITES)))


@dataclass(frozen=True)
class _Lists:
    """Cost of traversing a folio's list of buffer heads."""

    folio: float
    """Pages per folio."""
    buffer_head: float
    in_l2: float
    in_l3: float
    first_level: float
    """Bytes that sequential calls copy before the last used list leaves the L1 cache."""

    def in_order(self, pages: float) -> float:
        """Return the cost for a sequential call of `pages` pages. The first call in a folio reads
        the list from memory, later ones from its cache level."""
        again = self.in_l2 if pages * PAGE > self.first_level else 0.0
        # On average a call touches (pages + folio - divisor) / folio folios.
        divisor = math.gcd(round(pages), round(self.folio))
        return self.buffer_head * pages + again * (self.folio - divisor)


def _lists(times: Times, known: Known) -> _Lists:
    folio = known.get("machine.memory.largest_folio", PAGE) / PAGE
    buffer_head = _buffer_head(times, known, folio)
    in_l3 = min(known.get("machine.file_system.buffer_head_in_l3", buffer_head), buffer_head)
    first_level = known.get("machine.copying.l1", 0.0) - folio * HEAD
    in_l2 = 0.0
    # If a list and a page exceed the L1, sequential calls pay its whole cost.
    if folio > 1 and first_level >= PAGE:
        in_order = times[REWRITES[PAGE].name] - buffer_head
        in_l2 = (times[NEAR.name] - _of_near(in_order, known)) / folio
        in_l2 = min(max(in_l2, 0.0), in_l3)
    return _Lists(folio, buffer_head, in_l2, in_l3, first_level)


def _copies(known: Known, probes: Mapping[int, Probe]) -> NDArray[np.float64]:
    """Return the time to copy as much out of the page cache, with the bend of writes."""
    return np.array([copied(block / PAGE, known, "write_l2_share") for block in probes])


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
    error: float
    """Sum of squared relative errors."""

    @classmethod
    def of(cls, times: Times, known: Known, lists: _Lists) -> "_Line":
        """Fit the model, given known copies and lists."""
        pages = [block / PAGE for block in REWRITES]
        whole = [times[probe.name] for probe in REWRITES.values()]
        following = np.array([lists.in_order(count) for count in pages])
        alone = _entered(times, known, REWRITES) - following
        copies = _copies(known, REWRITES)
        share = 1.0
        call, page = call_and_page(pages, alone - copies, whole)
        if page == 0.0:
            # A copy from a cached buffer into the page cache may cost less than one out of it.
            cheaper, part = map(float, costs((np.ones(len(pages)), copies), alone, whole))
            if part <= 1.0:
                call, share = cheaper, part
        errors = (alone - call - page * np.array(pages) - share * copies) / np.maximum(whole, 1e-12)
        return cls(call, page, share, float(errors @ errors))


def _solve(times: Times, known: Known) -> dict[str, float]:
    lists = _lists(times, known)
    line = _Line.of(times, known, lists)

    def beyond(probes: Mapping[int, Probe]) -> tuple[NDArray[np.float64], list[float]]:
        """Return times without the costs of a rewrite except its pages, and total times."""
        left = _entered(times, known, probes) - line.share * _copies(known, probes) - line.call
        return left, [times[probe.name] for probe in probes.values()]

    largest = known.get("machine.memory.largest_folio", PAGE)
    new_page, new_folio, order = new_costs(*beyond(WRITES), NEW_BLOCKS, largest)
    uncached_page = _uncached_page(*beyond(UNCACHED), (new_folio, order), largest)
    return {
        "machine.copying.write_share": line.share,
        "machine.file_system.write_call": line.call,
        "machine.file_system.write_page": line.page,
        "machine.file_system.buffer_head": lists.buffer_head,
        "machine.file_system.buffer_head_in_l2": lists.in_l2,
        "machine.file_system.buffer_head_in_l3": lists.in_l3,
        "machine.file_system.new_page": new_page,
        "machine.file_system.new_folio": new_folio,
        "machine.file_system.new_folio_order": order,
        "machine.file_system.uncached_page": uncached_page,
    }


def _of_near(in_order: float, known: Known) -> float:
    """Return the time of a NEAR call with its list in the L1, from that of a sequential call."""
    copy = copied(1, known)
    there = l3_reuse.found_in_repeated_passes(NEAR_FILE, known)
    less = there * (1 - known.get("machine.copying.reuse_share", 1.0)) * copy
    return in_order - less + (1 - there) * known.get("machine.cpu.discontiguous_call", 0.0)


def _far_there(folio: float, known: Known) -> float:
    """Return the share of lists that the L3 has for a FAR call. The remaining lists and new pages
    are inserted."""
    reach = known.get("machine.copying.l3_reach", 0.0)
    if reach <= 0:
        return 1.0  # No simulation finds any.
    there = 1.0
    for _ in range(100):
        came = FAR_LISTS * (PAGE + (1 - there) * folio * HEAD)
        there = math.exp(-min(came / reach, l3_reuse.LARGEST_EXPONENT))
    return there


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
) -> tuple[float, float, float]:
    """Return the cost of a new page, of a new folio, and of each order of a folio, in seconds.

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
        return max(statistics.median(each), 0.0), 0.0, 0.0
    made = [_made(block, largest) for block in blocks]
    page, folio, order = costs((pages, *zip(*made, strict=True)), times, whole)
    return float(page), float(folio), float(order)


def _made(block: int, largest: float) -> tuple[float, float]:
    """Return the number of folios that a new write makes, and the sum of their orders."""
    folios = max(block / max(largest, PAGE), 1.0)
    return folios, folios * math.log2(max(block / folios / PAGE, 1.0))


def _uncached_page(
    times: ArrayLike,
    whole: Sequence[float],
    of_folio: tuple[float, float],
    largest: float,
) -> float:
    """Return the cost of an uncached page with allocated blocks, in seconds. `of_folio` has the
    cost of a new folio and of each order."""
    made = np.array([_made(block, largest) for block in UNCACHED])
    left = np.subtract(times, made @ of_folio)
    (page,) = costs(([block / PAGE for block in UNCACHED],), left, whole)
    return float(page)


ESTIMATOR = Estimator(
    (*REWRITES.values(), APART, NEAR, FAR, *WRITES.values(), *UNCACHED.values()),
    _solve,
    "writes of 4 KiB to 2 MiB to a cached file, sequential and a MiB apart, and to a new file;"
    " writes of 4 and 64 KiB to an uncached file",
    {"write_share": "", "write_l2_share": ""},
    _common,
)
