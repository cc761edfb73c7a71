"""Where the program's time goes, phase by phase."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from headrace.report.profile_report.chart import Chart
from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.time_chart import SMALL, WIDTH
from headrace.views.time_balance import LEAST_SHARE, PARTS, totals

HEIGHT = 2.6


def charts(data: ProfileData) -> Iterator[Chart]:
    """Yield the shares of time of each phase, as wide as the phase is long."""
    balanced = [
        (phase["from_s"], phase["to_s"], balance.seconds)
        for phase, balance in zip(data.phases, data.balances, strict=True)
        if balance is not None
    ]
    seconds = totals(data.balances)
    total = sum(seconds.values())
    if total <= 0:
        return
    figure = Figure(figsize=(WIDTH, HEIGHT), layout="constrained")
    axes = figure.subplots()
    starts = [from_s for from_s, _, _ in balanced]
    widths = [to_s - from_s for from_s, to_s, _ in balanced]
    below = [0.0] * len(balanced)
    for part in (part for part in PARTS if seconds[part] >= LEAST_SHARE * total):
        heights = [
            100 * of_phase.get(part, 0.0) / width
            for (_, _, of_phase), width in zip(balanced, widths, strict=True)
        ]
        axes.bar(
            starts,
            heights,
            widths,
            below,
            align="edge",
            color=PARTS[part].colour,
            edgecolor="white",
            linewidth=0.5,
            label=PARTS[part].words,
        )
        below = [low + height for low, height in zip(below, heights, strict=True)]
    axes.set_xlim(0, max(start + width for start, width in zip(starts, widths, strict=True)))
    axes.set_ylim(0, 100)
    axes.set_ylabel("% of the time", fontsize=SMALL)
    axes.set_xlabel("s", fontsize=SMALL)
    axes.tick_params(labelsize=SMALL)
    axes.patch.set_alpha(0.0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=SMALL)
    yield Chart(
        "time-balance",
        "Time balance",
        "Where the program's time goes: a column for each phase, as wide as the phase is long.",
        figure,
    )
