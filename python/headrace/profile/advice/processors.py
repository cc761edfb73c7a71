"""More or faster processors, and more memory."""

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.prediction import Case

FACTOR = 2.0
"""As `headrace whatif`: twice as much of a resource."""
PARALLEL = 1.5
"""Mean number of threads from which a program computes in several already (declared)."""


def _faster(case: Case, _: Context) -> Changed | None:
    sets = {
        field.path: field.value(field.amount / FACTOR)
        for prefix in ("machine.cpu.", "machine.copying.", "machine.file_system.")
        for field in case.quantities(prefix)
        if field.quantity == "seconds" and "journal" not in field.path
    }
    changed = case.with_sets(sets).with_gap_factor(1 / FACTOR)
    return Changed(changed, "use a processor that is twice as fast")


def _parallel(case: Case, context: Context) -> Changed | None:
    is_parallel = case.records["process"].n_unique() > 1 or context.threads >= PARALLEL
    if context.cores < 2 or is_parallel:
        return None
    return Changed(
        case.with_gap_factor(1 / context.cores),
        f"compute in {context.cores} threads, one for each core, if the work can be divided",
    )


def _memory(case: Case, _: Context) -> Changed | None:
    sizes = case.quantities("machine.memory.size")
    if not sizes:
        return None
    return Changed(
        case.with_sets({size.path: size.value(size.amount * FACTOR) for size in sizes}),
        "use twice as much memory",
    )


FASTER_PROCESSOR = Change(
    name="faster-processor",
    kind="hardware",
    level="machine",
    verdicts=frozenset(("cpu",)),
    apply=_faster,
    source="Hindman 2011, section 5.1",
)
PARALLEL_COMPUTING = Change(
    name="parallel-computing",
    kind="software",
    level="program",
    verdicts=frozenset(("cpu",)),
    apply=_parallel,
    source="Hindman 2011, section 5.1",
)
MORE_MEMORY = Change(
    name="more-memory",
    kind="hardware",
    level="machine",
    verdicts=frozenset(("memory", "disk-read", "disk-write", "rewrite")),
    apply=_memory,
    source="Hindman 2011, section 5.1",
)
