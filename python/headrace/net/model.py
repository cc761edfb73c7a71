"""Nets read from documents: runs, checks and state spaces."""

import json
import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headrace._core import (
    FunctionFailure,
    RunError,
    ScenarioError,
    is_net_document,
    replication_seed,
)
from headrace._core import NetModel as CoreModel
from headrace.net.conditions import NoSum
from headrace.net.exchange import is_foreign, known_endings, read_foreign, write_foreign
from headrace.net.expressions import Expression, shown
from headrace.net.functions import NetFunction, function_error, refusal, types_of
from headrace.net.inscriptions import inscribe
from headrace.net.linear import automaton
from headrace.net.monitors import Monitor, OwnFunction, OwnMonitor, caller
from headrace.net.outline import draw_outline
from headrace.net.results import NetResult, NetSolution, StateSpace
from headrace.net.toml import net_as_toml

if TYPE_CHECKING:
    from headrace.net.play import Play

FORMATS = {".toml": "toml", ".json": "json"}
"""Languages of documents, by the end of a file's name."""

DEEPEST = 100
"""Most tables and lists within each other. Parsers of documents refuse more than 128."""

Progress = Callable[[float], object]


class NetModel:
    """A net that has been read and checked.

    Examples:
        >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
        >>> model.name, model.run_end
        ('machine repair', 3600000.0)
        >>> model.invariants()["places"]
        {'machine repair/running + machine repair/repair': 5}
        >>> round(model.solve(conditions=["running == 0"])["running == 0"]["probability"], 5)
        0.00068
        >>> model.state_space(holds=["AG(EF(running == 5))"]).formulas[0]["holds"]
        True
        >>> model.symbolic_space(reach="running == 0").having
        1
        >>> model.run(3600, seed=2)["fail"]["firings"]
        34
        >>> model.play().run_until("repair >= 2")
        'condition'
        >>> model.svg(), [node["name"] for node in model.structure()["page"]["nodes"]]
        ('<svg ...', ['running', 'repair'])
    """

    def __init__(self, core: CoreModel, text: str, functions: Sequence[NetFunction] = ()) -> None:
        self._core, self._text, self._functions = core, text, list(functions)
        self._own: dict[str, OwnMonitor] = {}

    @property
    def text(self) -> str:
        """Its document.

        Raises:
            ValueError: It calls functions in Python.
        """
        if self._functions:
            raise ValueError(f"{self.name}: {refusal(self._functions, 'a document has no')}")
        return self._text

    @property
    def name(self) -> str:
        """Its name."""
        return self._core.name

    @property
    def run_end(self) -> float | None:
        """The end of runs that the document has, in seconds."""
        return self._core.run_settings[0]

    @property
    def collectors(self) -> list[str]:
        """Names of the monitors that collect rows."""
        return [name for name, kind in self._core.monitors if kind == "collector"]

    def document(self) -> dict[str, Any]:
        """Return the net as a document."""
        document: dict[str, Any] = _parsed(self.text)
        return {"name": self.name} | document

    def save(self, path: str | Path) -> None:
        """Write the net to a file, as `Net.save` does.

        Examples:
            >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
            >>> model.save("machine-repair.json")
            >>> hr.net.load("machine-repair.json").document() == model.document()
            True
            >>> model.text.splitlines()[1]
            'name = "machine repair"'
        """
        path = Path(path)
        path.write_bytes(encode(self.document(), path))

    def structure(self) -> dict[str, Any]:
        """Return its pages, places, stations and transitions, for drawings."""
        structure = json.loads(self._core.structure())
        page, document = structure["page"], _parsed(self._text)
        if "outline" in self._text:
            draw_outline(page, document)
        # The inscriptions of the net of a scenario are placeholders.
        if "outline" not in document:
            inscribe(page, document, self._first_values(page), self._functions)
        for function in self._functions:
            _note(page, function)
        return {"page": page}

    def _first_values(self, page: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the first tokens that have data. Functions in Python are not called for them."""
        pages, has_values = [page], False
        for each in pages:
            pages += each["pages"]
            nodes = (node for node in each["nodes"] if node.get("initial"))
            has_values = has_values or any(node["colour"] != "unit" for node in nodes)
        if self._functions or not has_values:
            return []
        entries: list[dict[str, Any]] = json.loads(self._core.play(1).marking())
        return [entry for entry in entries if entry["text"] != "()"]

    def svg(self) -> str:
        """Return a drawing of the net as SVG; notebooks show it."""
        from headrace.drawing.net_diagram import draw

        return draw(self.structure())

    _repr_svg_ = svg

    def invariants(self) -> dict[str, Any]:
        """Return sums of tokens that no firing changes, and what they do not cover.

        Returns:
            `places`: sums in words with their first value. `uncovered`: paths of places and
            stations in no sum. `transitions`: numbers of firings that together change no number
            of tokens, or None. `alike`: lists of transitions that change the same numbers of
            tokens; the first of each stands for all in `transitions`. `not_computed`: what was
            not computed, and why. `functions`, if there are any: the functions in Python, which a
            state space refuses.
        """
        structure = json.loads(self._core.structure())
        of_transitions = structure["transition_invariants"]
        reasons = {
            "sums of tokens": structure["not_computed"],
            "transition invariants": of_transitions["not_computed"],
        }
        not_computed = {label: why for label, why in reasons.items() if why is not None}
        functions = {"functions": [str(use) for use in self._functions]} if self._functions else {}
        return functions | {
            "places": {row["sum"]: row["value"] for row in structure["invariants"]},
            "uncovered": structure["uncovered"],
            "transitions": of_transitions["sums"],
            "alike": of_transitions["alike"],
            "not_computed": not_computed,
        }

    def monitor(
        self,
        name: str,
        monitor: Monitor | OwnFunction,
        *,
        transition: str | None = None,
        with_marking: bool = False,
    ) -> None:
        """Add a monitor, which observes runs and changes nothing of them.

        A function of your own is called after each firing. It is about ten times slower than other
        monitors, and no document has it.

        Parameters:
            monitor: `counter(…)`, `marking(…)`, `observation(…)`, `collector(…)` or
                `breakpoint_when(…)`; or a function, which gets a `Firing` and returns a number to
                record or None.
            transition: Of a function: path of the transition whose firings it gets; None for all.
            with_marking: Of a function: give it the marking after each firing.

        Raises:
            ScenarioError: The monitor does not fit the net.
            ValueError: The net has a monitor of this name.

        Examples:
            >>> model = hr.net.load("scenarios/nets/machine-repair.toml")
            >>> model.monitor("failures", hr.net.collector("fail", {"running": "running"}))
            >>> model.collectors
            ['failures']
        """
        if name in self._own or name in dict(self._core.monitors):
            raise ValueError(f"two monitors are called {name!r}; rename one")
        if not isinstance(monitor, Monitor):
            self._own[name] = OwnMonitor(monitor, transition, with_marking)
            return
        if transition is not None or with_marking:
            raise TypeError(f"monitor {name!r}: transition and with_marking are for functions")
        document = self.document()
        monitors = {**document.get("monitors", {}), name: dict(monitor.table)}
        changed = from_document({**document, "monitors": monitors}, self.name)
        self._core, self._text = changed._core, changed.text

    def play(self, *, seed: int | None = None) -> "Play":
        """Play the net, firing by firing.

        Parameters:
            seed: Seed of all random numbers; by default that of the document, or 1.

        Raises:
            ValueError: The net has monitors of your own: they observe runs only.
        """
        from headrace.net.play import Play

        if self._own:
            names = ", ".join(self._own)
            raise ValueError(f"monitors of your own observe runs only; leave out: {names}")
        seed = int(self._core.run_settings[2] or 1) if seed is None else seed
        if not 0 <= seed < 2**63:
            raise ValueError(f"seed = {seed}: expected from 0 to less than 2^63")
        try:
            return Play(self, self._core.play(seed), seed)
        except FunctionFailure as failure:
            error = self._error_of(failure)
            raise error from error.__cause__

    def _error_of(self, failure: FunctionFailure) -> BaseException:
        """Return the error of a run or play that a function in Python ended."""
        return function_error(failure, self._functions)

    def run(
        self,
        until: float | None = None,
        *,
        warmup: float | None = None,
        seed: int | None = None,
        replications: int | None = None,
        progress: Progress | None = None,
        playback: int | None = None,
    ) -> NetResult:
        """Run the net. Settings that are not given are those of the document.

        Parameters:
            until: Simulated time of the end, in seconds; without it, until nothing happens.
            warmup: Seconds at the start whose statistics are dropped.
            seed: Seed of all random numbers; replications after the first have a hash of it and
                their number.
            replications: Number of runs; more than one give confidence intervals.
            progress: Called with the simulated time, in seconds.
            playback: Frames to record of the first run, see `NetResult.playback`.

        Raises:
            RunError: The run failed: an endless loop, an expression without value, or an
                exception in a function, which is the cause.
            ValueError: A setting is out of range.
        """
        known = self._core.run_settings
        until = known[0] if until is None else until
        warmup = known[1] or 0.0 if warmup is None else warmup
        seed = int(known[2] or 1) if seed is None else seed
        replications = int(known[3] or 1) if replications is None else replications
        if until is not None and not 0 < until < 1.8e7:
            raise ValueError(f"until = {until}: expected more than 0 and at most 208 days, in s")
        if not warmup >= 0 or (until is not None and warmup >= until):
            raise ValueError(f"warmup = {warmup}: expected from 0 to less than until, in s")
        if not 1 <= replications <= 100_000:
            raise ValueError(f"replications = {replications}: expected from 1 to 100000")
        if not 0 <= seed < 2**63:
            raise ValueError(f"seed = {seed}: expected from 0 to less than 2^63")
        if playback is not None and not 1 <= playback <= 100_000:
            raise ValueError(f"playback = {playback}: expected from 1 to 100000 frames")
        paths = self._core.node_paths
        own = [
            (name, monitor.transition, caller(monitor.function, paths), monitor.with_marking)
            for name, monitor in self._own.items()
        ]
        runs, frames = [], None
        for number in range(replications):
            try:
                text, recorded = self._core.run(
                    until,
                    warmup,
                    replication_seed(seed, number),
                    progress,
                    own,
                    playback if number == 0 else None,
                )
            except FunctionFailure as failure:
                error = self._error_of(failure)
                raise error from error.__cause__
            runs.append(json.loads(text))
            if recorded is not None:
                from headrace.simulate.playback import playback_of

                frames = playback_of(recorded)
        return NetResult(self.name, runs, frames)

    def state_space(
        self,
        limit: int = 1_000_000,
        *,
        timed: bool = False,
        reach: str | Expression | None = None,
        holds: Sequence[str] = (),
        deadlock: bool = False,
        reduced: bool = False,
        progress: Progress | None = None,
    ) -> StateSpace:
        """Explore the markings that the net can reach.

        Parameters:
            limit: Number of markings at which the search ends.
            timed: Take delays and services into account; they must not be random.
            reach: A condition on markings, such as `"queue >= 3 and done == 0"`; names of places
                are their numbers of tokens, as `tokens(place)` is.
            holds: Formulas of computation tree logic, such as `"AG(EF(idle == 3))"`, or of linear
                temporal logic, such as `"G(F(idle == 3))"`.
            deadlock: Search for a deadlock only, and end at the first one. Place/transition nets
                need a part of their markings, as do those whose values are alike. The result's
                `reduction` says why all are searched otherwise.
            reduced: Search in the same way for a marking to `reach` only.
            progress: Called with the number of markings that have been explored.

        Raises:
            RunError: The net has parts that a state space does not model, or no program
                translates a linear formula.
            ScenarioError: The condition is none of this net.
        """
        if not 1 <= limit < 2**32:
            raise ValueError(f"limit = {limit}: expected from 1 to less than 2^32 markings")
        if (reduced and (reach is None or deadlock)) or (deadlock and reach is not None):
            raise ValueError(
                "expected `deadlock=True` alone, or `reduced=True` with a condition to `reach`"
            )
        if self._functions:
            raise RunError(f"{self.name}: {refusal(self._functions, 'state spaces refuse')}")
        asked = None if reach is None else str(reach)
        holds = [holds] if isinstance(holds, str) else holds
        try:
            named = self._with_parts(holds)
            negations = [self._core.negation(formula) for formula in named]
            automata = [None if each is None else automaton(each) for each in negations]
            formulas = list(zip(named, automata, strict=True))
            is_part = deadlock or reduced
            text = self._core.state_space(limit, timed, asked, formulas, is_part, progress)
        except ScenarioError as error:
            conditions = " ".join([asked or "", *holds])
            hint = "" if "write tokens(" in str(error) else self._tokens_hint(conditions)
            raise ScenarioError(f"{error}{hint}") from None
        answer = json.loads(text)
        for held, formula in zip(answer["formulas"], holds, strict=True):
            held["formula"] = formula
        return StateSpace(self.name, answer)

    def _with_parts(self, formulas: Sequence[str]) -> list[str]:
        """Return formulas whose `fires` names all parts of a transition of another tool."""
        parts: dict[tuple[str, str], list[str]] = {}
        _add_parts(self.document() if formulas else {}, "", parts)
        by_first = {paths[0]: paths for paths in parts.values()}

        def any_part(match: re.Match[str]) -> str:
            name = match[2].strip().removeprefix(f"{self.name}/")
            paths = by_first.get(name, [])
            any_of = " or ".join(f'fires("{path}")' for path in paths)
            return f"({any_of})" if len(paths) > 1 else match[0]

        return [re.sub(r'fires\(("?)([^()"]*)\1\)', any_part, formula) for formula in formulas]

    def symbolic_space(
        self, *, reach: str | Expression | None = None, progress: Progress | None = None
    ) -> StateSpace:
        """Explore the markings of a net whose tokens have no data, as decision diagrams.

        They count billions of markings in a second where places depend on few others, and know
        neither paths nor components. Times do not count.

        Parameters:
            reach: A condition on markings, such as `"a + 2 * b >= c and not d == 0"`: comparisons
                of sums of tokens. The answer has a marking, and the number of those.
            progress: Called with the number of markings after each round of firings.

        Raises:
            RunError: The net has more than places and transitions with weights, a place has no
                bound, or the diagrams are too large.
        """
        # It loads the library of diagrams.
        from headrace.net.symbolic import explore

        asked = None if reach is None else str(reach)
        if asked is not None:
            # All errors of a condition are those of the other search.
            self.state_space(1, reach=asked)
        try:
            net = json.loads(self._core.plain())
        except ValueError as refused:
            raise RunError(f"decision diagrams need a net of plain tokens: {refused}") from None
        try:
            return StateSpace(self.name, explore(net, progress, asked))
        except NoSum as refused:
            raise RunError(f"decision diagrams know sums of tokens: {refused}") from None

    def _tokens_hint(self, condition: str) -> str:
        """Return how to write the first place of a condition whose name is no identifier."""
        unquoted = re.sub(r'"[^"]*"', "", condition)
        names = (path.removeprefix(f"{self.name}/") for path in self._core.node_paths)
        odd = (name for name in names if not name.isidentifier() and name in unquoted)
        name = max(odd, key=len, default="")
        return f'; write tokens("{name}") for the number of tokens there' if name else ""

    def solve(
        self,
        at: Sequence[float] = (),
        *,
        conditions: Sequence[str] = (),
        limit: int = 200_000,
        progress: Progress | None = None,
    ) -> NetSolution:
        """Compute the steady state of a net whose times are all exponential, without a run.

        Parameters:
            at: Times in seconds whose states are computed, too.
            conditions: Conditions on markings, such as `"queue >= 3"`, whose probabilities are
                computed.
            limit: Most markings.
            progress: Called with the number of markings that have been explored.

        Raises:
            RunError: A time is not exponential, or there are more markings.
            ValueError: A setting is out of range, or time stands still for ever.
        """
        from headrace.net.solution import Chain

        if not 1 <= limit < 2**32:
            raise ValueError(f"limit = {limit}: expected from 1 to less than 2^32 markings")
        for time in at:
            if not 0 <= time < math.inf:
                raise ValueError(f"at = {time}: expected 0 or more, in s")
        if self._functions:
            raise RunError(f"{self.name}: {refusal(self._functions, 'a solution refuses')}")
        columns, transitions, ambiguous = self._core.chain(limit, list(conditions), progress)
        chain = Chain(columns)
        times, nodes = sorted(set(at)), self._core.node_paths
        states = [
            chain.figures(state, nodes, transitions, conditions)
            for state in (chain.steady(), *chain.at(times))
        ]
        notes = [
            f"{path}: of several bindings, all are equally likely; a run takes the tokens that"
            " came first"
            for path in ambiguous
        ]
        return NetSolution(
            self.name,
            {
                "markings": len(columns["vanishing"]),
                "tangible": len(chain.tangible),
                "steady": states[0],
                "transient": [
                    {"time": time, **state} for time, state in zip(times, states[1:], strict=True)
                ],
                "notes": notes,
            },
        )


def _add_parts(page: Any, inside: str, parts: dict[tuple[str, str], list[str]]) -> None:
    """Add the paths of transitions by their page and their id in the file of another tool."""
    for name, table in page.get("transitions", {}).items():
        number = table.get("outline", {}).get("id")
        if number is not None:
            parts.setdefault((inside, number), []).append(inside + name)
    for name, inner in page.get("pages", {}).items():
        _add_parts(inner, f"{inside}{name}/", parts)


def _note(page: dict[str, Any], function: NetFunction) -> None:
    """Note a function at its transition or station in a structure."""
    for inner in page["pages"]:
        _note(inner, function)
    for element in [*page["nodes"], *page["transitions"]]:
        if f"{page['path']}/{element['name']}" == function.path:
            notes = [element["note"]] if "note" in element else []
            element["note"] = ", ".join([*notes, function.label])


def from_document(
    document: Mapping[str, Any],
    name: str,
    functions: Sequence[NetFunction] = (),
    types: Mapping[str, Any] | None = None,
    source: str | None = None,
) -> NetModel:
    """Check and compile a document of Python's mappings and lists.

    Parameters:
        name: The net's name if the document has none.
        functions: Functions that its expressions call.
        types: Types of colours, by name.
        source: What errors call the net.

    Raises:
        ScenarioError: All that is wrong with it.
    """
    source = source or f"net {name}"
    _check_values(document, source)
    text = as_text(document, "json")
    try:
        known = types_of(dict(types or {})) if functions else []
        core = CoreModel.from_text(text, "json", source, name, list(functions), known)
    except ScenarioError as error:
        # Lines of a text that nobody wrote say nothing.
        plain = re.sub(rf"(?m)^({re.escape(source)}):\d+:\d+: ", r"\1: ", str(error))
        raise ScenarioError(plain) from None
    return NetModel(core, text, functions)


def _check_values(document: Any, source: str) -> None:
    """Check the values of a document of Python's mappings and lists, before it becomes text.

    Raises:
        ScenarioError: It is too deep, or has a value that no document can have.
    """
    waiting: list[tuple[Any, tuple[str, ...]]] = [(document, ())]
    while waiting:
        value, path = waiting.pop()
        if len(path) > DEEPEST:
            raise ScenarioError(
                f"{source}: {'.'.join(path[:4])}.…: expected at most {DEEPEST} tables and lists"
                " within each other; write pages beside each other"
            )
        problem = _problem(value)
        if problem:
            raise ScenarioError(f"{source}: {'.'.join(path)}: expected {problem}")
        if isinstance(value, Mapping):
            for key, inner in value.items():
                if not isinstance(key, str) or _problem(key):
                    raise ScenarioError(f"{source}: {'.'.join(path)}: expected texts as names")
                waiting.append((inner, (*path, key)))
        elif isinstance(value, list | tuple):
            waiting += [(inner, (*path, str(number))) for number, inner in enumerate(value)]


def _problem(value: Any) -> str:
    """Return the expected kind of value, if a document cannot have this one."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return "a whole number of at most 64 bits"
    if isinstance(value, float) and not math.isfinite(value):
        return "a finite number"
    if (
        isinstance(value, str)
        and not value.isascii()
        and any("\ud800" <= character <= "\udfff" for character in value)
    ):
        return "a text without halves of characters"
    if value is not None and not isinstance(value, int | float | str | list | tuple | Mapping):
        return f"a number, a text, a list or a table, not {shown(value)}"
    return ""


def load(path: str | Path) -> NetModel:
    """Read a net from a file: a document in .toml or .json, or a file of another tool.

    Raises:
        ScenarioError: All that is wrong with it, each with file, line and column.
        ValueError: A file of another tool cannot be read, or the ending is unknown.

    Examples:
        >>> hr.net.load("scenarios/nets/machine-repair.toml").solve()
        <machine repair: 6 markings, 6 of them take time>
    """
    path = Path(path)
    if is_foreign(path):
        return from_document(read_foreign(path), path.stem, source=str(path))
    format = FORMATS.get(path.suffix.lower())
    if format is None:
        raise ValueError(f"{path}: expected a net in a file that ends in {known_endings()}")
    text = read_text(path)
    model = NetModel(CoreModel.from_text(text, format, str(path), path.stem), text)
    if "outline" in text:
        try:
            model.structure()
        except ValueError as error:
            raise ScenarioError(f"{path}: {error}") from None
    return model


def read_text(path: Path) -> str:
    """Return the text of a file.

    Raises:
        ValueError: It is no text in UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: expected a text in UTF-8: {error.reason}") from None


def _parsed(text: str) -> Any:
    """Return the document of a text in JSON or TOML."""
    return json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)


def as_text(document: Mapping[str, Any], format: str) -> str:
    """Return a document as TOML or JSON."""
    if format == "toml":
        return net_as_toml(document)
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def check_ending(path: Path) -> None:
    """Check that nets are written to files of this name.

    Raises:
        ValueError: Its ending is none of those that are known.
    """
    if not is_foreign(path) and path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path}: expected a name that ends in {known_endings()}")


def encode(document: Mapping[str, Any], path: Path) -> bytes:
    """Return a checked document in the format that the end of a file's name asks for.

    Raises:
        ValueError: The ending is unknown, or the format cannot express the net.
    """
    check_ending(path)
    if is_foreign(path):
        return write_foreign(document, path)
    return as_text(document, FORMATS[path.suffix.lower()]).encode()


def is_net(path: Path) -> bool:
    """Return true if a file is a net and no scenario."""
    if is_foreign(path):
        return True
    format = FORMATS.get(path.suffix.lower())
    try:
        return format is not None and is_net_document(path.read_text(encoding="utf-8"), format)
    except (OSError, UnicodeDecodeError):
        return False
