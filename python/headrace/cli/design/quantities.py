"""Quantities on the command line of `headrace design`, and how its figures are printed."""

import json
import math
import re
from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

import typer

from headrace.design.figure import Figure

AsJson: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json", help="Print one JSON document: value, unit, formula and inputs of each figure."
    ),
]


def parse_size(option: str, text: str) -> float:
    """Parse bytes with a unit, such as "20 TB".

    Raises:
        ValueError: It is malformed, or not more than 0. The message names the option.
    """
    from headrace._core import parse_bytes

    expected = 'expected a size such as "4 TB" or "20 TiB"'
    try:
        found = parse_bytes(text)
    except ValueError as error:
        reason = str(error).partition(": ")[2]
        raise ValueError(
            f'{option} "{text}": {expected}{f": {reason}" if reason else ""}'
        ) from None
    if found <= 0:
        raise ValueError(f'{option} "{text}": {expected}, more than 0')
    return float(found)


def parse_share(option: str, text: str) -> float:
    """Parse a share such as "30 %" or 0.3.

    Raises:
        ValueError: It is malformed. The message names the option.
    """
    found = re.fullmatch(r"\s*([+-]?(?:\d+\.?\d*|\.\d+))\s*(%?)\s*", text)
    if found is None:
        raise ValueError(f'{option} "{text}": expected a share such as "30 %" or 0.3')
    return float(found[1]) / (100 if found[2] else 1)


def check_number(option: str, value: float, least: float, example: str) -> None:
    """Raise ValueError if an option's number is not finite or is less than it may be."""
    if not math.isfinite(value) or value < least:
        raise ValueError(f"{option} {value:g}: expected at least {least:g}, such as {example}")


def print_figures(title: str, figures: Sequence[Figure], as_json: bool, currency: str = "") -> None:
    """Print figures as a table with their arithmetic, or as JSON.

    The document has the value of each figure by its key, all of the figures under `figures`, and
    their notes under `assumptions`.
    """
    from headrace.report.figure_tables import figure_table, figures_document

    if not as_json:
        from headrace.cli.screen import FOLDED, show

        show(figure_table(title, figures, currency), redirected_width=FOLDED)
        return
    document = figures_document(figures)
    values: dict[str, Any] = {key.replace("-", "_"): it["value"] for key, it in document.items()}
    notes = list(dict.fromkeys(it.note for it in figures if it.note))
    print(
        json.dumps(values | {"figures": document, "assumptions": notes}, allow_nan=False, indent=2)
    )
