"""Tables of an answer about reliability."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.design.figure import Input
from headrace.design.reliability.answer import Answer, Estimate, HorizonAnswer
from headrace.design.reliability.laws import mean_seconds
from headrace.design.reliability.question import (
    Array,
    Declustered,
    Exponential,
    Mirrors,
    Question,
)
from headrace.design.reliability.silent_corruption import SilentCorruption
from headrace.quantities import YEAR, duration, hours_text, probability_text, size, whole
from headrace.report.figure_tables import assumptions
from headrace.report.fitted_table import FittedTable

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


def answer(
    what: str,
    found: Answer,
    shown: Sequence[HorizonAnswer],
    corrupted: SilentCorruption | None = None,
) -> RenderableType:
    """Return the tables of an answer: horizons, means, method and assumptions."""
    parts: list[RenderableType] = [
        Text(f"{what}: {size(found.usable_bytes)} of data in all", style="bold"),
        _horizons(shown, exact=found.missions == 0),
    ]
    certain = any(it.loss_probability >= 1 for it in shown)
    mttdl = "every mission lost data" if certain else "no loss was simulated"
    if found.mttdl_seconds is not None:
        mttdl = f"{hours_text(found.mttdl_seconds)} ({duration(found.mttdl_seconds)})"
        low, high = found.mttdl_low_seconds, found.mttdl_high_seconds
        if found.missions and low is not None and high is not None:
            mttdl += f", 95 % interval {hours_text(low)} to {hours_text(high)}"
    parts += [Text(it) for it in _left_out(shown)]
    parts.append(Text(f"\nMTTDL: {mttdl}. It compares systems; it predicts no service life."))
    if found.read_error_probability is not None:
        parts.append(
            Text(
                "Read error in a rebuild without redundancy left:"
                f" {probability_text(found.read_error_probability)}"
            )
        )
    if found.unavailability is not None:
        share = found.unavailability
        parts.append(
            Text(
                f"Data is unavailable for {probability_text(share.value)} of time (standard error"
                f" {probability_text(share.standard_error)})"
            )
        )
    if corrupted is not None:
        parts.append(_corruption(corrupted))
    simulated = ""
    if found.missions:
        simulated = (
            f", {whole(found.missions)} missions, {found.simulated_disk_years:.2g} disk-years"
        )
    parts.append(Text(f"Method: {found.method}{simulated}"))
    more = () if corrupted is None else corrupted.assumptions
    return Group(*parts, *assumptions((*found.assumptions, *more)))


def _horizons(shown: Sequence[HorizonAnswer], exact: bool) -> FittedTable:
    counted = any(it.expected_losses is not None for it in shown)
    columns = EXACT_COLUMNS if exact else COLUMNS
    if counted:
        columns = (*columns, "losses")
    table = FittedTable("Loss of data", 1, columns, LESS)
    for it in shown:
        loss = it.loss_probability if exact or it.loss_probability > 0 else None
        read_errors = (it.read_error_loss_probability, it.read_error_low, it.read_error_high)
        nomdl = (it.nomdl, it.nomdl_low, it.nomdl_high)
        cells = [f"{it.horizon_seconds / YEAR:g}", *_with_interval(loss, it.low, it.high, 4)]
        if exact:
            cells[-1] = "exact"
            cells += [_with_interval(*figure)[0] for figure in (read_errors, nomdl)]
        else:
            cells.append(f"{it.standard_error:.2g}")
            cells += [*_with_interval(*read_errors), *_with_interval(*nomdl)]
        table.add_row(
            *cells,
            *((_estimate(it.expected_losses),) if it.expected_losses is not None else ()),
        )
    return table


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
    for it in shown:
        parts = []
        for what, seen, value in (
            ("too many failures", it.failure_losses_seen, it.nomdl),
            ("a read error", it.read_error_losses_seen, it.read_error_loss_probability),
        ):
            if value is None and seen is not None:
                parts.append(
                    f"losses by {what} were seen in {seen.losses:,} of {seen.missions:,} missions"
                )
        if parts:
            years = f"{it.horizon_seconds / YEAR:g}"
            unit = "year" if years == "1" else "years"
            lines.append(f"{years} {unit}: {', '.join(parts)}; bounds with 95 % confidence")
    return lines


def _corruption(found: SilentCorruption) -> Group:
    """Return the expected silent corruptions by what becomes of them."""
    table = FittedTable("Silent corruption", 1, ("blocks", "a year", f"in {found.years:g} years"))
    for name, value in (
        ("corrupted", found.over_years),
        ("repaired", found.repaired),
        ("located, not repaired", found.located),
        ("detected, not located", found.detected),
        ("not detected", found.undetected),
    ):
        table.add_row(name, f"{value / found.years:.4g}", f"{value:.4g}")
    rate = f"Rate: {found.rate_per_disk_year:.3g} in a disk-year, {whole(found.disks)} disks"
    if found.corrupt_disks_a_year is not None:
        rate += f", of which {found.corrupt_disks_a_year:.3g} a year get any"
    return Group(table, Text(f"{rate}; checksums: {found.checksums}"))


def _estimate(estimate: Estimate) -> str:
    return f"{estimate.value:.4g} \N{PLUS-MINUS SIGN} {estimate.standard_error:.1g}"


def explanation(question: Question, inputs: Sequence[Input]) -> RenderableType:
    """Return the table of a question's values with their sources, and the formulas."""
    table = FittedTable("Values", 3, ("what", "value", "source"))
    for it in inputs:
        table.add_row(it.name, it.text, it.source)
    lines = "\n".join(f"  {it}" for it in formulas(question))
    return Group(table, Text("\nFormulas of the chain", style="bold"), Text(lines))


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
