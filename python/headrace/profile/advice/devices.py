"""Other devices: striped, faster, with less latency."""

from headrace.profile.advice.change import Change, Changed, Context
from headrace.profile.document import Verdict
from headrace.profile.prediction import Case

DISK: frozenset[Verdict] = frozenset(("disk-read", "disk-write", "rewrite", "latency", "metadata"))
PATHS = ("machine.device.", "servers.device.", "servers.machine.device.")


def _scaled(case: Case, description: str, rate: float, seconds: float) -> Changed | None:
    """The case on devices with other rates and times."""
    factors = {"rate": rate, "seconds": seconds}
    sets = {
        field.path: field.value(field.amount * factors[field.quantity])
        for prefix in PATHS
        for field in case.quantities(prefix)
        if factors.get(field.quantity, 1.0) != 1.0
    }
    return Changed(case.with_sets(sets), description) if sets else None


def _striping(case: Case, _: Context) -> Changed | None:
    words = "stripe over two devices of the same kind (RAID-0)"
    return _scaled(case, words, rate=2.0, seconds=1.0)


def _faster(case: Case, _: Context) -> Changed | None:
    words = "use a device with twice the rate and half the latency"
    return _scaled(case, words, rate=2.0, seconds=0.5)


def _low_latency(case: Case, _: Context) -> Changed | None:
    return _scaled(case, "use a device with a tenth of the latency", rate=1.0, seconds=0.1)


STRIPING = Change(
    name="striping",
    kind="hardware",
    level="device",
    verdicts=DISK - {"latency", "metadata"},
    apply=_striping,
    source="Hindman 2011, section 3.4",
)
FASTER_DEVICE = Change(
    name="faster-device",
    kind="hardware",
    level="device",
    verdicts=DISK,
    apply=_faster,
    source="Hindman 2011, section 5.1",
)
LOW_LATENCY = Change(
    name="low-latency-device",
    kind="hardware",
    level="device",
    verdicts=frozenset(("latency", "metadata")),
    apply=_low_latency,
    source="Hindman 2011, section 5.7",
)
