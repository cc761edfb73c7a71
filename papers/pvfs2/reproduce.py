"""A real PVFS2 (OrangeFS 2.10): measured | predicted | error.

Parameters come from `calibration.csv`, predictions are compared with
`validation.csv`. Run it by `headrace papers pvfs2`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import matplotlib
import polars as pl

import headrace as hr
from headrace.quantities import binary_size
from headrace.report.paper import Paper, Row, main
from headrace.validate.predicted_case import Prediction

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(Path(__file__).resolve().parent))
from calibration import calibrate
from cases import seconds, text

HERE = Path(__file__).resolve().parent
BOUND = 0.10
"""Target of the median error and of each error."""
SEEDS = (1, 2, 3)
"""One seed per repetition; the first server of a file is random."""
NO_CPU = {
    "hosts.cpu.shared_by": "none",
    **dict.fromkeys(
        (
            f"hosts.cpu.{name}"
            for name in ["send", "receive", "serve_read", "serve_write", "access"]
        ),
        "0 s",
    ),
}


@dataclass(frozen=True)
class Predicted(Prediction):
    """A measured and predicted case, with and without the processor."""

    without: float

    @property
    def holds(self) -> bool:
        """True if the error is within the bound, or the prediction within the repetitions."""
        return self.holds_within(BOUND)

    def row(self) -> Row:
        case = self.case
        clients = f"{case['clients']} client{'s' if case['clients'] > 1 else ''}"
        return Row(
            f"{case['op']}, {clients}, {binary_size(case['block'])}",
            self.measured,
            f"{self.ours:.4g} s (without processor {self.without:.4g} s)",
            self.error_text,
            self.holds,
        )


def cases() -> pl.DataFrame:
    """Return the measured cases; the slowest client of each repetition counts."""
    points = pl.read_csv(HERE / "validation.csv")
    names = ("clients", "block", "op")
    slowest = points.group_by("rep", *names, maintain_order=True).agg(pl.col("seconds").max())
    time = pl.col("seconds")
    return slowest.group_by(*names, maintain_order=True).agg(
        time.median().alias("seconds"), time.min().alias("least"), time.max().alias("most")
    )


def predict(case: dict[str, Any], sets: dict[str, str]) -> Predicted:
    """Simulate a case with the calibrated hosts, once per repetition."""

    def ours(sets: dict[str, Any]) -> float:
        times = []
        for seed in SEEDS:
            scenario = hr.load(text(case), {**sets, "run.seed": seed})
            times.append(seconds(case, hr.run(scenario).json()))
        return median(times)

    return Predicted(case, ours(sets), ours({**without_rates(sets), **NO_CPU}))


def without_rates(sets: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in sets.items() if not name.endswith("_rate")}


def reproduce(paper: Paper) -> list[Row]:
    """Predict every case of the validation file, plot them, and return the rows."""
    sets = calibrate().sets()
    predictions = [
        paper.step(
            f"{case['clients']} clients, {binary_size(case['block'])}, {case['op']}",
            partial(predict, case, sets),
        )
        for case in cases().iter_rows(named=True)
    ]
    plot(paper, predictions)
    return [*summary(predictions), *(prediction.row() for prediction in predictions)]


def summary(predictions: list[Predicted]) -> list[Row]:
    """Return the errors over all cases."""
    errors = [abs(it.error) for it in predictions]
    without = [abs(it.without / it.case["seconds"] - 1) for it in predictions]
    outside = [it for it in predictions if not it.holds]
    return [
        Row(
            f"median error of {len(errors)} cases",
            f"at most {100 * BOUND:.0f} %",
            f"{100 * median(errors):.1f} %",
            f"without processor {100 * median(without):.1f} %",
            median(errors) <= BOUND,
        ),
        Row(
            f"neither within {100 * BOUND:.0f} % nor among the repetitions",
            "0",
            f"{len(outside)}",
            f"worst {100 * max(errors):.0f} %; without processor {100 * max(without):.0f} %",
            not outside,
        ),
    ]


def plot(paper: Paper, predictions: list[Predicted]) -> None:
    """Plot throughput against request size, for each operation."""
    figure, all_axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
    for axes, op in zip(all_axes, ("write", "cold", "warm"), strict=True):
        for clients in (1, 2, 4):
            points = [
                it for it in predictions if (it.case["op"], it.case["clients"]) == (op, clients)
            ]
            total = clients * (48 << 20) / 1e6
            blocks = [it.case["block"] for it in points]
            measured = [total / it.case["seconds"] for it in points]
            low = [total / it.case["seconds"] - total / it.case["most"] for it in points]
            high = [total / it.case["least"] - total / it.case["seconds"] for it in points]
            marks = axes.errorbar(blocks, measured, yerr=[low, high], fmt="o", ms=4)
            axes.plot(
                blocks,
                [total / it.ours for it in points],
                color=marks[0].get_color(),
                label=f"{clients} client{'s' if clients > 1 else ''}",
            )
        axes.set(xscale="log", xlabel="bytes of a request", title=op, ylim=(0, None))
    all_axes[0].set(ylabel="MB/s")
    all_axes[0].legend(fontsize="small")
    figure.suptitle("PVFS2 with four servers; dots: measured, lines: predicted")
    paper.save(figure, "throughput")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("pvfs2", "A real PVFS2 (OrangeFS 2.10), measured", reproduce))
