"""The seqprocessor of Hindman 2011, section 5.4, profiled and predicted on this machine.

Run it by `headrace papers hindman-seqprocessor`, as root.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

import matplotlib

sys.path.insert(0, str(Path(__file__).resolve().parent))

from disks import missing
from predictions import STEPS, Prediction, predict
from runs import INPUT_SIZE, VERSIONS, Experiment, Run, experiment

from headrace.profile.verdict import overall
from headrace.quantities import percent_text
from headrace.report.paper import Paper, Row, main

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NAME = "hindman-seqprocessor"
NEAR = 0.15
"""Largest relative error at which a number holds."""


@dataclass(frozen=True)
class Published:
    """A row of table 5.5, and the verdicts that agree with it."""

    rate: float
    """Sustained MB/s in each direction."""
    speed_up: float
    limit: str
    verdicts: tuple[str, ...]
    baseline: tuple[str, float] | None
    """A figure of the baseline, and the part of it that the version reaches."""


PUBLISHED = (
    Published(16, 1.0, "CPU", ("cpu",), None),
    Published(70, 4.1, "rewrite I/O", ("rewrite",), ("rewrite", 0.94)),
    Published(115, 6.5, "CPU", ("cpu", "disk-read"), ("block-write", 0.625)),
    Published(135, 7.0, "write I/O", ("disk-write",), ("block-write", 0.8)),
)


def reproduce(paper: Paper) -> list[Row]:
    """Measure and predict all versions, plot them, and return the rows of the table."""
    lacking = missing()
    if lacking is not None:
        print(
            f"{NAME}: skipped all measurements and predictions: this machine lacks {lacking}",
            file=sys.stderr,
        )
        return []
    with (
        tempfile.TemporaryDirectory(prefix="headrace-") as folder,
        experiment(Path(folder).resolve(), paper.report) as found,
    ):
        predictions = paper.step("predictions", lambda: predict(found))
    plot_speed_ups(paper, found, predictions)
    plot_profiles(paper, found)
    return [
        *baseline_rows(found),
        *verdict_rows(found),
        *speed_rows(found),
        *prediction_rows(found, predictions),
    ]


def median_run(runs: list[Run]) -> Run:
    return sorted(runs, key=lambda it: it.seconds)[len(runs) // 2]


def medians(found: Experiment) -> list[Run]:
    """The run of median duration of each version."""
    return [median_run(found.runs[it.name]) for it in VERSIONS]


def rate(run: Run) -> float:
    """Mean rate of a run in each direction, in B/s."""
    return INPUT_SIZE / run.seconds


def speed_ups(seconds: list[float]) -> list[float]:
    return [seconds[0] / it for it in seconds]


def number(what: str, unit: str, published: float, ours: float) -> Row:
    error = ours / published - 1
    shown = percent_text(error, 2, sign=True)
    return Row(what, f"{published:.3g} {unit}", f"{ours:.3g} {unit}", shown, abs(error) <= NEAR)


def baseline_rows(found: Experiment) -> list[Row]:
    """The baseline in parts of its block write: these proportions were to be kept."""
    figures = {name: it.value for name, it in found.baseline.figures.items()}
    written = figures["block-write"]
    rows = []
    for name, published in (("block-read", 183), ("rewrite", 72)):
        what = f"baseline: {name} as part of block-write, {written / 1e6:.0f} MB/s here"
        rows.append(number(what, "%", 100 * published / 171, 100 * figures[name] / written))
    return rows


def verdict_rows(found: Experiment) -> list[Row]:
    rows = []
    for version, published in zip(VERSIONS, PUBLISHED, strict=True):
        verdicts = [overall(it.profile.phases) or "" for it in found.runs[version.name]]
        agree = all(it in published.verdicts for it in verdicts)
        words = " ".join(verdicts)
        rows.append(Row(f"{version.name}: verdict of each run", published.limit, words, "", agree))
    traced = found.traced.profile.verdict or ""
    what = f"{VERSIONS[0].name}: verdict of the run with strace"
    rows.append(Row(what, PUBLISHED[0].limit, traced, "", traced in PUBLISHED[0].verdicts))
    return rows


def speed_rows(found: Experiment) -> list[Row]:
    runs = medians(found)
    rows = []
    for version, published, it in zip(VERSIONS, PUBLISHED, runs, strict=True):
        seconds = [run.seconds for run in found.runs[version.name]]
        what = f"{version.name}: run time, throughput"
        span = f"{min(seconds):.2f} to {max(seconds):.2f}"
        ours = f"{it.seconds:.2f} s ({span}), {rate(it) / 1e6:.0f} MB/s"
        rows.append(Row(what, f"{published.rate:g} MB/s, on its machine", ours, "", True))
    for version, published, it in zip(VERSIONS, PUBLISHED, runs, strict=True):
        if published.baseline is not None:
            name, part = published.baseline
            ours_part = rate(it) / found.baseline.figures[name].value
            what = f"{version.name}: part of the baseline's {name}"
            rows.append(number(what, "%", 100 * part, 100 * ours_part))
    ratios = speed_ups([it.seconds for it in runs])
    for version, published, measured in list(zip(VERSIONS, PUBLISHED, ratios, strict=True))[1:]:
        what = f"{version.name}: speed-up over version 1"
        rows.append(number(what, "times", published.speed_up, measured))
    order = " < ".join(f"{it:.2f}" for it in ratios)
    what = "speed-up: each version is faster than the one before"
    rows.append(Row(what, "1 < 4.1 < 6.5 < 7", order, "", ratios == sorted(ratios)))
    return rows


def prediction_rows(found: Experiment, predictions: list[Prediction]) -> list[Row]:
    """Predicted beside measured values, which stand in the column of the published ones."""
    measured = [it.seconds for it in medians(found)]
    predicted = [it.seconds for it in predictions]
    rows = [
        number(f"{version.name}: predicted run time, against measured", "s", ours, theirs)
        for version, ours, theirs in zip(VERSIONS, measured, predicted, strict=True)
    ]
    errors = []
    pairs = list(zip(VERSIONS, speed_ups(measured), speed_ups(predicted), strict=True))
    for (version, ours, theirs), (change, _) in zip(pairs[1:], STEPS, strict=True):
        errors.append(abs(theirs / ours - 1))
        what = f"{version.name}: predicted speed-up ({change.name}), against measured"
        rows.append(number(what, "times", ours, theirs))
    middle = statistics.median(errors)
    what = "median error of the predicted speed-ups"
    rows.append(Row(what, "at most 15 % wanted", percent_text(middle, 2), "", middle <= NEAR))
    return rows


def plot_speed_ups(paper: Paper, found: Experiment, predictions: list[Prediction]) -> None:
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    measured = speed_ups([it.seconds for it in medians(found)])
    for offset, label, values in (
        (-0.27, "published", [it.speed_up for it in PUBLISHED]),
        (0.0, "measured here", measured),
        (0.27, "predicted from version 1's trace", speed_ups([it.seconds for it in predictions])),
    ):
        bars = axes.bar(
            [index + offset for index in range(len(VERSIONS))], values, 0.25, label=label
        )
        axes.bar_label(bars, [f"{it:.1f}" for it in values], fontsize=8)
    names = [it.name.replace(", ", ",\n") for it in VERSIONS]
    axes.set_xticks(range(len(VERSIONS)), names, fontsize=8)
    axes.set_ylabel("speed-up over version 1")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    paper.save(figure, "speed-ups")
    plt.close(figure)


def plot_profiles(paper: Paper, found: Experiment) -> None:
    """Plot throughput of the disks and processor time over time, as figures 5.10 to 5.14."""
    figure, axes = plt.subplots(2, 2, figsize=(9, 6), layout="constrained")
    for place, version, run in zip(axes.flat, VERSIONS, medians(found), strict=True):
        table = run.rates
        for word, disk in (("read", found.disks[0]), ("write", found.disks[version.two_disks])):
            column = f"disk.{disk.device}.{word}_bytes_per_s"
            place.plot(table["to_s"], table[column] / 1e6, label=f"{word} ({disk.device})")
        limit = "rewrite" if not version.two_disks else "block-write"
        value = found.baseline.figures[limit].value / 1e6
        place.axhline(value, color="grey", linestyle=":", label=f"baseline: {limit}")
        place.set_title(version.name, fontsize=9)
        place.set_xlabel("s")
        place.set_ylabel("MB/s")
        place.set_ylim(0)
        cores = place.twinx()
        used = table["tree.user"] + table["tree.system"]
        cores.plot(table["to_s"], used, color="tab:red", linewidth=0.8)
        cores.set_ylabel("cores used", color="tab:red")
        cores.set_ylim(0, 2)
        place.legend(frameon=False, fontsize=7)
    paper.save(figure, "profiles")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main(NAME, "Hindman 2011, the seqprocessor profiled", reproduce))
