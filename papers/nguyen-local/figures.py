"""The figures of `reproduce.py`. Rates are in KB/s of 1024 bytes, sizes in MB of 1024²."""

import matplotlib
from published import Published

from headrace.report.paper import Paper

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes


def rates(paper: Paper, rows: list[tuple[Published, float]]) -> None:
    """Tables 5 to 12: measured, the authors' simulation, ours."""
    _, axes = plt.subplots(figsize=(8, 5.2), layout="constrained")
    bars = (
        ("measured by the author", "0.35", [row.measured for row, _ in rows]),
        ("simulated by the author", "0.7", [row.simulated for row, _ in rows]),
        ("ours", "C0", [ours for _, ours in rows]),
    )
    for number, (label, colour, values) in enumerate(bars):
        at = [index + 0.27 * (number - 1) for index in range(len(rows))]
        axes.barh(at, values, 0.25, label=label, color=colour)
    axes.set_yticks(range(len(rows)), [row.what for row, _ in rows], fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("throughput (KB/s)")
    axes.set_title("Nguyen 2011, tables 5 to 12; nothing fitted", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    finish(paper, axes, "rates")


def blocks(paper: Paper, curves: dict[str, dict[int, float]]) -> None:
    """Throughput by the size of calls."""
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
    """Throughput by the size of the file."""
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


def requests(paper: Paper, numbers: list[int], curves: dict[str, list[float]]) -> None:
    """Random writes by how many there are."""
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
