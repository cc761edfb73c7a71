"""Small calculations of `headrace design` at once: each runs as a short process under limits."""

import asyncio
import math
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from headrace.design.figure import Figure, Input, Unit
from headrace.quantities import YEAR, number
from headrace.web.access.paths import FILE_WORDS
from headrace.web.design.figures import FigureBook
from headrace.web.jobs import CommandForm, FormField, JobRequest, RefusedRequest
from headrace.web.jobs.command_line import arguments
from headrace.web.jobs.commands import Runnable

SECONDS = 30.0
"""Time after which a calculation is ended."""
MEMORY_KIB = 4 << 20
SIDE_BY_SIDE = 2
"""Calculations that run at once; others wait."""
LARGEST_ERROR = 2000


class Calculator(msgspec.Struct, frozen=True):
    """A command as a small form."""

    title: str
    fields: tuple[str, ...]
    """Parameters that the form has, the usual ones first."""
    more: tuple[str, ...] = ()
    """Parameters behind a fold."""
    fixed: Mapping[str, Any] = {}
    """Values that a request cannot change."""
    example: Mapping[str, str] = {}
    """Values with which the form begins."""

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters that a request may give."""
        return (*self.fields, *self.more)


STORAGE = ("disks", "disk_capacity", "level", "nodes", "copies")
LESS_STORAGE = ("spares", "arrays", "data", "parity", "draid", "code", "file_system")
DISKS = {"disks": "12", "disk_capacity": "4 TB", "level": "raid6"}
CALCULATORS: Mapping[str, Calculator] = {
    "capacity": Calculator("Capacity", (*STORAGE, "usable"), LESS_STORAGE, example=DISKS),
    "reliability": Calculator(
        "Reliability",
        ("level", "disks", "disk_capacity", "groups", "mttf", "mttr", "bit_error_rate"),
        (
            "copies",
            "data",
            "parity",
            "disk_class",
            "failure_factor",
            "lifetime",
            "spares",
            "restock",
            "scrub",
        ),
        example={
            "level": "raid6",
            "disks": "8",
            "disk_capacity": "4 TB",
            "mttf": "1000000 h",
            "mttr": "12 h",
        },
    ),
    "spares": Calculator(
        "Hot spares",
        ("disks", "restock", "mttf", "wanted"),
        ("failure_factor", "shelves", "everywhere"),
        fixed={"missions": 0},
        example={"disks": "100", "restock": "14 d", "mttf": "1000000 h"},
    ),
    "power": Calculator(
        "Power and cooling",
        ("nodes", "watts", "max_watts", "voltage", "power_factor", "component"),
        ("amperes", "max_amperes", "ups_va", "ups_power_factor", "cooling_overhead"),
        example={"nodes": "10", "watts": "400"},
    ),
    "cost": Calculator(
        "Cost",
        ("nodes", "node_price", "disks", "disk_capacity", "disk_price", "level", "electricity"),
        (
            "years",
            "network_price",
            "copies",
            *LESS_STORAGE,
            "metadata_nodes",
            "disk_watts",
            "node_watts",
            "rack_units",
            "mttf",
            "cooling_overhead",
            "rack_month",
            "maintenance",
            "engineer_hour",
            "throughput",
            "currency",
        ),
        example=DISKS
        | {"nodes": "4", "node_price": "4000", "disk_price": "120", "electricity": "0.2"},
    ),
    "growth": Calculator(
        "Growth",
        ("usable", "growth_rate", "years", "unit", "node_price", "disks_price"),
        ("reserve", "price_decline", "nodes_per_rack", "racks"),
        example={
            "usable": "20 TB",
            "growth_rate": "30 %",
            "unit": "10 TB",
            "node_price": "4000",
            "disks_price": "2000",
        },
    ),
}
"""Calculators by the name of their command below `headrace design`."""

_turns: dict[int, asyncio.Semaphore] = {}


async def calculate(form: CommandForm, values: Mapping[str, Any]) -> FigureBook:
    """Compute figures from the parameters of a command.

    Parameters:
        form: The command, whose name is in `CALCULATORS`.
        values: Values of its parameters, by name.

    Raises:
        RefusedRequest: A value is wrong or missing, or the calculation takes too long.
    """
    name = form.command[-1]
    calculator = CALCULATORS[name]
    for given in values:
        if given not in calculator.names:
            raise RefusedRequest(f"the calculator {name} has no parameter {given}", given)
    request = JobRequest(form.command, {**values, **calculator.fixed})
    words = arguments(request, Runnable(form.command), form, "", "", _no_file)
    for it in form.fields:
        value = str(values.get(it.name, "")).strip().lower()
        if value.startswith("table"):
            raise RefusedRequest(f"{it.name}: expected no file", it.name)
    figures = READERS.get(name, _figures)(await _run(words))
    return FigureBook(figures, str(values.get("currency", ""))[:20])


def _no_file(value: str, field: FormField) -> Path | str:
    """Return a text as it is; refuse a parameter that names a file."""
    if field.kind == "path" or FILE_WORDS & set(re.findall("[A-Z]+", field.metavar)):
        raise RefusedRequest(f"{field.name}: expected no file", field.name)
    return value


async def _run(words: list[str]) -> bytes:
    """Return the JSON document that a command prints. Raises RefusedRequest."""
    loop = id(asyncio.get_running_loop())
    async with _turns.setdefault(loop, asyncio.Semaphore(SIDE_BY_SIDE)):
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            f'ulimit -v {MEMORY_KIB} && exec "$@"',
            "sh",
            sys.executable,
            "-P",
            "-m",
            "headrace",
            *words,
            cwd="/",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = await asyncio.wait_for(process.communicate(), SECONDS)
        except TimeoutError:
            raise RefusedRequest(
                f"it takes more than {SECONDS:.0f} s: run headrace {' '.join(words[:2])}"
            ) from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGKILL)
                await process.wait()
    if process.returncode:
        lines = err.decode(errors="replace").strip().splitlines()
        raise RefusedRequest("\n".join(lines)[:LARGEST_ERROR] or "the calculation failed")
    return out


class PrintedFigure(msgspec.Struct, frozen=True):
    """A figure as `print_figures` prints it, without its key."""

    title: str
    value: float | None
    """None if it is infinite or unknown."""
    unit: Unit
    formula: str
    inputs: tuple[Input, ...]
    source: str
    standard_error: float | None
    note: str


class PrintedFigures(msgspec.Struct, frozen=True):
    """A document of `print_figures`."""

    figures: dict[str, PrintedFigure]


class Horizon(msgspec.Struct, frozen=True):
    """A horizon as `headrace design reliability` prints it."""

    horizon_seconds: float
    loss_probability: float
    standard_error: float
    nomdl: float | None
    nomdl_standard_error: float
    nomdl_low: float
    nomdl_high: float


class PrintedReliability(msgspec.Struct, frozen=True):
    """A document of `headrace design reliability`."""

    inputs: tuple[Input, ...]
    method: str
    assumptions: tuple[str, ...]
    horizons: tuple[Horizon, ...]
    mttdl_seconds: float | None
    usable_bytes: float | None


class PrintedSpareRow(msgspec.Struct, frozen=True):
    """A number of spares as `headrace design spares` prints it."""

    spares: int
    """Spares of a pool."""
    total: int
    """Spares of all pools."""
    probability: float


class PrintedSpares(msgspec.Struct, frozen=True):
    """A document of `headrace design spares`."""

    assumptions: tuple[str, ...]
    missing: float
    spares: int
    wanted: float
    failures_a_year: float
    rows: tuple[PrintedSpareRow, ...]


def _figures(printed: bytes) -> Iterator[Figure]:
    document = msgspec.json.decode(printed, type=PrintedFigures)
    for key, it in document.figures.items():
        fields = {name: getattr(it, name) for name in PrintedFigure.__struct_fields__}
        yield Figure(key=key, **fields | {"value": math.nan if it.value is None else it.value})


def _reliability(printed: bytes) -> Iterator[Figure]:
    document = msgspec.json.decode(printed, type=PrintedReliability)
    inputs = document.inputs
    method = f"by the method {document.method}"
    note = " ".join(document.assumptions)
    for it in document.horizons:
        years = number(it.horizon_seconds / YEAR)
        yield Figure(
            key=f"loss-probability-{years}",
            title=f"probability of a data loss in {years} {'year' if years == '1' else 'years'}",
            value=it.loss_probability,
            unit="1",
            formula=f"1 - P(no loss in {years} years), {method}",
            inputs=inputs,
            source="docs/explanation/reliability.md",
            standard_error=it.standard_error or None,
            note=note,
        )
        yield Figure(
            key=f"nomdl-{years}",
            title=f"NOMDL in {years} {'year' if years == '1' else 'years'}",
            value=it.nomdl_high if it.nomdl is None else it.nomdl,
            unit="1",
            formula="expected bytes lost / usable bytes",
            inputs=inputs,
            source="Greenan, Plank and Wylie 2010",
            standard_error=it.nomdl_standard_error if it.nomdl is not None else None,
            note=note
            if it.nomdl is not None
            else f"Too few losses were simulated: below {it.nomdl_high:.2g} with 95 % confidence."
            f" {note}",
        )
    if document.mttdl_seconds is not None:
        yield Figure(
            key="mttdl",
            title="mean time to data loss",
            value=document.mttdl_seconds,
            unit="s",
            formula=f"mean time to the first loss, {method}",
            inputs=inputs,
            source="docs/explanation/reliability.md",
            note="It compares systems; it predicts no service life.",
        )
    if document.usable_bytes is not None:
        yield Figure(
            key="usable",
            title="usable capacity",
            value=document.usable_bytes,
            unit="B",
            formula="data disks x capacity of a disk x groups",
            inputs=inputs,
            source="definition",
        )


def _spares(printed: bytes) -> Iterator[Figure]:
    document = msgspec.json.decode(printed, type=PrintedSpares)
    note = " ".join(document.assumptions)
    missing = Input("missing spares", number(document.missing), "mean number on order")
    formula = "P(N < spares of a pool), N Poisson of mean missing spares"
    source = "Palm's theorem; Feeney and Sherbrooke 1966"
    yield Figure(
        key="spares",
        title="hot spares",
        value=document.spares,
        unit="1",
        formula=f"fewest spares for which {formula} is at least the wanted probability",
        inputs=(missing, Input("wanted probability", number(document.wanted), "--probability")),
        source=source,
        note=note,
    )
    yield Figure(
        key="failures-year",
        title="disk failures a year",
        value=document.failures_a_year,
        unit="1",
        formula="disks x 8760 h x failure factor / MTTF",
        source="definition",
    )
    for it in document.rows:
        yield Figure(
            key=f"probability-{it.total}",
            title=f"probability that a failed disk finds a spare, with {it.total} spares",
            value=it.probability,
            unit="1",
            formula=formula,
            inputs=(missing, Input("spares of a pool", str(it.spares), "row of the table")),
            source=source,
        )


READERS = {"reliability": _reliability, "spares": _spares}
