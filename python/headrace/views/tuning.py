"""A tuned mix: its file operations, and the protocol operations that they cause."""

from typing import Any

from headrace.measure.tuning.tune import MixFigures, TuningReport
from headrace.quantities import percent
from headrace.render import units
from headrace.render.blocks import Axis, Column, Headline, Note, Record, Records, Table, View, bars
from headrace.views.parts import ending

LEAST = 0.0005
"""Smaller shares are zero in a table."""


def view(result: TuningReport) -> View:
    """Return the mix of each method, and its protocol operations beside the wanted ones."""
    mixes, target = result.mixes, result.wanted
    share = Axis("share", units.SHARE)
    measured = {name: mix.measured for name, mix in mixes.items() if mix.measured is not None}
    order = sorted(
        {*target, *(name for shares in measured.values() for name in shares)},
        key=lambda name: (-target.get(name, 0.0), name),
    )
    compared = {"wanted": target} | {f"{name}, measured": mix for name, mix in measured.items()}
    operations = [
        name for name in result.profile if any(mix.weights.get(name) for mix in mixes.values())
    ]
    nearest = min(mixes.items(), key=lambda mix: _distance(mix[1]), default=None)
    view: list[Any] = [
        *([] if nearest is None else [_headline(*nearest)]),
        *bars(
            "tune",
            "Protocol operations: wanted and measured",
            "operation of the protocol",
            share,
            {
                label: {name: shares.get(name, 0.0) for name in order}
                for label, shares in compared.items()
            },
        ),
        *bars(
            "operations",
            "File operations of the mix",
            "file operation",
            share,
            {
                label: {name: mix.weights.get(name, 0.0) for name in operations}
                for label, mix in mixes.items()
            },
        ),
    ]
    # Without a mix there are no columns to show.
    if mixes:
        view += [_operations(result, operations), _caused(result)]
    view += [Note(_distances(method, mix)) for method, mix in mixes.items()]
    if nearest is not None:
        view += [Note(f"{name} is {reason}.") for name, reason in nearest[1].unreached.items()]
    view += [Note(f"{name} was left out: {reason}") for name, reason in result.left_out.items()]
    return [*view, *ending(result.stop), Records(_records(result))]


def _headline(method: str, mix: MixFigures) -> Headline:
    off = mix.largest_difference
    largest = {} if off is None else {"largest difference of a share": f"{percent(off)} %"}
    return Headline({"nearest mix": method, "distance": f"{_distance(mix):.4f}", **largest})


def _distance(mix: MixFigures) -> float:
    """Return the measured distance of a mix, or the predicted one if nothing was measured."""
    return mix.predicted_distance if mix.measured_distance is None else mix.measured_distance


def _operations(result: TuningReport, operations: list[str]) -> Table:
    return Table(
        "File operations, %",
        [
            Column("operation", operations),
            *(
                Column(name, [mix.weights.get(operation) for operation in operations], units.SHARE)
                for name, mix in result.mixes.items()
            ),
        ],
    )


def _caused(result: TuningReport) -> Table:
    shares: dict[str, dict[str, float] | None] = {"wanted": result.wanted}
    for name, mix in result.mixes.items():
        shares |= {f"{name} predicted": mix.predicted, f"{name} measured": mix.measured}
    caused = {name for mix in result.mixes.values() for name in mix.predicted} | set(result.wanted)
    rows = [
        name
        for name in sorted(caused, key=lambda name: -result.wanted.get(name, 0.0))
        if max(each.get(name, 0.0) for each in shares.values() if each is not None) >= LEAST
    ]
    columns = [
        Column(name, [None if each is None else each.get(row, 0.0) for row in rows], units.SHARE)
        for name, each in shares.items()
    ]
    return Table("What they cause, %", [Column("protocol", rows), *columns])


def _distances(method: str, mix: MixFigures) -> str:
    """Return the distance of a mix from its target."""
    predicted = f"{method}: distance {mix.predicted_distance:.4f} predicted"
    if mix.measured is None or mix.largest_difference is None:
        return f"{predicted}; not measured: no operation of the mix was completed within --time."
    return (
        f"{predicted}, {mix.measured_distance:.4f} measured; no share is off by more than"
        f" {100 * mix.largest_difference:.2f} percentage points."
    )


def _records(result: TuningReport) -> list[Record]:
    return [
        {"mix": name, "distance": mix.measured_distance, "operation": operation, "weight": weight}
        for name, mix in result.mixes.items()
        for operation, weight in mix.weights.items()
    ]
