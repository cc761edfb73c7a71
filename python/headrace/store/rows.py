"""Rows of the catalogue's tables as records (`headrace.store.schema`)."""

from collections.abc import Sequence

import msgspec
import sqlalchemy as sa

from headrace.kinds import SIMULATED
from headrace.store import queries, schema


class RunRow(msgspec.Struct, frozen=True):
    """A result, without its scenario and document."""

    id: str
    kind: str
    name: str
    scenario_sha256: str | None
    seed: int | None
    version: str
    machine: str
    system: str
    started: str
    """Start in UTC, as the catalogue has it."""
    duration_s: float | None
    calls: str | None

    @property
    def simulated(self) -> bool:
        """True for a simulation."""
        return self.kind == SIMULATED


class FigureRow(msgspec.Struct, frozen=True):
    """A figure of a result, of one of its repetitions, or of a step of a load sweep."""

    run_id: str
    operation: str
    figure: str
    value: float
    number: int | None = None
    """Number of the repetition, from 1; None for all of them."""
    seed: int | None = None
    step: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The operation and the figure."""
        return self.operation, self.figure


def runs(connection: sa.Connection, ids: Sequence[str]) -> list[RunRow]:
    """Return these results. Raises DamagedRow."""
    columns = queries.rows(connection, schema.runs, ids, without=queries.LARGE)
    return [RunRow(**row) for row in columns]


def figures(connection: sa.Connection, ids: Sequence[str]) -> list[FigureRow]:
    """Return the figures of these results. Raises DamagedRow."""
    return [FigureRow(**row) for row in queries.rows(connection, schema.figures, ids)]


def repetitions(connection: sa.Connection, ids: Sequence[str]) -> list[FigureRow]:
    """Return the figures of the repetitions of these results. Raises DamagedRow."""
    return [FigureRow(**row) for row in queries.rows(connection, schema.repetitions, ids)]


def step_figures(connection: sa.Connection, ids: Sequence[str], step: str) -> list[FigureRow]:
    """Return the figures of a step, and of its repetitions. Raises DamagedRow."""
    return [
        FigureRow(number=row.pop("repetition") or None, **row)
        for row in queries.rows(connection, schema.step_figures, ids, step=step)
    ]
