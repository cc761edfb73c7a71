"""HINDMAN's design of reliable disk subsystems (Hindman 2011, chapters 2 and 3): published | ours.

Run it by `headrace papers hindman-design`.
"""

import sys

from headrace import interruption

if __name__ == "__main__":
    interruption.end_at_once()

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import matplotlib
import numpy as np

from headrace.design.capacity import capacity_of
from headrace.design.facility import racks_for
from headrace.design.figure import by_key
from headrace.design.reliability import ask
from headrace.design.reliability.answer import Answer
from headrace.design.reliability.disk_classes import PRESETS
from headrace.design.reliability.laws import hazard, read_error_probability
from headrace.design.reliability.question import (
    Array,
    Bathtub,
    Disk,
    Exponential,
    Latent,
    Lifetime,
    LifetimeLaw,
    Mirrors,
    Question,
    Redundancy,
    Repair,
    Replacement,
    ReplacementManner,
    ScrubPeriod,
    Simulation,
    WeibullPart,
)
from headrace.design.storage_plan import StoragePlan
from headrace.design.system import Array as DesignedArray
from headrace.quantities import DAY, HOUR, YEAR, percent_text
from headrace.render.style import COLOURS
from headrace.report.paper import Paper, Row, main

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NEAR = 0.1
"""Largest relative error at which a number holds; the text gives most in whole percents."""
CLASSES = ("desktop", "nearline", "enterprise")
SMALL, LARGE = 1e9 * 512, 4e9 * 512
"""Bytes of a disk of 500 GB and of 2 TB, as 512-byte sectors: see the preset hindman-2011."""
MTTF = PRESETS["nearline"].mttf
MTTR = DAY
"""Time to replace and rebuild a disk (declared: the thesis gives none)."""
OBSERVED = 10.0
"""Actual / stated failure rate: "up to ten times", section 3.3."""
LATENT_PER_FAILURE = 5.0
"""Latent errors for each disk failure: Schwarz et al., section 3.1.2."""
BATHTUB = Bathtub(
    infant=WeibullPart(0.3, 4e9 * HOUR),
    constant_mean=MTTF,
    wear_out=WeibullPart(6.0, 10 * YEAR),
)
"""Declared: figure 3.1 has no numbers. 2 % more failures in the first year, wear-out from the
fifth year on."""
LEVELS: dict[str, Redundancy] = {
    "RAID-1": Array(2, 1),
    "RAID-10": Mirrors(8),
    "RAID-5": Array(8, 1),
    "RAID-6": Array(8, 2),
}
SEED = 1


def number(
    what: str, published: str, expected: float, ours: float, shown: str, near: float = NEAR
) -> Row:
    error = ours / expected - 1
    return Row(what, published, shown, percent_text(error, 2, sign=True), abs(error) <= near)


def answer(
    redundancy: Redundancy,
    *,
    mttf: float = MTTF,
    law: LifetimeLaw | None = None,
    bit_error_rate: float = 0.0,
    latent: Latent | None = None,
    groups: int = 1,
    replacement: Replacement | None = None,
    burn_in: float = 0.0,
    years: Sequence[float] = (1.0,),
    relative_error: float = 0.02,
) -> Answer:
    """Ask about disks of 2 TB that are replaced and rebuilt in MTTR."""
    question = Question(
        redundancy=redundancy,
        groups=groups,
        disk=Disk(LARGE, bit_error_rate),
        lifetime=Lifetime(law or Exponential(mttf), burn_in),
        repair=Repair(rebuild=Exponential(MTTR)),
        latent=latent,
        replacement=replacement,
        horizons=tuple(it * YEAR for it in years),
        simulation=Simulation(seed=SEED, relative_error=relative_error, disk_years=2e8),
    )
    return ask(question)


def mttdl(found: Answer) -> float:
    assert found.mttdl_seconds is not None
    return found.mttdl_seconds


def read_errors() -> list[Row]:
    """Section 3.3.1 and figure 3.3."""
    rows = []
    for what, published, expected, disks, name in (
        ("8 x 2 TB desktop, RAID-5: read error in the rebuild", "68 %", 0.68, 7, "desktop"),
        ("8 x 2 TB nearline, RAID-5: the same", "10 %", 0.10, 7, "nearline"),
        ("2 TB nearline, RAID-1 and RAID-10: the same", "1.63 %", 0.0163, 1, "nearline"),
    ):
        ours = read_error_probability(disks * LARGE, PRESETS[name].bit_error_rate)
        rows.append(number(what, published, expected, ours, percent_text(ours, 2)))
    at_seven = [read_error_probability(7 * LARGE, PRESETS[it].bit_error_rate) for it in CLASSES]
    tenfold = all(5 < a / b < 11 for a, b in pairwise(at_seven))
    rows.append(
        Row(
            "figure 3.3: desktop, nearline, enterprise, 7 x 2 TB",
            "an order of magnitude less each",
            ", ".join(percent_text(share, 2) for share in at_seven),
            "",
            tenfold,
        )
    )
    terabytes = 1e14 / 8 / 1e12
    what = "one error in 1e14 bits (section 3.1)"
    rows.append(number(what, "12 TB read", 12.0, terabytes, f"{terabytes:g} TB"))
    return rows


def draw_read_errors(paper: Paper) -> None:
    figure, both = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    disks = np.arange(1, 16)
    for axes, size, title in zip(both, (SMALL, LARGE), ("500 GB", "2 TB"), strict=True):
        for colour, name in zip(COLOURS, CLASSES, strict=False):
            rate = PRESETS[name].bit_error_rate
            shares = [100 * read_error_probability(int(it) * size, rate) for it in disks]
            axes.plot(disks, shares, marker="o", markersize=3, color=colour, label=name)
        axes.set_title(f"{title} disks")
        axes.set_xlabel("disks that are read (array of one more)")
        axes.grid(color="#dddddd")
    both[0].set_ylabel("unrecoverable read error, %")
    both[1].plot([7, 7, 1], [68, 10, 1.63], "kx", label="given in the text")
    both[1].legend(frameon=False)
    paper.save(figure, "read-errors")


def classes() -> list[Row]:
    """Table 3.2: annualised failure rates."""
    rows = []
    for name, hours, published in (
        ("desktop", 2400.0, 0.34),
        ("nearline", 8760.0, 0.73),
        ("enterprise", 8760.0, 0.55),
    ):
        ours = 100 * hours * HOUR / PRESETS[name].mttf
        what = f"table 3.2: annual failure rate, {name} ({hours:.0f} h a year)"
        rows.append(number(what, f"{published} %", published, ours, f"{ours:.2f} %", near=0.01))
    return rows


def failures_a_day() -> list[Row]:
    """Section 3.3: 2 PB of 500 GB nearline disks."""
    rows = []
    disks = 2e15 / 500e9
    for what, mttf in (
        ("2 PB of 500 GB disks, MTBF of table 3.2", MTTF),
        (f"the same, failing {OBSERVED:g} times as often", MTTF / OBSERVED),
    ):
        ours = disks * DAY / mttf
        rows.append(number(what, "1 failure a day", 1.0, ours, f"{ours:.2f} a day", near=0.25))
    return rows


def levels() -> list[Row]:
    """Figure 3.4 and section 3.3.2: failure rates by RAID level, without and with read errors."""
    plain = {name: mttdl(answer(it)) for name, it in LEVELS.items()}
    rows = []
    for parity in ("RAID-5", "RAID-6"):
        ratios = [plain[mirror] / plain[parity] for mirror in ("RAID-1", "RAID-10")]
        rows.append(
            Row(
                f"figure 3.4: failure rate of {parity} (8 disks) / RAID-1 and RAID-10 (8 disks)",
                "significantly more than 1",
                " and ".join(f"{it:.3g}" for it in ratios),
                "",
                min(ratios) > 2,
            )
        )
    rate = PRESETS["desktop"].bit_error_rate
    cuts = {}
    for name in ("RAID-1", "RAID-5", "RAID-6"):
        cut = 1 - mttdl(answer(LEVELS[name], bit_error_rate=rate)) / plain[name]
        cuts[name] = cut
    worst = max(cuts.values())
    shown = ", ".join(f"{name} {100 * cut:.2f} %" for name, cut in cuts.items())
    rows.append(
        number("read errors cut the MTTDL (2 TB desktop)", "up to 99 %", 0.99, worst, shown, 0.02)
    )
    nearline = PRESETS["nearline"].bit_error_rate
    mirror, parity_5 = (
        answer(LEVELS[it], bit_error_rate=nearline).horizons[0].loss_probability
        for it in ("RAID-10", "RAID-5")
    )
    rows.append(
        Row(
            "RAID-5 / RAID-10 (8 nearline disks), with read errors: loss in a year",
            "parity far more susceptible",
            f"{parity_5 / mirror:.3g} times",
            "",
            parity_5 > 2 * mirror,
        )
    )
    # The bound of Paris et al.: repair 1000 times as fast as failure.
    found = answer(Array(8, 1), mttf=1000 * MTTR, years=(1.0,))
    by_mean = -math.expm1(-YEAR / mttdl(found))
    exact = found.horizons[0].loss_probability
    error = by_mean / exact - 1
    rows.append(
        Row(
            "loss in a year by MTTDL alone, repair rate 1000 x failure rate, RAID-5 of 8",
            "fairly good estimate",
            f"{percent_text(by_mean, 2)}, exact {percent_text(exact, 2)}",
            percent_text(error, 2, sign=True),
            abs(error) < 0.05,
        )
    )
    return rows


def draw_levels(paper: Paper) -> None:
    figure, both = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    counts = (4, 6, 8, 10, 12, 16)
    kinds: dict[str, Callable[[int], Redundancy]] = {
        "RAID-0": lambda n: Array(n, 0),
        "RAID-5": lambda n: Array(n, 1),
        "RAID-6": lambda n: Array(n, 2),
        "RAID-10": lambda n: Mirrors(n),
    }
    rates = ((0.0, "no read errors (as figure 3.4)"), (1e-15, "2 TB nearline, with read errors"))
    for axes, (rate, title) in zip(both, rates, strict=True):
        for colour, (name, made) in zip(COLOURS, kinds.items(), strict=False):
            loss = [
                answer(made(n), bit_error_rate=rate).horizons[0].loss_probability for n in counts
            ]
            axes.plot(counts, loss, marker="o", markersize=3, color=colour, label=name)
        one = answer(Array(2, 1), bit_error_rate=rate).horizons[0].loss_probability
        axes.axhline(one, color="black", linestyle="dashed", label="RAID-1 of 2")
        axes.set_title(title)
        axes.set_yscale("log")
        axes.set_xlabel("disks")
        axes.grid(color="#dddddd")
    both[0].set_ylabel("probability of a loss in a year")
    both[1].legend(frameon=False, ncols=2, fontsize="small")
    paper.save(figure, "raid-levels")


def scrubbed_mttdl(name: str, period: float) -> float:
    """Return the MTTDL in seconds of a level that is scrubbed each `period` seconds."""
    mttf = MTTF / OBSERVED
    latent = Latent(mttf / LATENT_PER_FAILURE, ScrubPeriod(period))
    return mttdl(answer(LEVELS[name], mttf=mttf, latent=latent))


def scrubbing() -> list[Row]:
    """Section 3.4.3: monthly against annual scrubbing."""
    rows = []
    for name in ("RAID-1", "RAID-5", "RAID-6"):
        yearly, monthly = (scrubbed_mttdl(name, period) for period in (YEAR, YEAR / 12))
        gain = monthly / yearly - 1
        nearest = min(max(gain, 3.0), 9.0)
        error = "" if gain == nearest else percent_text(gain / nearest - 1, 2, sign=True)
        rows.append(
            Row(
                f"monthly against annual scrubbing, {name}: MTTDL",
                "+300 % to +900 %",
                f"{100 * gain:+.0f} %",
                error,
                abs(gain / nearest - 1) <= NEAR,
            )
        )
    return rows


def draw_scrubbing(paper: Paper) -> None:
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    days = (1, 7, 14, 30.4, 91, 182, 365)
    for colour, name in zip(COLOURS, ("RAID-1", "RAID-5", "RAID-6"), strict=False):
        means = [scrubbed_mttdl(name, it * DAY) / YEAR for it in days]
        axes.plot(days, means, marker="o", markersize=3, color=colour, label=name)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(days, [f"{it:g}" for it in days])
    axes.minorticks_off()
    axes.set_xlabel("days from one scrub to the next")
    axes.set_ylabel("MTTDL, years")
    axes.grid(color="#dddddd")
    axes.legend(frameon=False)
    paper.save(figure, "scrubbing")


def bathtub() -> list[Row]:
    """Figure 3.1 and section 3.1.1: infant mortality, and what burn-in does."""
    at = hazard(BATHTUB)
    months = (np.arange(120) + 0.5) / 12
    rates = np.array([at(float(it) * YEAR) for it in months]) * YEAR
    first, middle, late = rates[:12].mean(), rates[24:48].mean(), rates[60:84].mean()
    stated = YEAR / MTTF
    return [
        Row(
            "figure 3.1: failures a year in year 1, years 3-4, years 6-7 (declared law)",
            "bathtub: high, low, high",
            ", ".join(f"{100 * float(it):.2f} %" for it in (first, middle, late)),
            "",
            bool(first > 1.5 * middle and late > 1.5 * middle),
        ),
        Row(
            "replacements in year 1 against the MTBF's rate (declared law)",
            "2 to 10 times",
            f"{float(first) / stated:.1f} times",
            "",
            bool(2 <= first / stated <= 10),
        ),
    ]


def draw_bathtub(paper: Paper) -> None:
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    years = np.linspace(0.02, 8, 400)
    infant = hazard(Bathtub(BATHTUB.infant, WeibullPart(6.0, 1e12)))
    wear = hazard(Bathtub(WeibullPart(0.3, 1e30), BATHTUB.wear_out))
    curves = (
        ("infant mortality", infant, "dashed"),
        ("constant (MTBF of nearline disks)", hazard(Exponential(MTTF)), "dotted"),
        ("wear-out", wear, "dashdot"),
        ("observed: their sum", hazard(BATHTUB), "solid"),
    )
    for colour, (name, of, style) in zip(COLOURS, curves, strict=False):
        rates = [100 * of(float(it) * YEAR) * YEAR for it in years]
        axes.plot(years, rates, color=colour, linestyle=style, label=name)
    axes.set_ylim(0, 8)
    axes.set_xlim(0, 8)
    axes.set_xlabel("age, years")
    axes.set_ylabel("failures a year, %")
    axes.set_title("declared parameters: figure 3.1 has no numbers", fontsize="medium")
    axes.grid(color="#dddddd")
    axes.legend(frameon=False)
    paper.save(figure, "bathtub")


def replacement(paper: Paper) -> list[Row]:
    """Section 3.4.5: old disks replaced in one batch, or a twelfth a month (Xin et al.)."""
    years = tuple(0.5 * it for it in range(1, 21))
    manners: tuple[ReplacementManner, ...] = ("all-at-once", "staggered")
    found = {
        manner: answer(
            Array(2, 1),
            groups=500,
            law=BATHTUB,
            replacement=Replacement(5 * YEAR, manner),
            years=years,
        )
        for manner in manners
    }
    kept = answer(Array(2, 1), groups=500, law=BATHTUB, years=years)
    burnt = answer(Array(2, 1), groups=500, law=BATHTUB, burn_in=1000 * HOUR, years=years)
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    curves = (*((name, it) for name, it in found.items()), ("never", kept))
    for colour, (name, it) in zip(COLOURS, curves, strict=False):
        loss = [100 * each.loss_probability for each in it.horizons]
        bars = [196 * each.standard_error for each in it.horizons]
        axes.errorbar(
            years, loss, yerr=bars, color=colour, marker="o", markersize=3, label=name, capsize=2
        )
    axes.set_ylim(0, 4)
    axes.set_xlabel("years")
    axes.set_ylabel("data lost, %")
    axes.set_title(
        "500 mirrors of two 2 TB disks, replaced at 5 years; bars: 95 %", fontsize="medium"
    )
    axes.grid(color="#dddddd")
    axes.legend(frameon=False, title="replacement")
    paper.save(figure, "replacement")
    # From the beginning of the replacement's last year on: 4 to 10 years.
    losses = {}
    for name, it in found.items():
        before, after = it.horizons[years.index(4.0)], it.horizons[-1]
        losses[name] = after.loss_probability - before.loss_probability
    error = max(it.horizons[-1].standard_error for it in found.values())
    gain = losses["all-at-once"] / losses["staggered"]
    first, spared = (it.horizons[years.index(1.0)].loss_probability for it in (kept, burnt))
    return [
        Row(
            "loss in years 4 to 10, one batch / a twelfth a month (500 mirrors, declared law)",
            "small batches are safer",
            f"{gain:.2f} (standard error {1.4 * error / losses['staggered']:.2f})",
            "",
            losses["all-at-once"] - losses["staggered"] > 2 * 1.4 * error,
        ),
        Row(
            "loss in year 1, burnt in for 1000 h / not (declared law)",
            "burn-in lowers it",
            f"{spared / first:.2f}",
            "",
            spared < first,
        ),
    ]


def planning() -> list[Row]:
    """Chapter 2: raw capacity and racks."""
    mirrored = DesignedArray(kind="raid10", disks=8, data=4, parity=4)
    replicated = StoragePlan(
        array=mirrored, disk_capacity=1e12, nodes=10, disks_per_node=8, copies=2
    )
    figures = by_key(capacity_of(replicated))
    raw = 20e12 / figures["usable-share"].value / 1e12
    rows = [number("20 TB usable, 2 copies, RAID-10: raw", "80 TB", 80, raw, f"{raw:g} TB", 1e-9)]
    for what, nodes, disks, size, published in (
        ("10 nodes of 4U with 8 x 1 TB", 10, 8, 1e12, 80.0),
        ("5 nodes of 4U with 16 x 1 TB", 5, 16, 1e12, 80.0),
        ("5 nodes of 4U with 8 of 16 slots x 2 TB", 5, 8, 2e12, 80.0),
        ("10 nodes of 4U with 16 x 2 TB: four times as much", 10, 16, 2e12, 320.0),
    ):
        plan = StoragePlan(
            array=DesignedArray(kind="raid0", disks=disks, data=disks, parity=0),
            disk_capacity=size,
            nodes=nodes,
            disks_per_node=disks,
        )
        raw = by_key(capacity_of(plan))["raw-capacity"].value / 1e12
        racks = racks_for([4.0] * nodes, 48)
        shown = f"{raw:g} TB in {racks} rack of 48U"
        row = number(what, f"{published:g} TB in 1 rack", published, raw, shown, 1e-9)
        rows.append(Row(row.what, row.published, row.ours, row.error, row.holds and racks == 1))
    return rows


def reproduce(paper: Paper) -> list[Row]:
    rows = paper.step("read errors", read_errors)
    rows += classes() + failures_a_day()
    rows += paper.step("RAID levels", levels)
    rows += paper.step("scrubbing", scrubbing)
    rows += bathtub()
    rows += paper.step("replacement", lambda: replacement(paper))
    rows += planning()
    paper.step("figures", lambda: draw_read_errors(paper))
    draw_levels(paper)
    draw_scrubbing(paper)
    draw_bathtub(paper)
    return rows


if __name__ == "__main__":
    sys.exit(main("hindman-design", "Hindman 2011, chapters 2 and 3", reproduce))
