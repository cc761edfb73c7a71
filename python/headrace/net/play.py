"""Nets that are played: firing by firing, by hand where it is wanted."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from headrace._core import FunctionFailure
from headrace.net.results import NetResult
from headrace.quantities import written_time

if TYPE_CHECKING:
    import polars as pl

    from headrace._core import NetPlay
    from headrace.drawing.net_player.steps import Animation
    from headrace.net.model import NetModel, Progress

Answer = TypeVar("Answer")

STEPS, MOST_STEPS = 200, 10_000
"""Firings of an animation by default and at most."""


@dataclass(frozen=True)
class Tokens:
    """Tokens of one value in a copy of a place or station.

    Examples:
        >>> play = hr.net.load("scenarios/nets/machine-repair.toml").play()
        >>> play.marking[0].place, play.marking[0].count, play.marking[0].ready
        ('machine repair/running', 5, False)
    """

    place: str
    """Path of the place or station."""
    copy: int | None
    """Copy of its page; None if there is only one."""
    token: Any
    """Their value: a number, text or truth, a mapping for a record, None without data."""
    text: str
    """Their value in the notation of expressions."""
    count: int
    """Their number."""
    ready: bool
    """True if transitions may take them."""
    arrives: float | None
    """When they arrive, in seconds, if they are on their way."""

    def __str__(self) -> str:
        number = f"{self.count} \N{MULTIPLICATION SIGN} " if self.count != 1 else ""
        copy = "" if self.copy is None else f" [{self.copy}]"
        state = "" if self.ready else " (not ready)"
        if self.arrives is not None:
            state = f" (arrives at {written_time(self.arrives)})"
        return f"{self.place}{copy}: {number}{self.text}{state}"


@dataclass(frozen=True)
class Fired:
    """A firing.

    Examples:
        >>> fired = hr.net.load("scenarios/nets/machine-repair.toml").play(seed=1).step()
        >>> fired.transition, round(fired.time, 1), fired.put[0].place
        ('machine repair/fail', 70.7, 'machine repair/repair')
    """

    transition: str
    """Path of the transition."""
    copy: int | None
    """Copy of its page; None if there is only one."""
    time: float
    """Simulated time, in seconds."""
    binding: dict[str, Any]
    """Values of its variables."""
    taken: tuple[Tokens, ...]
    """Tokens that it took."""
    put: tuple[Tokens, ...]
    """Tokens that it put."""

    def __str__(self) -> str:
        copy = "" if self.copy is None else f" [{self.copy}]"
        binding = ", ".join(f"{name} = {_shown(value)}" for name, value in self.binding.items())
        known = f" ({binding})" if binding else ""
        return f"{written_time(self.time)}  {self.transition}{copy}{known}"


@dataclass(frozen=True)
class Enabled:
    """A transition that can fire now.

    Examples:
        >>> enabled = hr.net.load("scenarios/nets/philosophers.toml").play().enabled()[0]
        >>> enabled.transition, enabled.may_fire, enabled.bindings[0]
        ('philosophers/left', True, {'p': 0})
    """

    transition: str
    """Its path."""
    copy: int | None
    """Copy of its page; None if there is only one."""
    priority: int
    """Its priority."""
    may_fire: bool
    """False if a transition of higher priority must fire first."""
    bindings: tuple[dict[str, Any], ...]
    """Values of its variables for each selection of tokens; the first is the net's own choice."""


@dataclass(frozen=True)
class Pending:
    """The next event: a token arrives, or a service ends.

    Examples:
        >>> pending = hr.net.load("scenarios/nets/machine-repair.toml").play(seed=1).pending
        >>> round(pending.time, 1), pending.place
        (70.7, 'machine repair/running')
    """

    time: float
    """Simulated time, in seconds."""
    place: str
    """Path of the place or station."""
    copy: int | None
    """Copy of its page; None if there is only one."""


class Play:
    """A net that is played.

    Without firings by hand it fires the same transitions at the same times as a run with its seed.

    Examples:
        >>> play = hr.net.load("scenarios/nets/machine-repair.toml").play(seed=1)
        >>> print(play.step())
        70.653128 s  machine repair/fail
        >>> play.run_to(3600), play.run_until("repair == 2"), f"{play.time:.0f} s"
        ('time', 'condition', '3651 s')
        >>> print(play.marking[1])
        machine repair/repair: 2 ... () (not ready)
        >>> play.marking_frame["count"].to_list(), play.counts()
        ([3, 2], [(3, 0, 3), (2, 1, 1)])
        >>> play.pending.place, play.result["fail"]["firings"]
        ('machine repair/repair', 28)
        >>> play.animate(5), play.name, [node["name"] for node in play.structure["page"]["nodes"]]
        (<animation of machine repair, 5 firings>, 'machine repair', ['running', 'repair'])
        >>> play.reset()
        >>> play
        <play of machine repair at 0 s>
    """

    def __init__(self, model: "NetModel", core: "NetPlay", seed: int) -> None:
        self._model, self._core, self.seed = model, core, seed
        self.stop: str | None = None
        """Why the play cannot go on: "quiet" (nothing can happen) or "deadlock"; else None."""
        self.last: Fired | None = None
        """The last firing of a step."""

    def _ask(self, question: Callable[[], Answer]) -> Answer:
        """Ask the kernel; what functions in Python raise becomes the error of the play."""
        try:
            return question()
        except FunctionFailure as failure:
            error = self._model._error_of(failure)
            raise error from error.__cause__

    @property
    def name(self) -> str:
        """Name of the net."""
        return self._model.name

    @property
    def time(self) -> float:
        """Simulated time, in seconds."""
        return self._core.time

    @property
    def marking(self) -> list[Tokens]:
        """The tokens in each place and station, those on their way included."""
        return [Tokens(**entry) for entry in json.loads(self._core.marking())]

    @property
    def marking_frame(self) -> "pl.DataFrame":
        """The marking as a table: place, copy, token as text, count, ready, arrives."""
        import polars as pl

        rows = [
            {
                "place": entry.place,
                "copy": entry.copy,
                "token": entry.text,
                "count": entry.count,
                "ready": entry.ready,
                "arrives_s": entry.arrives,
            }
            for entry in self.marking
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def pending(self) -> Pending | None:
        """The next event, if there is one."""
        document = json.loads(self._core.pending())
        return None if document is None else Pending(**document)

    def step(self) -> Fired | None:
        """Go on to the next firing and return it; None if there is none, see `stop`.

        Raises:
            RunError: The net fails.
        """
        return self._step(None)

    def _step(self, limit: float | None) -> Fired | None:
        document = json.loads(self._ask(lambda: self._core.step(limit)))
        if "stop" in document:
            self.stop = document["stop"]
            return None
        return self._took(document)

    def _took(self, document: Mapping[str, Any]) -> Fired:
        sides = {key: tuple(Tokens(**entry) for entry in document[key]) for key in ("taken", "put")}
        self.last = Fired(**{**document, **sides})
        self.stop = None
        return self.last

    def run_to(self, time: float, *, progress: "Progress | None" = None) -> str:
        """Run to a simulated time in seconds, or to a breakpoint of the net.

        Returns:
            "time", "breakpoint", "quiet" or "deadlock".

        Raises:
            ValueError: The time is past.
        """
        if not self.time <= time < 1.8e7:
            raise ValueError(f"time = {time}: expected from {self.time:.9g} to 1.8e7, in s")
        return self._ran(self._ask(lambda: self._core.run(time, None, progress)))

    def run_until(
        self,
        condition: "str | Callable[[Play], bool] | Any" = None,
        *,
        limit: float | None = None,
        progress: "Progress | None" = None,
    ) -> str:
        """Run until a condition on the marking holds, which is checked after each step.

        Parameters:
            condition: Such as `"desk >= 3"`, or a function of this play. A function is slower, and
                is asked after each firing. None runs to the next breakpoint of the net.
            limit: Simulated time of the end at the latest, in seconds.

        Returns:
            "condition", "time", "breakpoint", "quiet" or "deadlock".

        Raises:
            ScenarioError: The condition is none.
        """
        if not callable(condition):
            text = None if condition is None else str(condition)
            return self._ran(self._ask(lambda: self._core.run(limit, text, progress)))
        while self._step(limit) is not None:
            if condition(self):
                return "condition"
        return self._ran(str(self.stop))

    def _ran(self, stop: str) -> str:
        self.stop = stop if stop in ("quiet", "deadlock") else None
        return stop

    def enabled(self) -> list[Enabled]:
        """Return the transitions that can fire now, in the order of their turns.

        None can if an event is next, see `pending`.
        """
        entries = json.loads(self._ask(self._core.enabled))
        return [Enabled(**{**entry, "bindings": tuple(entry["bindings"])}) for entry in entries]

    def fire(
        self, transition: str, *, copy: int = 0, binding: int | Mapping[str, Any] = 0
    ) -> Fired:
        """Fire a transition by hand, whether or not it is its turn.

        The net stays sound: the transition must be enabled, and none of higher priority may be.
        The play is then no longer the run of its seed.

        Parameters:
            transition: Its path.
            copy: Copy of its page.
            binding: Its number among the bindings that `enabled` lists, or values of variables.

        Raises:
            RunError: It cannot fire now.

        Examples:
            >>> play = hr.net.load("scenarios/nets/philosophers.toml").play()
            >>> play.enabled()[0].transition, play.enabled()[0].bindings[:2]
            ('philosophers/left', ({'p': 0}, {'p': 1}))
            >>> print(play.fire("left", binding={"p": 1}))
            0 s  philosophers/left (p = 1)
        """
        if not isinstance(binding, int):
            binding = self._number_of(transition, copy, binding)
        number = binding
        return self._took(json.loads(self._ask(lambda: self._core.fire(transition, copy, number))))

    def _number_of(self, transition: str, copy: int, bindings: Mapping[str, Any]) -> int:
        for enabled in self.enabled():
            path = enabled.transition
            here = transition in (path, path.partition("/")[2]) and copy == (enabled.copy or 0)
            for number, known in enumerate(enabled.bindings) if here else ():
                if all(known.get(name) == value for name, value in bindings.items()):
                    return number
        values = ", ".join(f"{name} = {_shown(value)}" for name, value in bindings.items())
        raise ValueError(f"{transition} cannot fire now with {values}: see enabled()")

    def reset(self) -> None:
        """Return to the first marking."""
        self._ask(self._core.reset)
        self.stop = self.last = None

    @property
    def result(self) -> NetResult:
        """All figures so far, those of monitors included."""
        return NetResult(self._model.name, [json.loads(self._core.figures())])

    @property
    def structure(self) -> dict[str, Any]:
        """Pages, places, stations and transitions of the net, for drawings."""
        return self._model.structure()

    def counts(self) -> list[tuple[int, int, int]]:
        """Return tokens inside, tokens that wait for a server, and servers at work of each place
        and station, by its number in drawings."""
        return self._core.counts()

    def animate(self, steps: int = STEPS, *, progress: "Progress | None" = None) -> "Animation":
        """Play on, and return a drawing in which tokens move; notebooks show it.

        Parameters:
            steps: Number of firings at most.
            progress: Called with the simulated time, in seconds.

        Raises:
            ValueError: The number of steps is out of range.
        """
        from headrace.drawing.net_player.steps import Animation, Recorder

        if not 0 <= steps <= MOST_STEPS:
            raise ValueError(f"steps = {steps}: expected from 0 to {MOST_STEPS} firings")
        structure = self.structure
        recorder = Recorder(structure)
        recorder.add_frame(self.time, self.counts(), map(_words, self.marking))
        for _ in range(steps):
            firing = self.step()
            if firing is None:
                break
            if progress is not None:
                progress(firing.time)
            taken, put = (
                [(tokens.place, tokens.text, tokens.count) for tokens in side]
                for side in (firing.taken, firing.put)
            )
            recorder.add_step(firing.transition, str(firing), taken, put)
            recorder.add_frame(firing.time, self.counts(), map(_words, self.marking))
        return Animation(self.name, structure, recorder.frames(self.stop))

    def __repr__(self) -> str:
        return f"<play of {self._model.name} at {written_time(self.time)}>"

    def _repr_html_(self) -> str:
        """Draw the marking."""
        return self.animate(0)._repr_html_()


def _words(tokens: Tokens) -> tuple[str, str]:
    """Return the place of tokens, and the text of a drawing."""
    number = f"{tokens.count} \N{MULTIPLICATION SIGN} " if tokens.count != 1 else ""
    copy = "" if tokens.copy is None else f"[{tokens.copy}] "
    state = "" if tokens.arrives is None else f" at {written_time(tokens.arrives)}"
    return tokens.place, f"{copy}{number}{tokens.text}{state}"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "(" + ", ".join(f"{name} = {_shown(part)}" for name, part in value.items()) + ")"
    if value is None:
        return "()"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.9g}" if isinstance(value, float) else str(value)
