"""The reliability of a system: losses of data, their means, and unavailability."""

from collections.abc import Sequence

from headrace.design.figure import Input
from headrace.design.reliability.answer import Answer, Estimate, HorizonAnswer
from headrace.design.reliability.laws import mean_seconds
from headrace.design.reliability.question import Array, Declustered, Exponential, Mirrors, Question
from headrace.design.reliability.silent_corruption import SilentCorruption
from headrace.quantities import YEAR, duration, hours_text, numbered, probability_text, size, whole
from headrace.render.blocks import Axis, Block, Chart, Line, Note, Table, View
from headrace.views.parts import assumptions

COLUMNS = (
    "years",
    "loss probability",
    "95 % interval",
    "standard error",
    "by read errors",
    "its 95 %",
    "NOMDL",
    "NOMDL 95 %",
)
EXACT_COLUMNS = ("years", "loss probability", "95 % interval", "by read errors", "NOMDL")
LESS = ("standard error", "its 95 %", "by read errors", "NOMDL 95 %", "NOMDL")


def view(
    name: str,
    answer: Answer,
    shown: Sequence[HorizonAnswer],
    corrupted: SilentCorruption | None = None,
) -> View:
    """Return the loss over the horizons, the means, the method and the assumptions.

    Parameters:
        name: The layout.
        answer: The answer, whose chart has all horizons.
        shown: Horizons of the table.
        corrupted: Silent corruption, if it was asked for.
    """
    blocks: list[Block] = [
        Note("", f"{name}: {size(answer.usable_bytes)} of data in all"),
        _chart(answer),
        _horizons(shown, exact=answer.missions == 0),
    ]
    certain = any(row.loss_probability >= 1 for row in shown)
    mttdl = "every mission lost data" if certain else "no loss was simulated"
    if answer.mttdl_seconds is not None:
        mttdl = f"{hours_text(answer.mttdl_seconds)} ({duration(answer.mttdl_seconds)})"
        low, high = answer.mttdl_low_seconds, answer.mttdl_high_seconds
        if answer.missions and low is not None and high is not None:
            mttdl += f", 95 % interval {hours_text(low)} to {hours_text(high)}"
    blocks += [Note(line) for line in _left_out(shown)]
    blocks.append(Note(f"\nMTTDL: {mttdl}. It compares systems; it predicts no service life."))
    if answer.read_error_probability is not None:
        blocks.append(
            Note(
                "Read error in a rebuild without redundancy left:"
                f" {probability_text(answer.read_error_probability)}"
            )
        )
    if answer.unavailability is not None:
        share = answer.unavailability
        blocks.append(
            Note(
                f"Data is unavailable for {probability_text(share.value)} of time (standard error"
                f" {probability_text(share.standard_error)})"
            )
        )
    if corrupted is not None:
        blocks += _corruption(corrupted)
    simulated = ""
    if answer.missions:
        simulated = (
            f", {whole(answer.missions)} missions, {answer.simulated_disk_years:.2g} disk-years"
        )
    blocks.append(Note(f"Method: {answer.method}{simulated}"))
    more = () if corrupted is None else corrupted.assumptions
    return [*blocks, *assumptions((*answer.assumptions, *more))]


def _chart(answer: Answer) -> Chart:
    """Return the loss probability over the horizons, with its 95 % interval."""
    horizons = sorted(answer.horizons, key=lambda horizon: horizon.horizon_seconds)
    known = [horizon for horizon in horizons if horizon.loss_probability > 0]
    years = [horizon.horizon_seconds / YEAR for horizon in known]
    loss = [horizon.loss_probability for horizon in known]
    ends: dict[str, list[float]] = {}
    if any(horizon.high > horizon.low for horizon in known):
        # An end of 0 has no place on a logarithmic axis.
        ends["low"] = [horizon.low or horizon.loss_probability * 1e-3 for horizon in known]
        ends["high"] = [horizon.high for horizon in known]
    lines = [Line("loss of any data", years, loss, ends.get("low", ()), ends.get("high", ()))]
    errors = [horizon.read_error_loss_probability or None for horizon in known]
    if any(errors):
        lines.append(Line("of it by read errors in a rebuild", years, errors))
    return Chart(
        "reliability",
        "Probability of a data loss",
        Axis("years"),
        Axis("probability", scale="log"),
        lines if known else [],
        empty="no loss",
        statistic=answer.method,
    )


def _horizons(shown: Sequence[HorizonAnswer], exact: bool) -> Table:
    counted = any(row.expected_losses is not None for row in shown)
    columns = EXACT_COLUMNS if exact else COLUMNS
    if counted:
        columns = (*columns, "losses")
    rows = []
    for row in shown:
        loss = row.loss_probability if exact or row.loss_probability > 0 else None
        read_errors = (row.read_error_loss_probability, row.read_error_low, row.read_error_high)
        nomdl = (row.nomdl, row.nomdl_low, row.nomdl_high)
        cells = [f"{row.horizon_seconds / YEAR:g}", *_with_interval(loss, row.low, row.high, 4)]
        if exact:
            cells[-1] = "exact"
            cells += [_with_interval(*figure)[0] for figure in (read_errors, nomdl)]
        else:
            cells.append(f"{row.standard_error:.2g}")
            cells += [*_with_interval(*read_errors), *_with_interval(*nomdl)]
        if row.expected_losses is not None:
            cells.append(_estimate(row.expected_losses))
        rows.append(cells)
    return Table.of_rows("Loss of data", columns, rows, 1, LESS)


def _with_interval(
    value: float | None, low: float, high: float, digits: int = 3
) -> tuple[str, str]:
    """Return a figure and its interval; a bound stands for a figure that is not given."""
    if value is None:
        return f"below {high:.2g}", f"{low:.2g} to {high:.2g}"
    if value == low == high:
        return f"{value:.{digits}g}", ""
    return f"{value:.{digits}g}", f"{low:.{digits}g} to {high:.{digits}g}"


def _left_out(shown: Sequence[HorizonAnswer]) -> list[str]:
    """Return why figures are bounds."""
    lines = []
    for row in shown:
        parts = []
        for cause, seen, value in (
            ("too many failures", row.failure_losses_seen, row.nomdl),
            ("a read error", row.read_error_losses_seen, row.read_error_loss_probability),
        ):
            if value is None and seen is not None:
                parts.append(
                    f"losses by {cause} were seen in {seen.losses:,} of {seen.missions:,} missions"
                )
        if parts:
            years = f"{row.horizon_seconds / YEAR:g}"
            unit = "year" if years == "1" else "years"
            lines.append(f"{years} {unit}: {', '.join(parts)}; bounds with 95 % confidence")
    return lines


def _corruption(risk: SilentCorruption) -> list[Block]:
    """Return the expected silent corruptions by what becomes of them."""
    fates = (
        ("corrupted", risk.over_years),
        ("repaired", risk.repaired),
        ("located, not repaired", risk.located),
        ("detected, not located", risk.detected),
        ("not detected", risk.undetected),
    )
    table = Table.of_rows(
        "Silent corruption",
        ("blocks", "a year", f"in {numbered(risk.years, 'year')}"),
        [(name, f"{value / risk.years:.4g}", f"{value:.4g}") for name, value in fates],
    )
    rate = f"Rate: {risk.rate_per_disk_year:.3g} in a disk-year, {numbered(risk.disks, 'disk')}"
    if risk.corrupt_disks_a_year is not None:
        rate += f", of which {risk.corrupt_disks_a_year:.3g} a year get any"
    return [table, Note(f"{rate}; checksums: {risk.checksums}")]


def _estimate(estimate: Estimate) -> str:
    return f"{estimate.value:.4g} \N{PLUS-MINUS SIGN} {estimate.standard_error:.1g}"


def explanation(question: Question, inputs: Sequence[Input]) -> View:
    """Return the table of a question's values with their sources, and the formulas."""
    rows = [(entry.name, entry.text, entry.source) for entry in inputs]
    return [
        Table.of_rows("Values", ("what", "value", "source"), rows, 3),
        Note("", "\nFormulas of the chain"),
        Note("\n".join(f"  {line}" for line in formulas(question))),
    ]


def formulas(question: Question) -> list[str]:
    """Return the formulas of the chain for a question, with its numbers."""
    redundancy, serial = question.redundancy, question.repair.concurrency == "serial"
    rate = "mu" if serial else "j mu"
    lines = []
    match redundancy:
        case Array():
            lines.append(
                f"n = {redundancy.disks}, m = {redundancy.tolerates}: T0 = 1 / (n lambda), Tj = (1"
                f" + {rate} T(j-1)) / ((n - j) lambda), MTTDL of a group = T0 + ... + Tm"
            )
        case Mirrors():
            pairs = redundancy.disks // redundancy.copies
            lines.append(
                f"n = m + 1 = {redundancy.copies} by the same recurrence; {pairs} mirrors of which"
                " none may be lost"
            )
        case Declustered():
            lines.append(
                f"a pool of {redundancy.disks} disks loses data when a stripe lacks more than"
                f" {redundancy.parity} of its {redundancy.data + redundancy.parity} chunks"
            )
    law = question.lifetime.law
    if isinstance(law, Exponential):
        lines.append(f"lambda = 1 / MTTF = 1 / {hours_text(law.mean)}")
    repair = question.repair
    total = sum(map(mean_seconds, (repair.detection, repair.replacement, repair.rebuild)))
    if total > 0:
        lines.append(f"mu = 1 / (detection + replacement + rebuild) = 1 / {hours_text(total)}")
    lines.append(
        f"a read error in the last rebuild: h = 1 - (1 - {question.disk.bit_error_rate:g})^bits"
        f" read, {size(question.disk.capacity_bytes)} a disk"
    )
    lines.append(
        f"P(loss by t) of the system = 1 - (1 - P)^{question.groups}, P of one group by the chain's"
        " transient solution"
    )
    return lines
