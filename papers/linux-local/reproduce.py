"""Local file systems of Linux 6.18 on throttled disks: measured | predicted | error.

Parameters come from `calibration.csv`, predictions are compared with
`validation.csv`. Run it by `headrace papers linux-local`.
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

import headrace as hr
from headrace.quantities import binary_size
from headrace.report.paper import Paper, Row, main
from headrace.validate.predicted_case import Prediction

matplotlib.use("Agg")
import matplotlib.pyplot as plt

sys.path.insert(0, str(Path(__file__).resolve().parent))
from calibration import NAMES, Parameters, calibrate, medians
from cases import text

DISK_BOUND = ("coldread", "coldrand", "writefsync", "randwritefsync", "syncwrite")
BOUNDS = {True: (0.05, 0.10), False: (0.10, 0.20)}
"""Target median and worst error, of disk-bound and other cases."""


@dataclass(frozen=True)
class Predicted(Prediction):
    """A measured and predicted case, with the error bounds of its kind."""

    @property
    def disk_bound(self) -> bool:
        return self.case["group"] in DISK_BOUND

    @property
    def holds(self) -> bool:
        """True if the error is within the bound, or the prediction within the repetitions."""
        return self.holds_within(BOUNDS[self.disk_bound][1])

    def row(self) -> Row:
        case = self.case
        system = "/".join(part for part in (case["fs"], case["journal"], case["disk"]))
        block = binary_size(case["block_bytes"])
        return Row(
            f"{case['group']}: {case['case']} {block}, {system}",
            self.measured,
            f"{self.ours:.4g} s",
            self.error_text,
            self.holds,
        )


def predict(case: dict[str, Any], parameters: dict[str, Parameters]) -> Predicted:
    """Simulate a case on the calibrated machine."""
    sets = parameters[case["fs"]].sets()
    result = hr.run(hr.load(text(case), sets)).json()
    seconds = result["simulated_seconds"]
    if case["case"] == "unlink":
        # The files are made first.
        made = {**case, "case": "create"}
        seconds -= hr.run(hr.load(text(made), sets)).json()["simulated_seconds"]
    return Predicted(case, seconds)


def reproduce(paper: Paper) -> list[Row]:
    """Predict every case of the validation file, plot them, and return the rows."""
    parameters = {fs: calibrate(fs) for fs in NAMES}
    predictions = [
        paper.step(f"{case['group']} {case['case']}", partial(predict, case, parameters))
        for case in medians("validation").iter_rows(named=True)
    ]
    plot(paper, predictions)
    return [*summary(predictions), *(prediction.row() for prediction in predictions)]


def summary(predictions: list[Predicted]) -> list[Row]:
    """Return the errors over all cases."""
    rows = []
    for disk_bound, name in ((True, "disk-bound cases"), (False, "other cases")):
        errors = [abs(it.error) for it in predictions if it.disk_bound == disk_bound]
        outside = [it for it in predictions if it.disk_bound == disk_bound and not it.holds]
        middle, worst = BOUNDS[disk_bound]
        rows.append(
            Row(
                f"{name}: median error of {len(errors)}",
                f"at most {100 * middle:.0f} %",
                f"{100 * median(errors):.1f} %",
                "",
                median(errors) <= middle,
            )
        )
        rows.append(
            Row(
                f"{name}: neither within {100 * worst:.0f} % nor among the repetitions",
                "0",
                f"{len(outside)}",
                f"worst {100 * max(errors):.0f} %",
                not outside,
            )
        )
    return rows


def plot(paper: Paper, predictions: list[Predicted]) -> None:
    """Plot predicted against measured times."""
    figure, axes = plt.subplots(figsize=(6, 6), layout="constrained")
    groups = list(dict.fromkeys(it.case["group"] for it in predictions))
    for group in groups:
        points = [it for it in predictions if it.case["group"] == group]
        measured = [it.case["seconds"] for it in points]
        low = [it.case["seconds"] - it.case["least"] for it in points]
        high = [it.case["most"] - it.case["seconds"] for it in points]
        axes.errorbar(
            measured, [it.ours for it in points], xerr=[low, high], fmt="o", ms=4, label=group
        )
    ends = [0.005, 30]
    axes.plot(ends, ends, color="grey", lw=1)
    for factor in (0.8, 1.2):
        axes.plot(ends, [factor * end for end in ends], color="grey", lw=0.5, ls=":")
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    axes.set(xlabel="measured (s)", ylabel="predicted (s)")
    axes.set_title("Linux 6.18 on throttled disks; dotted: 20 % off")
    axes.legend(fontsize="small")
    paper.save(figure, "predicted-against-measured")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main("linux-local", "Local file systems of Linux 6.18, measured", reproduce))
