"""A training: utilisation of accelerators, and what they wait for."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from headrace.quantities import figure, milliseconds, numbered, percent, whole
from headrace.render import units
from headrace.render.blocks import Block, Column, Note, Record, Table
from headrace.training import OF_INTEREST, Durations, Training
from headrace.views.parts import half_width

Intervals: TypeAlias = Mapping[str, Any] | None


def tables(trainings: Sequence[Training], intervals: Intervals) -> list[Block]:
    """Return the utilisation of each training, and a sentence on what its accelerators wait for."""
    blocks: list[Block] = []
    for one in trainings:
        title = f"Training of workload {one.workload:g}" if len(trainings) > 1 else "Training"
        blocks.append(_table(one, title, intervals))
        blocks.append(Note(sentence(one)))
        if one.checkpoint is not None:
            blocks.append(Note(_checkpoints(one.checkpoint)))
    return blocks


def main_figures(training: Training) -> dict[str, str]:
    """Return the figures that a reader looks at first, by name."""
    figures = {"accelerators": whole(training.accelerators)}
    if training.utilisation is not None:
        figures["accelerator utilisation (AU)"] = f"{percent(training.utilisation)} %"
    if training.samples_per_second is not None:
        figures["samples"] = f"{figure(training.samples_per_second)} /s"
    return figures


def records(trainings: Sequence[Training]) -> list[Record]:
    """Return a row of a CSV file for each training."""
    return [
        {
            "operation": f"training of workload {one.workload:g}",
            "accelerators": one.accelerators,
            "au": one.utilisation,
            "samples_per_s": one.samples_per_second,
        }
        for one in trainings
    ]


def _table(training: Training, title: str, intervals: Intervals) -> Table:
    time = training.accelerator_time
    step = training.step
    path = "trainings", f"{training.workload:g}"
    utilisation, samples = (half_width(intervals, *path, name) for name in OF_INTEREST)
    columns = [
        Column("accelerators", [training.accelerators], units.COUNT),
        Column("AU %", [training.utilisation], units.SHARE, 0, [utilisation]),
        Column("samples/s", [training.samples_per_second], units.FIGURE, 0, [samples]),
        Column("MB/s", [training.bytes_per_second], units.THROUGHPUT),
        Column("step ms", [None if step is None else step.mean], units.MILLISECONDS),
        Column("p99 ms", [None if step is None else step.p99], units.MILLISECONDS, 1),
        Column("waits for data %", [time.data], units.SHARE),
        Column("for others %", [time.others], units.SHARE, 1),
    ]
    caption = "AU: without the first step and checkpoints, as DLIO counts it"
    return Table(title, columns, caption=caption)


def sentence(training: Training) -> str:
    """Return what accelerators and their loaders do, in words."""
    own, loaders = training.accelerator_time, training.loader_time
    if own.data + own.others < 0.005:
        text = "The accelerators wait for nothing"
    else:
        text = f"The accelerators wait {percent(own.data)} % of the time for a batch"
        if own.others >= 0.005:
            text += f" and {percent(own.others)} % for each other"
    if own.checkpoint >= 0.005:
        text += f", and write checkpoints for {percent(own.checkpoint)} %"
    return (
        f"{text}; their loaders read for {percent(loaders.reading)} % of the time, decode for"
        f" {percent(loaders.decoding)} %, and are idle for {percent(loaders.idle)} %."
    )


def _checkpoints(checkpoints: Durations) -> str:
    return (
        f"{numbered(checkpoints.count, 'checkpoint')} of"
        f" {milliseconds(checkpoints.mean)} ms on average, {milliseconds(checkpoints.max)} ms at"
        " most."
    )
