"""The catalogued figures of results as CSV, for spreadsheets and statistics programs."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace.environment import KEYS
from headrace.files import atomic_file
from headrace.store import queries, schema

if TYPE_CHECKING:
    from headrace.store.catalogue import Store

OF_RESULT = ("id", "kind", "name", "started", "version", "calls", "seed", "labels", *KEYS)
OF_FIGURE = ("step", "repetition", "operation", "figure", "value")


def write_csv(store: "Store", ids: Sequence[str], path: Path) -> Sequence[str]:
    """Write a row for each figure of each result, and return the identifiers. Figures are over all
    repetitions (`repetition` 0), of each repetition, and of each step of a load sweep (`step`)."""
    with store.reading() as connection:
        whole = list(dict.fromkeys(queries.found(connection, identifier) for identifier in ids))
        results = queries.rows(connection, schema.runs, whole, without=queries.LARGE)
        labels = queries.labels(connection, whole)
        environments = queries.environments(connection, whole)
        figures: list[dict[str, Any]] = []
        for table in (schema.figures, schema.repetitions, schema.step_figures):
            figures += queries.rows(connection, table, whole)
    of_result = {
        row["id"]: dict.fromkeys(KEYS)
        | row
        | environments[row["id"]]
        | {"labels": " ".join(f"{key}={value}" for key, value in labels[row["id"]].items())}
        for row in results
    }
    order = {identifier: number for number, identifier in enumerate(whole)}
    figures.sort(key=lambda row: order[row["run_id"]])
    with atomic_file(path) as partial, partial.open("w", newline="", encoding="utf-8") as file:
        written = csv.writer(file)
        written.writerow([*OF_RESULT, *OF_FIGURE])
        for row in figures:
            result = of_result[row["run_id"]]
            row = {"step": "", "repetition": row.get("number", 0)} | row
            written.writerow([*(result[key] for key in OF_RESULT), *(row[it] for it in OF_FIGURE)])
    return whole
