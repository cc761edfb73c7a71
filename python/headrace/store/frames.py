"""Contents of the catalogue as tidy frames."""

from collections.abc import Sequence

import polars as pl
import sqlalchemy as sa

from headrace.store import queries, schema
from headrace.store.figures import FIGURES as ORDER
from headrace.store.queries import LARGE

RUNS = pl.Schema(
    {
        "id": pl.String(),
        "kind": pl.String(),
        "name": pl.String(),
        "started": pl.Datetime("us", "UTC"),
        "duration_s": pl.Float64(),
        "calls": pl.String(),
        "version": pl.String(),
        "seed": pl.Int64(),
        "scenario_sha256": pl.String(),
        "machine": pl.String(),
        "system": pl.String(),
        "host": pl.String(),
        "directory": pl.String(),
        "file_system": pl.String(),
        "device": pl.String(),
        "kernel": pl.String(),
        "processor": pl.String(),
        "labels": pl.List(pl.String()),
    }
)
FIGURES = pl.Schema(
    {"id": pl.String(), "operation": pl.String(), "figure": pl.String(), "value": pl.Float64()}
)
STEP_FIGURES = pl.Schema(
    {
        "id": pl.String(),
        "step": pl.String(),
        "repetition": pl.Int64(),
        "operation": pl.String(),
        "figure": pl.String(),
        "value": pl.Float64(),
    }
)
HISTORY = pl.Schema(
    {
        "id": pl.String(),
        "started": pl.Datetime("us", "UTC"),
        "version": pl.String(),
        "kind": pl.String(),
        "host": pl.String(),
        "value": pl.Float64(),
    }
)


def history(
    connection: sa.Connection, chosen: queries.Filter, operation: str, figure: str
) -> pl.DataFrame:
    """A figure of the matching results, the oldest first."""
    rows = queries.history(connection, chosen, operation, figure)
    texts = pl.Schema({**HISTORY, "started": pl.String()})
    frame = pl.DataFrame([tuple(row) for row in rows], schema=texts, orient="row")
    names = pl.lit(operation).alias("operation"), pl.lit(figure).alias("figure")
    return frame.with_columns(_as_time("started"), *names)


def runs(connection: sa.Connection, ids: Sequence[str]) -> pl.DataFrame:
    """Results, without their figures; labels as `key=value`."""
    labels = queries.labels(connection, ids)
    environments = queries.environments(connection, ids)
    rows = queries.rows(connection, schema.runs, ids, without=LARGE)
    frame = pl.DataFrame(
        [
            row
            | {key: value for key, value in environments[row["id"]].items() if key in RUNS}
            | {"labels": [f"{key}={value}" for key, value in labels[row["id"]].items()]}
            for row in rows
        ],
        schema=RUNS | {"started": pl.String()},
    )
    return frame.with_columns(_as_time("started"))


def figures(connection: sa.Connection, ids: Sequence[str]) -> pl.DataFrame:
    """Figures of results, one a row."""
    rows = queries.rows(connection, schema.figures, ids)
    # Figures of one result by operation.
    place = {figure: number for number, figure in enumerate(ORDER)}
    order = {identifier: number for number, identifier in enumerate(ids)}
    rows.sort(
        key=lambda it: (order[it["run_id"]], it["operation"], place.get(it["figure"], len(place)))
    )
    return pl.DataFrame([row | {"id": row["run_id"]} for row in rows], schema=FIGURES)


def step_figures(connection: sa.Connection, ids: Sequence[str]) -> pl.DataFrame:
    """Return the figures of the steps of load sweeps, one a row."""
    rows = queries.rows(connection, schema.step_figures, ids)
    return pl.DataFrame([row | {"id": row["run_id"]} for row in rows], schema=STEP_FIGURES)


def _as_time(column: str) -> pl.Expr:
    return pl.col(column).str.to_datetime("%Y-%m-%dT%H:%M:%S%.6fZ", time_zone="UTC")
