"""The figures of `reproduce.py`. Rates are in KB/s of 1024 bytes, sizes in MB of 1024²."""

from statistics import median

import matplotlib
from published_figures import Published

from headrace.report.paper import Paper
from headrace.validate import Point

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes


def rates(paper: Paper, rows: list[tuple[Published, float, Point]]) -> None:
    """Draw tables 5 to 12: measured, simulated by the authors and by Headrace; measured on the
    testbed, and predicted."""
    _, axes = plt.subplots(figsize=(8, 7.2), layout="constrained")
    bars = (
        ("measured by the author", "0.35", [row.measured for row, _, _ in rows]),
        ("simulated by the author", "0.7", [row.simulated for row, _, _ in rows]),
        ("ours", "C0", [ours for _, ours, _ in rows]),
        ("measured again, an eighth as large", "C1", [median(it.measured) for *_, it in rows]),
        ("predicted for that", "C2", [it.predicted.seconds for *_, it in rows]),
    )
    for number, (label, colour, values) in enumerate(bars):
        at = [index + 0.17 * (number - 2) for index in range(len(rows))]
        axes.barh(at, values, 0.16, label=label, color=colour)
        if label.startswith("measured again"):
            axes.errorbar(
                values, at, xerr=ranges([it for *_, it in rows]), fmt="none", ecolor="0.2"
            )
    axes.set_yticks(range(len(rows)), [row.what for row, _, _ in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("throughput (KB/s)")
    axes.set_title("Nguyen 2011, tables 5 to 12; nothing fitted", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    finish(paper, axes, "rates")


def blocks(paper: Paper, curves: dict[str, dict[int, float]]) -> None:
    """Draw throughput by call size."""
    _, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for name, curve in curves.items():
        axes.plot(list(curve), list(curve.values()), marker="o", markersize=3, label=name)
    axes.axvline(64, color="0.7", linestyle="--", linewidth=1)
    axes.annotate("64 KB", (64, axes.get_ylim()[1]), fontsize=8, color="0.5", ha="right")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("size of a call (KB)")
    axes.set_ylabel("throughput (KB/s)")
    axes.set_title("A file of 512 MB in order", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    finish(paper, axes, "blocks")


def sizes(
    paper: Paper, read: dict[float, float], write: dict[int, float], memory: int, threshold: int
) -> None:
    """Draw throughput by file size."""
    _, both = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    for axes, name, curve, mark, label in (
        (both[0], "read of a cached file, calls of 4 KB", read, memory, "page cache"),
        (both[1], "write of a new file, calls of 64 KB", write, threshold, "dirty limit"),
    ):
        axes.plot(list(curve), list(curve.values()), marker="o", markersize=3)
        axes.axvline(mark, color="0.7", linestyle="--", linewidth=1)
        axes.set_title(f"{name} ({label} dashed)", fontsize=9)
        axes.set_xlabel("size of the file (MB)")
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    both[0].set_ylabel("throughput (KB/s)")
    finish(paper, both[1], "sizes")


def blocks_again(paper: Paper, curves: dict[str, dict[int, Point]], kernel: str) -> None:
    """Draw throughput by call size on a current kernel, measured and predicted."""
    _, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for number, (name, curve) in enumerate(curves.items()):
        measured_and_predicted(axes, curve, f"C{number}", name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("size of a call (KB)")
    axes.set_ylabel("throughput (KB/s)")
    axes.set_title(
        f"A file in order on Linux {kernel}; points measured, lines predicted", fontsize=10
    )
    axes.legend(frameon=False, fontsize=8)
    finish(paper, axes, "blocks-again")


def sizes_again(paper: Paper, read: dict[int, Point], write: dict[int, Point], kernel: str) -> None:
    """Draw throughput by file size on a current kernel, measured and predicted."""
    _, both = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
    for axes, name, curve, mark, label in (
        (both[0], "read of a cached file, calls of 8 KB", read, 512, "memory"),
        (both[1], "write of a new file, calls of 32 KB", write, 64, "dirty limit"),
    ):
        measured_and_predicted(axes, curve, "C0", name)
        axes.axvline(mark, color="0.7", linestyle="--", linewidth=1)
        axes.set_title(f"{name} ({label} dashed)", fontsize=9)
        axes.set_xlabel("size of the file (MB)")
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
    both[0].set_ylabel(f"throughput (KB/s), Linux {kernel}")
    finish(paper, both[1], "sizes-again")


def measured_and_predicted(axes: Axes, curve: dict[int, Point], colour: str, name: str) -> None:
    """Draw the medians of the measurements with their ranges, and a line of the predictions."""
    points = list(curve.values())
    axes.plot(list(curve), [it.predicted.seconds for it in points], color=colour, label=name)
    axes.errorbar(
        list(curve),
        [median(it.measured) for it in points],
        yerr=ranges(points),
        fmt="o",
        markersize=3,
        color=colour,
    )


def ranges(points: list[Point]) -> list[list[float]]:
    """Return the distances from the median of the repetitions to their minimum and maximum."""
    middles = [median(it.measured) for it in points]
    return [
        [middle - min(it.measured) for middle, it in zip(middles, points, strict=True)],
        [max(it.measured) - middle for middle, it in zip(middles, points, strict=True)],
    ]


def requests(paper: Paper, numbers: list[int], curves: dict[str, list[float]]) -> None:
    """Draw the rate of random writes by their number."""
    _, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    for number, (name, curve) in enumerate(curves.items()):
        style = "-" if number % 2 == 0 else "--"
        axes.plot(numbers, curve, style, color=f"C{number // 2}", label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel("writes of 8 KB in a file of 512 MB")
    axes.set_ylabel("throughput (KB/s)")
    axes.set_title("Random writes by their number, which is not published", fontsize=10)
    axes.legend(frameon=False, fontsize=7)
    finish(paper, axes, "requests")


def finish(paper: Paper, axes: Axes, name: str) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    paper.save(plt.gcf(), name)
    plt.close("all")
