"""A tuned mix as tables for a terminal."""

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.quantities import percent
from headrace.report.fitted_table import FittedTable
from headrace.report.study_tables import ENDS

LEAST = 0.0005
"""Smaller shares are zero in a table."""


def tuned(document: Mapping[str, Any]) -> RenderableType:
    """Return the mix of each method, and its protocol operations beside the wanted ones."""
    mixes: Mapping[str, Any] = document["mixes"]
    found = FittedTable("File operations, %", 1, ["operation", *mixes])
    for operation in document["profile"]:
        shares = [mix["weights"].get(operation) for mix in mixes.values()]
        if any(shares):
            found.add_row(operation, *("" if it is None else percent(it) for it in shares))
    columns = ["protocol", "wanted"]
    columns += [f"{method} {what}" for method in mixes for what in ("predicted", "measured")]
    caused = FittedTable("What they cause, %", 1, columns)
    names = {name for mix in mixes.values() for name in mix["predicted"]} | set(document["wanted"])
    for name in sorted(names, key=lambda it: -document["wanted"].get(it, 0.0)):
        shares = [document["wanted"].get(name, 0.0), *_shares(mixes, name)]
        if max(it or 0.0 for it in shares) < LEAST:
            continue
        caused.add_row(name, *("" if it is None else percent(it) for it in shares))
    lines = [Text(_distances(method, mix)) for method, mix in mixes.items()]
    lines += [
        Text(f"{name} is {why}.")
        for mix in sorted(mixes.values(), key=_predicted_distance)[:1]
        for name, why in mix["unreached"].items()
    ]
    lines += [
        Text(f"{operation} was left out: {why}") for operation, why in document["left_out"].items()
    ]
    if ends := ENDS.get(document.get("stop", {}).get("reason", "done")):
        lines.append(Text(ends))
    # Without a mix there are no columns to show.
    return Group(*((found, caused) if mixes else ()), *lines)


def _distances(method: str, mix: Mapping[str, Any]) -> str:
    """Return the distance of a mix from its target."""
    predicted = f"{method}: distance {mix['predicted_distance']:.4f} predicted"
    if mix["measured"] is None:
        return f"{predicted}; not measured: no operation of the mix was completed within --time."
    return (
        f"{predicted}, {mix['measured_distance']:.4f} measured; no share is off by more than"
        f" {100 * mix['largest_difference']:.2f} percentage points."
    )


def _shares(mixes: Mapping[str, Any], name: str) -> list[float | None]:
    """The shares of a protocol operation that each mix was to cause and has caused; None of a mix
    that was not measured."""
    return [
        None if mix[what] is None else mix[what].get(name, 0.0)
        for mix in mixes.values()
        for what in ("predicted", "measured")
    ]


def _predicted_distance(mix: Mapping[str, Any]) -> float:
    return float(mix["predicted_distance"])
