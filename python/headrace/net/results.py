"""Results of nets: figures of runs, and properties of state spaces."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace import kinds
from headrace.intervals import half_width, means
from headrace.net import monitor_figures
from headrace.net.monitor_figures import SteadyState
from headrace.quantities import numbered, whole_or_power

if TYPE_CHECKING:
    import polars as pl

    from headrace.render.style import NotebookFigure as Figure
    from headrace.simulate import Playback

Figures = dict[str, Any]
"""Figures by their names."""

NODE_FIGURES = (
    "arrivals",
    "departures",
    "inside",
    "throughput",
    "mean_inside",
    "mean_queue",
    "residence",
    "service",
    "utilisation",
)
"""Figures of places and stations."""


class NetResult:
    """Figures of a net's runs.

    Examples:
        >>> result = hr.net.load("scenarios/nets/machine-repair.toml").run(3.6e6, replications=3)
        >>> result.stop, round(result["repair"]["utilisation"], 3)
        ('time', 0.44)
        >>> result.nodes["mean_inside"].round(2).to_list()
        [4.35, 0.65]
        >>> result.nodes["mean_inside_half_width"].round(3).to_list()
        [0.006, 0.006]
        >>> result.rows("transitions")[0]["firings"], result.transitions["firings"].to_list()
        (26329.0, [26329.0, 26328.0])
        >>> result.probes.is_empty(), result.stores.is_empty(), result.monitors.is_empty()
        (True, True, True)
        >>> hr.net.NetResult.from_document(result.document)
        <machine repair: 3 runs of 3.6e+06 s, ended by time, 52921 firings>
    """

    def __init__(
        self, name: str, runs: Sequence[Mapping[str, Any]], playback: "Playback | None" = None
    ) -> None:
        self.name = name
        self.runs = runs
        """Each run as a document."""
        self.playback = playback
        """Frames of the first run, if they were asked for."""

    @property
    def stop(self) -> str:
        """Why the first run ended: "time", "quiet" (nothing can happen), "deadlock" or
        "breakpoint"."""
        return str(self.runs[0]["stop"])

    @property
    def document(self) -> dict[str, Any]:
        """All runs as one document."""
        return kinds.with_kind("net-run", {"name": self.name, "runs": list(self.runs)})

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "NetResult":
        """Return the result of a document."""
        return cls(document["name"], document["runs"])

    def _rows(self, key: str, figures: Sequence[str]) -> Iterator[dict[str, Any]]:
        for entries in zip(*(_with_rates(run, key) for run in self.runs), strict=True):
            row: dict[str, Any] = {"path": entries[0]["path"]}
            if key == "nodes":
                row |= {name: entries[0][name] for name in ("discipline", "copies", "servers")}
            for figure in figures:
                values = [entry[figure] for entry in entries]
                row[figure] = means(values)
                if len(self.runs) > 1:
                    known = [float(value) for value in values if value is not None]
                    row[f"{figure}_half_width"] = half_width(known)
            yield row

    def rows(self, key: str) -> list[dict[str, Any]]:
        """Return the rows of "nodes", "transitions", "probes" or "monitors": means over the runs.

        With several runs, a figure has the half width of its 95 % confidence interval beside it.
        """
        if key == "monitors":
            return list(monitor_figures.rows(self.runs))
        figures = {
            "nodes": NODE_FIGURES,
            "transitions": ("firings", "throughput"),
            "probes": ("count", "mean", "deviation", "least", "most"),
        }
        return list(self._rows(key, figures[key]))

    def _frame(self, key: str) -> "pl.DataFrame":
        import polars as pl

        return pl.DataFrame(self.rows(key), infer_schema_length=None)

    @property
    def nodes(self) -> "pl.DataFrame":
        """A row for each place and station; times are in seconds, rates per second."""
        return self._frame("nodes")

    @property
    def transitions(self) -> "pl.DataFrame":
        """A row for each transition."""
        return self._frame("transitions")

    @property
    def probes(self) -> "pl.DataFrame":
        """A row for each probe."""
        return self._frame("probes")

    @property
    def monitors(self) -> "pl.DataFrame":
        """A row for each monitor: its name as `path`, and its figures."""
        return self._frame("monitors")

    def transient(self, monitor: str) -> "pl.DataFrame":
        """Return a monitor over time: `time_s`, and the `mean` over the runs with the `half_width`
        of its 95 % confidence interval.

        Each value is a mean over the interval that ends then. Firings are per second.

        Raises:
            KeyError: There is no such monitor.
            ValueError: It has no values over time: a collector or breakpoint.

        Examples:
            >>> result = hr.net.load("scenarios/nets/monitored-queue.toml").run(seed=1)
            >>> result.transient("inside")["mean"].round(1).to_list()[:3]
            [1.5, 2.1, 2.8]
        """
        return monitor_figures.transient(self.runs, monitor)

    def steady_state(self, monitor: str, *, warmup: float | None = None) -> SteadyState | None:
        """Return a monitor's mean in the steady state, with its 95 % confidence interval.

        The interval is over the runs; of one run it is by batch means.

        Parameters:
            warmup: Seconds at the start that are left out; by default the warm-up of the run.

        Examples:
            >>> result = hr.net.load("scenarios/nets/monitored-queue.toml").run(seed=1)
            >>> result.over_time
            ['inside', 'share of the time with a queue', 'stay', 'stays over 3 s']
            >>> result.steady_state("inside")
            SteadyState(mean=3.36..., half_width=0.27..., batches=10, correlation=None)
        """
        return monitor_figures.steady_state(self.runs, monitor, warmup=warmup)

    def collected(self, monitor: str) -> "pl.DataFrame":
        """Return the rows of a collector as a table; several runs have a column `run`.

        Raises:
            KeyError: There is no such monitor.
            ValueError: It is no collector.

        Examples:
            >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
            >>> model.monitor("failures", hr.net.collector("fail", {"running": "running"}))
            >>> model.run(3600).collected("failures").columns
            ['time_s', 'running']
        """
        return monitor_figures.collected(self.runs, monitor)

    def plot(self, *monitors: str) -> "Figure":
        """Draw monitors over time, each with the band of its 95 % confidence intervals.

        Parameters:
            monitors: Their names; without any, all that have values over time.

        Examples:
            >>> result = hr.net.load("scenarios/nets/monitored-queue.toml").run(seed=1)
            >>> result.plot("inside", "stay")
            <NotebookFigure size ...>
        """
        return kinds.picture("net-run", self, "monitors", names=monitors or self.over_time)

    @property
    def over_time(self) -> list[str]:
        """Names of the monitors that have values over time."""
        return [one["name"] for one in self.runs[0].get("monitors", ()) if one.get("means")]

    @property
    def stores(self) -> "pl.DataFrame":
        """A row for each field of each copy of a store: its text at the end of the run.

        Several runs have a column `run`.
        """
        import polars as pl

        rows = [
            {"run": number, "path": it["path"], "copy": it["copy"], "field": field, "value": value}
            for number, run in enumerate(self.runs)
            for it in run["stores"]
            for field, value in it["fields"].items()
        ]
        texts = ("path", "field", "value")
        columns = ("run", "path", "copy", "field", "value")
        schema = {name: pl.String if name in texts else pl.Int64 for name in columns}
        frame = pl.DataFrame(rows, schema=schema)
        return frame if len(self.runs) > 1 else frame.drop("run")

    def _repr_html_(self) -> str:
        return "".join(
            self._frame(key)._repr_html_()
            for key in ("nodes", "transitions", "probes", "monitors")
            if self.runs[0].get(key)
        )

    def __getitem__(self, name: str) -> dict[str, Any]:
        """Return the figures of a place, station, transition, probe or monitor by its name."""
        rows = [
            row
            for key in ("nodes", "transitions", "probes", "monitors")
            for row in self.rows(key)
            if row["path"] in (name, f"{self.name}/{name}")
        ]
        if not rows:
            raise KeyError(f"{self.name} has no element {name!r}")
        return rows[0]

    def __repr__(self) -> str:
        first = self.runs[0]
        return (
            f"<{self.name}: {numbered(len(self.runs), 'run')} of {first['time']:g} s, ended by"
            f" {self.stop}, {first['firings']} firings>"
        )


def _with_rates(run: Mapping[str, Any], key: str) -> Iterator[dict[str, Any]]:
    measured = run["measured"]
    for entry in run[key]:
        if key != "nodes":
            yield entry
            continue
        # Nothing may ever leave a place; what a station has not served, it has not put through.
        passed = entry["arrivals" if entry["discipline"] is None else "departures"]
        yield {"throughput": passed / measured if measured > 0 else 0.0} | entry


MOST_SHOWN = 20
"""Places and transitions of a kind that are shown, if there are more than twice as many."""


class NetSolution:
    """The steady state of a net, and its states at some times.

    Examples:
        >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
        >>> solution = model.solve([60, 3600], conditions=["repair >= 2"])
        >>> solution.markings, solution.tangible, solution.notes
        (6, 6, [])
        >>> solution.nodes["time"].to_list(), solution.nodes["mean_inside"].round(2).to_list()
        ([None, None, 60, 60, 3600, 3600], [4.36, 0.64, 4.68, 0.32, 4.36, 0.64])
        >>> solution.transitions["throughput"].round(4).to_list()
        [0.0073, 0.0073, 0.0078, 0.0045, 0.0073, 0.0073]
        >>> solution.probabilities["probability"].round(3).to_list()
        [0.154, 0.042, 0.154]
        >>> solution.rows("probabilities")[1]["time"]
        60
        >>> len(solution.states), hr.net.NetSolution.from_document(solution.document)
        (3, <machine repair: 6 markings, 6 of them take time>)
    """

    def __init__(self, name: str, document: Mapping[str, Any]) -> None:
        self.name = name
        self._fields = dict(document)

    @property
    def document(self) -> Figures:
        """The solution as a document."""
        return kinds.with_kind("net-solution", {"name": self.name, **self._fields})

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "NetSolution":
        """Return the solution of a document."""
        fields = ("markings", "tangible", "steady", "transient", "notes")
        return cls(document["name"], {field: document[field] for field in fields})

    @property
    def markings(self) -> int:
        """Number of markings, those without duration included."""
        return int(self._fields["markings"])

    @property
    def tangible(self) -> int:
        """Number of markings that take time."""
        return int(self._fields["tangible"])

    @property
    def notes(self) -> list[str]:
        """Assumptions of the solution that a run does not make."""
        return list(self._fields["notes"])

    @property
    def states(self) -> list[Figures]:
        """The figures of the steady state, whose `time` is None, then those of each time."""
        return [{"time": None, **self._fields["steady"]}, *self._fields["transient"]]

    def rows(self, key: str) -> list[Figures]:
        """Return the rows of "nodes", "transitions" or "probabilities"; `time` is None in the
        steady state."""
        return [{"time": state["time"], **row} for state in self.states for row in state[key]]

    @property
    def nodes(self) -> "pl.DataFrame":
        """A row for each place and station: mean tokens inside, and utilisation of its servers."""
        return self._frame("nodes")

    @property
    def transitions(self) -> "pl.DataFrame":
        """A row for each transition: firings per second."""
        return self._frame("transitions")

    @property
    def probabilities(self) -> "pl.DataFrame":
        """A row for each condition: its probability."""
        return self._frame("probabilities")

    def _frame(self, key: str) -> "pl.DataFrame":
        import polars as pl

        return pl.DataFrame(self.rows(key), infer_schema_length=None)

    def __getitem__(self, name: str) -> Figures:
        """Return the figures of a place, station, transition or condition in the steady state."""
        for rows in ("nodes", "transitions", "probabilities"):
            for row in self._fields["steady"][rows]:
                if row.get("path", row.get("condition")) in (name, f"{self.name}/{name}"):
                    return dict(row)
        raise KeyError(f"{self.name} has no element {name!r}")

    def __repr__(self) -> str:
        return f"<{self.name}: {self.markings} markings, {self.tangible} of them take time>"


class StateSpace:
    """Properties of the markings that a net can reach.

    Examples:
        >>> space = hr.net.load("scenarios/nets/machine-repair.toml").state_space()
        >>> space.states, space.bound_of
        (6, {'machine repair/running': (0, 5), 'machine repair/repair': (0, 5)})
        >>> list(space.sentences())[3]
        '0 dead markings, 0 of them with tokens that may not remain there'
    """

    def __init__(self, name: str, document: Mapping[str, Any]) -> None:
        self.name = name
        self.document = document

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["document"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __repr__(self) -> str:
        state = "complete" if self.complete else "incomplete"
        return f"<{self.name}: {self.states} markings, {self.arcs} arcs, {state}>"

    @property
    def bound_of(self) -> dict[str, tuple[int, int]]:
        """Fewest and most tokens of each place and station."""
        return {bound["path"]: (bound["least"], bound["most"]) for bound in self.bounds}

    def sentences(self) -> Iterator[str]:
        """Yield what follows from the state space, a sentence each."""
        if (reduction := self.document.get("reduction")) is not None:
            yield from self._reduced_search(reduction)
            return
        markings, arcs = whole_or_power(self.states), whole_or_power(self.arcs)
        yield f"{markings} markings, {arcs} arcs, in {self.seconds:.2f} s"
        if (nodes := self.document.get("nodes")) is not None:
            yield f"a decision diagram of {nodes:,} nodes"
        if (memory := self.document.get("memory_limit")) is not None:
            yield (
                f"Memory ended the search after {self.explored:,} markings were explored: it had"
                f" used {memory / 2**30:.3g} GiB, half of what was available. Bounds and counts are"
                " of a part of the markings. A lower --max-markings, or places with fewer"
                " tokens, need less."
            )
        elif (unbounded := self.document.get("unbounded")) is not None:
            repeated = len(unbounded["path"]["firings"]) - unbounded["repeated"] + 1
            yield f"not bounded: {', '.join(unbounded['places'])}"
            yield from _path("firings that show it", unbounded["path"])
            yield f"The firings from number {repeated} on can be repeated for ever."
        elif not self.complete:
            yield "The limit ended the search: bounds and counts are of a part of the markings."
        bounds = [f"bounds of {path}: {a} to {b} tokens" for path, (a, b) in self.bound_of.items()]
        yield from _some(bounds, "places and stations")
        if self.complete:
            stand = whole_or_power(self.deadlocks)
            yield (
                f"{_number(self.dead, 'dead marking')}, {stand} of them with tokens that may not"
                " remain there"
            )
        if self.components is not None:
            yield (
                f"{_number(self.components, 'strongly connected component')},"
                f" {self.terminal_components:,} terminal;"
                f" {_number(self.home_markings, 'home marking')}, the initial one"
                f" {'is' if self.initial_is_home else 'is not'} among them"
            )
        names: dict[str, list[str]] = {}
        for transition in self.transitions:
            word = "is live" if transition["live"] else "is not live"
            if transition["dead"] and self.complete:
                word = "never fires"
            if transition["live"] is not None or word == "never fires":
                names.setdefault(word, []).append(transition["path"])
        for word, paths in names.items():
            yield from _some([f"{path} {word}" for path in paths], f"transitions: {word}")
        if self.deadlock is not None:
            is_near = self.deadlock["firings"] is not None
            yield from _path("nearest dead marking" if is_near else "a dead marking", self.deadlock)
        if self.reached is not None:
            if (having := self.document.get("having")) is not None:
                yield f"{whole_or_power(having)} markings have the property"
            is_near = self.reached["firings"] is not None
            yield from _path(
                f"{'nearest' if is_near else 'a'} marking that was asked for", self.reached
            )
        for held in self.formulas:
            if held["holds"] is None:
                yield f"{held['formula']}: unknown, as the state space is incomplete"
                continue
            verb = "holds" if held["holds"] else "does not hold"
            markings = ""
            if (number := held["markings"]) is not None:
                markings = f"; it does in {number:,} of {self.states:,} markings"
            yield f"{held['formula']} {verb}{markings}"
            if held["path"] is not None:
                cycle = held["repeated"]
                more = f" (its last {cycle} repeat for ever)" if cycle else ""
                yield from _path(f"a way that shows it{more}", held["path"])

    def _reduced_search(self, reduction: Mapping[str, Any]) -> Iterator[str]:
        """Yield the answer of a search for a deadlock or a marking only, a sentence each."""
        markings = f"{_number(self.states, 'marking')} visited, {_number(self.arcs, 'firing')}"
        yield f"{markings}, in {self.seconds:.2f} s"
        if reduction["alike"]:
            sorts = _number(reduction["alike"], "sort")
            yield f"reduced: markings that differ by {sorts} of alike values are one"
        elif reduction["reduced"]:
            places = _number(reduction["places"], "place")
            rules = _number(reduction["rules"], "transition")
            yield f"reduced to a net of {places} and {rules}, and by stubborn sets"
        else:
            yield f"not reduced: {reduction['reason']}"
        if self.reached is not None:
            yield from _path("reached", self.reached)
        elif self.deadlocks and not reduction["has_property"]:
            yield from _path("deadlock", self.deadlock)
        elif not self.complete:
            ended = "memory" if self.document.get("memory_limit") is not None else "the limit"
            yield f"unknown: {ended} ended the search"
        elif not reduction["has_property"]:
            yield "no deadlock"
            if self.deadlock is not None:
                yield from _path("a dead marking where tokens may remain", self.deadlock)


def _some(sentences: Sequence[str], kind: str) -> Iterator[str]:
    """Yield sentences; of many, the first ones and the number of the others."""
    shown = len(sentences) if len(sentences) <= 2 * MOST_SHOWN else MOST_SHOWN
    yield from sentences[:shown]
    if shown < len(sentences):
        yield f"{len(sentences) - shown:,} more {kind} (see --json)"


def _number(number: int, thing: str) -> str:
    return f"{whole_or_power(number)} {thing}{'' if number == 1 else 's'}"


def _path(title: str, path: Mapping[str, Any]) -> Iterator[str]:
    firings = path["firings"]
    yield f"{title}:" if firings is None else f"{title}, after {_number(len(firings), 'firing')}:"
    for number, firing in enumerate(firings or (), 1):
        yield f"  {number}. {firing}"
    for place, tokens in path["marking"]:
        yield f"  {place}: {', '.join(tokens)}"
