"""Requirements of a worksheet that a design's reliability does not meet."""

from collections.abc import Sequence

from headrace.design.evaluation import Violation
from headrace.design.figure import Figure, by_key
from headrace.design.worksheet import Worksheet
from headrace.quantities import duration, numbered, probability_text


def reliability_violations(
    figures: Sequence[Figure], worksheet: Worksheet
) -> tuple[Violation, ...]:
    """Return the requirements of `recovery` that the figures miss; unknown ones are met.

    Args:
        figures: Figures of `system_reliability`.
        worksheet: The requirements.
    """
    known, recovery = by_key(figures), worksheet.recovery
    violations = []
    years = numbered(recovery.loss_years, "year")
    loss = known.get("loss-probability")
    limit = recovery.loss_probability
    if loss is not None and limit is not None and loss.value > limit:
        violations.append(
            Violation(
                field="recovery.loss_probability",
                wanted=f"at most {probability_text(limit)} in {years}",
                got=probability_text(loss.value),
                message=f"Data is lost within {years} with probability"
                f" {probability_text(loss.value)}, and at most {probability_text(limit)} is"
                " accepted.",
            )
        )
    downtime = known.get("downtime")
    if (
        downtime is not None
        and recovery.downtime is not None
        and downtime.value > recovery.downtime
    ):
        most = "none" if recovery.downtime == 0 else duration(recovery.downtime)
        violations.append(
            Violation(
                field="recovery.downtime",
                wanted=f"at most {most} a month",
                got=f"{duration(downtime.value)} a month",
                message=f"Data cannot be reached for {duration(downtime.value)} a month on"
                f" average, and {most} is accepted.",
            )
        )
    survived = known.get("node-failures-survived")
    if survived is not None and recovery.survives_node and survived.value < 1:
        violations.append(
            Violation(
                field="recovery.survives_node",
                wanted="data outlives the loss of a node",
                got="one copy, on one node each",
                message="Data must outlive the loss of a node, and each file has one copy only.",
            )
        )
    return tuple(violations)
