"""Cost of rewriting a page that the running transaction already has, with `data=journal`."""

import numpy as np

from headrace.calibrate.case import WARM
from headrace.calibrate.estimators.copy_cost import KIB, MIB, PAGE, copied
from headrace.calibrate.estimators.estimator import Estimator, Known, word_key
from headrace.calibrate.estimators.l3_reuse import found_in_repeated_passes
from headrace.calibrate.estimators.least_squares import costs
from headrace.calibrate.probe import Probe, Times, calls

FILE = 4 * MIB
"""Small beside any transaction, and fits in the L3 cache."""
PASSES = 4
"""In three of four passes the running transaction already has all pages, and so has the median
call."""
AGAIN = {
    block: Probe(
        f"rewrites of {block // KIB} KiB in {FILE // MIB} MiB, again and again",
        calls(FILE // block, block, ["write"] * PASSES, WARM),
        "write",
        "p50",
    )
    for block in (16 * KIB, 64 * KIB)
}
WRITE_PAGE = "machine.file_system.write_page"


def _solve(times: Times, known: Known) -> dict[str, float]:
    call = known["machine.cpu.system_call"] + known["machine.file_system.write_call"]
    share = known.get("machine.copying.write_share", 1.0)
    there = found_in_repeated_passes(FILE, known)
    share *= 1 - there * (1 - known.get("machine.copying.reuse_share", 1.0))
    pages = [block / PAGE for block in AGAIN]
    whole = [times[probe.name] for probe in AGAIN.values()]
    copies = share * np.array([copied(count, known) for count in pages])
    (page,) = costs((pages,), np.array(whole) - call - copies, whole)
    # A page that joins the transaction costs at least as much.
    return {f"{WRITE_PAGE}_in_transaction": min(float(page), known[WRITE_PAGE])}


ESTIMATOR = Estimator(
    tuple(AGAIN.values()),
    _solve,
    "repeated rewrites of 16 and 64 KiB of a cached file of 4 MiB",
    {},
    requires=word_key("machine.file_system.journal.mode", "journal"),
)
