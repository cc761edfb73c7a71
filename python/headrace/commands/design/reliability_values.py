"""Texts of reliability's parameters, and the figures of its answer."""

from collections.abc import Iterable, Iterator

from headrace.commands.parameters import Value
from headrace.commands.values import parsed, time
from headrace.design.figure import Figure, Input
from headrace.design.reliability import laws
from headrace.design.reliability.answer import Answer, HorizonAnswer
from headrace.design.reliability.question import Batches, Domain
from headrace.quantities import YEAR, number

MOST = 2**32 - 1
"""Most disks of a batch or a domain: a field of the engine."""


def _years(option: str, text: str) -> tuple[float, ...]:
    """Return years, ascending and each once."""
    years = set()
    for part in text.split(","):
        try:
            value = float(part)
        except ValueError:
            value = 0.0
        if not 0 < value <= 1e6:
            raise ValueError(
                f'{option} "{text}": expected years above 0, up to 1,000,000, such as 10 or 1,5,10'
            )
        years.add(value)
    return tuple(sorted(years))


def _bit_error_rate(option: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1e-6:
        raise ValueError(
            f"{option} {text}: expected errors per bit from 0 to 1e-6, such as 1e-14 for 1 in 10^14"
        )
    return value


def _batches(option: str, text: str) -> Batches:
    try:
        disks, share, factor = text.split(",")
        batches = Batches(int(disks), float(share), float(factor))
    except ValueError:
        batches = Batches(0, 0.0, 0.0)
    is_possible = 1 <= batches.disks <= MOST and 0 <= batches.bad_share <= 1
    if not is_possible or not 0 < batches.bad_factor <= 1e6:
        raise ValueError(
            f'{option} "{text}": expected the disks of a batch, the share of bad batches and the'
            " factor on their failure rate, such as 24,0.05,5"
        )
    return batches


def _domain(option: str, text: str) -> Domain:
    expected = (
        f'{option} "{text}": expected NAME:DISKS,MTTF,OUTAGE and perhaps the part of its disks that'
        ' is lost and the word across, such as "shelf:16,200000 h,4 h,0"'
    )
    name, colon, rest = text.partition(":")
    fields = [field.strip() for field in rest.split(",")]
    across = len(fields) == 5 and fields[4] == "across"
    if not colon or not name or not (3 <= len(fields) <= 4 or across):
        raise ValueError(expected)
    try:
        disks, lost = int(fields[0]), float(fields[3]) if len(fields) > 3 else 0.0
    except ValueError:
        raise ValueError(expected) from None
    if not 1 <= disks <= MOST or not 0 <= lost <= 1:
        raise ValueError(expected)
    return Domain(
        name,
        disks,
        time(option, fields[1]),
        parsed(option, fields[2], laws.parse_duration),
        "across" if across else "within",
        lost,
    )


YEARS = Value("YEARS", _years, lambda years: ",".join(map(number, years)), True)
BIT_ERROR_RATE = Value("RATE", _bit_error_rate)
BATCHES = Value("DISKS,SHARE,FACTOR", _batches)
DOMAIN = Value("NAME:DISKS,MTTF,OUTAGE[,LOST[,across]]", _domain)


def reliability_figures(
    answer: Answer, horizons: Iterable[HorizonAnswer], inputs: tuple[Input, ...]
) -> Iterator[Figure]:
    """Return the figures of an answer, those of the horizons first."""
    method = f"by the method {answer.method}"
    note = " ".join(answer.assumptions)
    for horizon in horizons:
        years = number(horizon.horizon_seconds / YEAR)
        after = f"in {years} {'year' if years == '1' else 'years'}"
        yield Figure(
            key=f"loss-probability-{years}",
            title=f"probability of a data loss {after}",
            value=horizon.loss_probability,
            unit="1",
            formula=f"1 - P(no loss {after}), {method}",
            inputs=inputs,
            source="docs/explanation/reliability.md",
            standard_error=horizon.standard_error or None,
            note=note,
        )
        is_known = horizon.nomdl is not None
        yield Figure(
            key=f"nomdl-{years}",
            title=f"NOMDL {after}",
            value=horizon.nomdl_high if horizon.nomdl is None else horizon.nomdl,
            unit="1",
            formula="expected bytes lost / usable bytes",
            inputs=inputs,
            source="Greenan, Plank and Wylie 2010",
            standard_error=(horizon.nomdl_standard_error or None) if is_known else None,
            note=note
            if is_known
            else f"Too few losses were simulated: below {horizon.nomdl_high:.2g} with 95 %"
            f" confidence. {note}",
        )
    if answer.mttdl_seconds is not None:
        yield Figure(
            key="mttdl",
            title="mean time to data loss",
            value=answer.mttdl_seconds,
            unit="s",
            formula=f"mean time to the first loss, {method}",
            inputs=inputs,
            source="docs/explanation/reliability.md",
            note="It compares systems; it predicts no service life.",
        )
    yield Figure(
        key="usable",
        title="usable capacity",
        value=answer.usable_bytes,
        unit="B",
        formula="data disks x capacity of a disk x groups",
        inputs=inputs,
        source="definition",
    )
