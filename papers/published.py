"""Published results of benchmarks: rows of descriptions, and predictions of them as text.

Scripts of `papers/mlperf-storage` and `papers/io500` share it.
"""

import argparse
import csv
import json
import math
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

Published = Mapping[str, str]
"""A row of a CSV file."""
PROTOCOL = 0.95
"""Share of a network card's rate that is data: TCP with jumbo frames, or InfiniBand. Declared."""


class Description:
    """What a row says of a system: the named columns, and no result."""

    def __init__(self, row: Published, columns: Sequence[str]) -> None:
        self.row = {name: row.get(name, "") for name in columns}

    def number(self, name: str) -> float | None:
        """Return a column as a number; None if it is not known. Raises ValueError."""
        text = self.row[name].strip()
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            row = next(iter(self.row.values()))
            raise ValueError(f"{row}: {name} = {text!r}: expected a number of at least 0")
        return value

    def product(self, *names: str) -> float | None:
        """Return the product of columns; None if one is not known."""
        values = [self.number(name) or None for name in names]
        known = [value for value in values if value is not None]
        return math.prod(known) if len(known) == len(values) else None


def rows(path: Path, columns: Sequence[str]) -> Iterator[Published]:
    """Read the rows of a CSV file, which must have the columns."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"{path}: expected the columns {', '.join(missing)}")
        for row in reader:
            if None in row:
                first = row[columns[0]]
                raise ValueError(f"{path}: {first}: more cells than columns")
            yield row


def _with(
    given: Callable[[Published, Sequence[Published]], Mapping[str, Any]],
    known: Sequence[Published],
    row: Published,
) -> Mapping[str, Any]:
    return given(row, known)


def print_predictions(
    title: str,
    columns: Sequence[str],
    predict: Callable[[Published], Mapping[str, Any]],
    arguments: Sequence[str] | None = None,
    given: Callable[[Published, Sequence[Published]], Mapping[str, Any]] | None = None,
) -> int:
    """Print the predictions of the rows of a file. Returns the status of the command.

    `given` predicts a row where published ones are known (`--given`).
    """
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("rows", type=Path, metavar="ROWS.csv")
    if given is not None:
        parser.add_argument(
            "--given", type=Path, metavar="RESULTS.csv", help="published rows to fit on"
        )
    parser.add_argument("--json", action="store_true", help="print a JSON list")
    options = parser.parse_args(arguments)
    # A reader that has enough, as head has, is no error.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        known = None if given is None else options.given
        if given is not None and known is not None:
            predict = partial(_with, given, list(rows(known, columns)))
        predictions = []
        for row in rows(options.rows, columns):
            predictions.append(predict(row))
            print(f"{len(predictions)} rows: {row[columns[0]]}", file=sys.stderr)
    except (OSError, ValueError) as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(predictions, indent=1))
        return 0
    for one in predictions:
        print(" | ".join(str(value) for value in one.values()))
    return 0
