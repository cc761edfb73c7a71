"""Evaluate a recording: its figures, phases, verdicts and advice."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import polars as pl

from headrace.profile import recording
from headrace.profile.document import Profile, Usage
from headrace.profile.header import SAMPLES

OnProgress = Callable[[int, int, str], None]
"""Gets the steps done, their number, and the name of the next one."""
PER_CORE = r"^cpu\.\d+\."


def analyse(
    directory: str | Path,
    *,
    machine: str | Path | None = None,
    baseline_directory: str | Path | None = None,
    advice: bool = True,
    on_progress: OnProgress | None = None,
) -> Profile:
    """Return the profile of a recording.

    Parameters:
        directory: The profile directory.
        machine: Machine file for predictions.
        baseline_directory: Directory whose baseline counts.
        advice: Whether to predict the gain of changes.
        on_progress: Gets the steps done.

    Raises:
        OSError: if there is no recording.
        ValueError: if it is damaged.
    """
    directory = Path(directory)
    header = recording.read_header(directory)
    usage = {}
    duration_s = header.duration_s
    notes = []
    for number, host in enumerate(header.hosts):
        if on_progress is not None:
            on_progress(number, len(header.hosts), f"samples of {host}")
        frame = recording.rates(directory, host)
        usage[host] = usage_of(frame)
        if header.duration_s is None and frame.height:
            duration_s = max(duration_s or 0.0, float(frame["to_s"].max()))  # type: ignore[arg-type]
    if header.duration_s is None:
        notes.append("the recording was interrupted: its end is that of the last sample")
    trace = directory / f"trace.{header.capture}"
    return Profile(
        version=header.version,
        name=header.name,
        command=header.command,
        started=header.started,
        duration_s=duration_s or 0.0,
        exit_status=header.exit_status,
        interval_s=header.interval_s,
        hosts=header.hosts,
        verdict=None,
        phases=[],
        samples=SAMPLES,
        trace=trace.name if header.capture and trace.exists() else None,
        environment=header.environment,
        usage=usage,
        notes=notes,
    )


def usage_of(frame: pl.DataFrame) -> dict[str, Usage]:
    """Return mean and peak of each column but those of single cores.

    Means are weighted with the lengths of the intervals.
    """
    figures = frame.select(pl.exclude("from_s", "to_s").exclude(PER_CORE))
    weights = frame["to_s"] - frame["from_s"]
    usage = {}
    for name in figures.columns:
        values = figures[name]
        known = weights.filter(values.is_not_null())
        total = float(known.sum())
        if total > 0:
            mean = float((values.drop_nulls() * known).sum()) / total
            usage[name] = Usage(mean=mean, peak=float(values.max()))  # type: ignore[arg-type]
    return usage


def stored_document(profile: Profile) -> dict[str, object]:
    """Return the document as the store has it: with the fields by which it is listed."""
    return {
        **msgspec.to_builtins(profile),
        "kind": "profile",
        "scenario": {"name": profile.name},
        "wall_seconds": profile.duration_s,
    }


def samples_table(directory: str | Path, hosts: Sequence[str]) -> pl.DataFrame:
    """Return the figures of all hosts, with a column `host`, as the store has them."""
    frames = [
        recording.rates(directory, host).select(pl.lit(host).alias("host"), pl.all())
        for host in hosts
    ]
    return pl.concat(frames, how="diagonal")
