"""Studies of a scenario: many runs of it with other values."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

import msgspec

from headrace.commands.fields import (
    FIGURES,
    Axes,
    Engine,
    Replications,
    ScenarioFile,
    Seed,
    Sets,
    with_runs,
)
from headrace.commands.parameters import Help, Value, Word
from headrace.commands.values import SHARE, share, span

if TYPE_CHECKING:
    from headrace.optimisation import Optimum
    from headrace.optimisation.search import OnProgress
    from headrace.simulate import Trust
    from headrace.sweeps import Sweep, WhatIf


class Optimise(msgspec.Struct, frozen=True, kw_only=True):
    """Find the values of fields that are best for one figure or several.

    Tries points, learns from them where to try next, and compares the leaders with more
    replications. The answer comes with its interval, and with all points that cannot be
    distinguished from it. Ctrl-C shows the best so far.
    """

    file: ScenarioFile
    vary: Axes
    sets: Sets = ()
    maximise: A[
        tuple[str, ...],
        Word(metavar="FIGURE"),
        Help(f"Figure to maximise: {FIGURES}, simulated_seconds or cost. Can be repeated."),
    ] = ()
    minimise: A[
        tuple[str, ...], Word(metavar="FIGURE"), Help("Figure to minimise; can be repeated.")
    ] = ()
    subject_to: A[
        tuple[str, ...],
        Word(metavar="CONSTRAINT"),
        Help("Limit of a figure, such as 'latency_p99 <= 20 ms'; can be repeated."),
    ] = ()
    price: A[
        tuple[str, ...],
        Word(metavar="PATH=PRICE"),
        Help(
            "Price for the cost: 'servers.count=5000', 'servers.memory.cache=4/GiB',"
            " 'servers.count*servers.targets=300', or for a choice 'path:value=900'. Can be"
            " repeated."
        ),
    ] = ()
    price_file: A[Path | None, Help("TOML file with prices in a table [prices].")] = None
    catalogue: A[
        str | None,
        Word(metavar="FILE"),
        Help(
            "Catalogue of headrace design, whose entries prices may name:"
            " 'servers.count=2U12 + 12 x nearline 8 TB'. A file, or a shipped one such as"
            " example-2026."
        ),
    ] = None
    trials: A[int | None, Help("Number of trials; 100 by default without --time-limit.")] = None
    time: A[
        float | None,
        span(),
        Word("--time-limit"),
        Help("Time after which no more trials and comparisons begin."),
    ] = None
    sampler: A[
        str | None,
        Word(metavar="NAME"),
        Help(
            "How points are chosen: tpe, nsga2, random, sobol, or full (all points, the default"
            " where trials suffice)."
        ),
    ] = None
    seed: Seed = None
    replications: Replications = None
    leaders: A[int, Help("Points that are compared with more replications.")] = 12
    most_replications: A[int, Help("Most replications of a leader.")] = 32
    indifference: A[
        float,
        Value("SHARE", share, "{:.0%}".format),
        Help(
            "Difference that does not matter: the comparison ends when all that are left are that"
            " close."
        ),
    ] = 0.01
    batch: A[
        int,
        Help("Trials that are proposed at once, and run side by side; the answer depends on it."),
    ] = 8
    on: Engine = "threads"

    def answer(
        self,
        *,
        directory: Path | None = None,
        progress: "bool | OnProgress" = False,
        trust: "bool | Trust" = False,
        on_stop: "Callable[[Optimum], object] | None" = None,
    ) -> "Optimum":
        """Search, with the further parameters of `headrace.optimisation.optimise`."""
        from headrace import simulate
        from headrace.optimisation import optimise, prices
        from headrace.sweeps import parse

        axes = [parse(text) for text in self.vary]
        entries = None
        if self.catalogue is not None:
            from headrace.design import load_catalogue

            entries = load_catalogue(self.catalogue).catalogue.prices()
        known = [prices.parse(text, entries) for text in self.price]
        if self.price_file is not None:
            known += prices.read(self.price_file, entries)
        return optimise(
            simulate.load_with_sets(self.file, with_runs(self.sets, self.seed)),
            axes,
            maximise=self.maximise,
            minimise=self.minimise,
            subject_to=self.subject_to,
            prices=known,
            trials=self.trials,
            seconds=self.time,
            sampler=self.sampler,
            replications=self.replications,
            leaders=self.leaders,
            most_replications=self.most_replications,
            indifference=self.indifference,
            batch=self.batch,
            on=self.on,
            directory=directory,
            progress=progress,
            trust=trust,
            on_stop=on_stop,
        )


class SweepRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Run a scenario at every combination of values, or at samples of ranges.

    A run that fails is reported and does not end the sweep; the status is then 1. Ctrl-C shows the
    finished runs; --output saves them for the next time.
    """

    file: ScenarioFile
    vary: Axes
    sets: Sets = ()
    design: A[
        str | None,
        Word(metavar="NAME"),
        Help("Design: full (the default), latin-hypercube or sobol."),
    ] = None
    samples: A[
        int | None,
        Help(
            "Points of a sampled design. With --sensitivity, each sample has as many points as"
            " there are axes, and one (morris) or two (sobol) more."
        ),
    ] = None
    sensitivity: A[
        str | None,
        Word(metavar="METHOD"),
        Help(
            "Rank the axes by their effect: sobol (parts of the variance) or morris (fewer runs)."
            " Give --samples."
        ),
    ] = None
    seed: Seed = None
    replications: Replications = None
    precision: A[
        float | None,
        SHARE,
        Help(
            "Add replications to each point until the half width of the 95 % interval is at most"
            " this part of the mean, such as 2%."
        ),
    ] = None
    figure: A[
        str,
        Word(metavar="NAME"),
        Help(
            f"Figure for --precision, the plots and the table of --sensitivity: {FIGURES} or"
            " simulated_seconds."
        ),
    ] = "throughput"
    on: Engine = "threads"

    def answer(
        self,
        *,
        directory: Path | None = None,
        progress: Callable[[int, int], object],
        trust: "bool | Trust" = False,
        on_stop: "Callable[[Sweep], object] | None" = None,
    ) -> "Sweep":
        """Run the sweep, with the further parameters of `headrace.sweeps.sweep`."""
        from headrace import simulate, sweeps

        axes = [sweeps.parse(text) for text in self.vary]
        if self.figure not in sweeps.FIGURES:
            raise ValueError(f"--figure {self.figure}: expected {', '.join(sweeps.FIGURES)}")
        part = self.precision
        return sweeps.sweep(
            simulate.load_with_sets(self.file, with_runs(self.sets, self.seed)),
            axes,
            design=self.design,
            samples=self.samples,
            sensitivity=self.sensitivity,
            replications=self.replications,
            precision=None if part is None else sweeps.Precision(part, self.figure),
            on=self.on,
            directory=directory,
            progress=progress,
            trust=trust,
            on_stop=on_stop,
        )


class WhatIfRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Change each resource and kind in turn and rank the changes by gain.

    Runs the scenario once for each rate, time, size and count in it, side by side. It also runs
    it with each other device, scheduler, file system, layout, link or system that it may have.
    """

    file: ScenarioFile
    sets: Sets = ()
    seed: Seed = None
    replications: Replications = None
    by: A[
        float,
        Word("--factor", metavar="FACTOR"),
        Help("Factor of each change: that many times as much, or as fast."),
    ] = 2.0
    only: A[
        tuple[str, ...],
        Word(metavar="PATTERN"),
        Help("Change only fields that match, such as servers.*; can be repeated."),
    ] = ()
    kinds: A[
        bool,
        Word(off="--no-kinds"),
        Help("Try other kinds and levels too: devices, schedulers, file systems, layouts."),
    ] = True
    quantities: A[bool, Word(off="--no-quantities"), Help("Try other amounts.")] = True
    cost: A[
        str,
        Word(metavar="GROUP"),
        Help(
            "Most expensive group of changes: setting, configuration (a reformat or rewritten"
            " files), hardware, or system."
        ),
    ] = "system"
    pairs: A[int, Help("Combine the N best single changes in pairs; 0: none.")] = 0
    on: A[str, Word(metavar="ENGINE"), Help("Where runs take place: threads or threads:N.")] = (
        "threads"
    )

    def answer(self, progress: "bool | OnProgress", trust: "bool | Trust") -> "WhatIf":
        """Run the study, with the further parameters of `headrace.sweeps.whatif`."""
        from headrace import simulate
        from headrace.alternatives import group
        from headrace.sweeps import whatif

        sets = with_runs(self.sets, self.seed, self.replications)
        return whatif(
            simulate.load_with_sets(self.file, sets),
            by=self.by,
            only=self.only,
            kinds=self.kinds,
            quantities=self.quantities,
            cost=group(self.cost),
            pairs=self.pairs,
            on=self.on,
            progress=progress,
            trust=trust,
        )
