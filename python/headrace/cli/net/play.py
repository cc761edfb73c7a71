"""`headrace net play`."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from headrace.cli.net.foreign import NetFile
from headrace.cli.options import ShowProgress
from headrace.commands.fields import Seed
from headrace.quantities import written_time

if TYPE_CHECKING:
    from headrace.net.play import Fired, Play

HELP = """\
Enter, step [N]   fire once, or N times
run TIME          run for a time, such as run 10 s
until CONDITION   run until a condition on the marking holds, such as until desk >= 3
continue          run to the next breakpoint of the net
enabled           list the transitions that can fire now, or the next event
fire NAME [N]     fire a transition by hand, with its N-th binding, from 0
marking           show the tokens of each place and station
monitors          show figures of monitors
reset             return to the first marking
quit              end
"""
MOST_LINES = 1000
"""Most firings that one command prints."""

STOPS = {
    "time": "",
    "condition": "the condition holds",
    "quiet": "nothing can happen any more",
    "deadlock": "deadlock: nothing can happen any more, and tokens are where they may not remain",
}


def play(file: NetFile, seed: Seed = None, show_progress: ShowProgress = True) -> None:
    """Play a net of your own, firing by firing: Enter fires, help lists the commands.

    Commands are read from the standard input. A wrong one ends the play with status 2, unless it
    was typed at a terminal.
    """
    from headrace.cli.net.foreign import load_net

    typed = sys.stdin.isatty()
    player = Player(load_net(file).play(seed=seed), show_progress)
    if typed:
        _print(f"{player.prompt}; Enter fires, help lists the commands")
    for number, line in enumerate(_lines(player, typed), 1):
        try:
            if not player.obey(line.strip()):
                return
        except KeyboardInterrupt:
            if not typed:
                raise
            _print(f"interrupted at {written_time(player.play.time)}")
        except Exception as error:
            if not isinstance(error, ValueError | RuntimeError):
                raise
            if not typed:
                raise ValueError(f"line {number}, {line.strip()!r}: {error}") from None
            _print(f"error: {error}")


def _lines(player: "Player", typed: bool) -> Iterator[str]:
    """Yield the lines of the standard input until its end."""
    if not typed:
        yield from sys.stdin
        return
    # Lines can be edited, and come again with the arrow keys.
    import readline  # noqa: F401

    while True:
        try:
            yield input(f"{written_time(player.play.time)}> ")
        except EOFError:
            print()
            return


def _print(text: str) -> None:
    from headrace.plain_text import plain_line

    print(plain_line(text), flush=True)


class Player:
    """Obeys commands for a play."""

    def __init__(self, play: "Play", shown: bool) -> None:
        self.play, self._shown = play, shown
        self._commands: dict[str, Callable[[str], None]] = {
            "": self._step,
            "step": self._step,
            "run": self._run,
            "until": self._until,
            "continue": self._continue,
            "enabled": self._enabled,
            "fire": self._fire,
            "marking": self._marking,
            "monitors": self._monitors,
            "reset": self._reset,
            "help": lambda _: print(HELP, end="", flush=True),
        }

    @property
    def prompt(self) -> str:
        """The net and its time."""
        return repr(self.play).strip("<>")

    def obey(self, line: str) -> bool:
        """Obey a command; return false if it ends the play.

        Raises:
            ValueError: There is no such command, or its argument is wrong.
        """
        name, _, argument = line.partition(" ")
        if name == "quit":
            return False
        command = self._commands.get(name)
        if command is None:
            known = ", ".join(name for name in self._commands if name)
            raise ValueError(f"no command is called {name!r}: expected {known} or quit")
        command(argument.strip())
        return True

    def _step(self, argument: str) -> None:
        steps = _whole(argument or "1")
        for step in range(steps):
            fired = self.play.step()
            if fired is None:
                _print(STOPS[str(self.play.stop)])
                return
            if step < MOST_LINES:
                self._show(fired)
        if steps > MOST_LINES:
            _print(f"{steps - MOST_LINES:,} more firings are not shown")

    def _show(self, fired: "Fired") -> None:
        _print(str(fired))
        for sign, tokens in (("-", fired.taken), ("+", fired.put)):
            for it in tokens:
                _print(f"  {sign} {it}")

    def _run(self, argument: str) -> None:
        from headrace._core import parse_seconds

        if not argument:
            raise ValueError("expected a time, such as run 10 s")
        start, length = self.play.time, parse_seconds(argument)
        with self._progress(lambda now: (now - start) / length if length > 0 else 1.0) as report:
            stop = self.play.run_to(start + length, progress=report)
        self._stopped(stop)

    def _until(self, argument: str) -> None:
        if not argument:
            raise ValueError("expected a condition, such as until desk >= 3")
        with self._progress(lambda _: None) as report:
            stop = self.play.run_until(argument, progress=report)
        self._stopped(stop)

    def _continue(self, argument: str) -> None:
        with self._progress(lambda _: None) as report:
            stop = self.play.run_until(progress=report)
        self._stopped(stop)

    @contextlib.contextmanager
    def _progress(
        self, part: Callable[[float], float | None]
    ) -> Iterator[Callable[[float], None] | None]:
        """Show the progress of a run that takes long; `part` is its part by the time."""
        from headrace.cli.screen import progress

        with progress(self.play.name, self._shown) as report:
            yield None if report is None else lambda now: report(now, 0, part(now))

    def _stopped(self, stop: str) -> None:
        reason = STOPS.get(stop) or ""
        if stop == "breakpoint":
            reason = f"breakpoint {self.play.result.runs[0]['stopped_by']}"
        _print(written_time(self.play.time) + (f"  {reason}" if reason else ""))

    def _enabled(self, argument: str) -> None:
        enabled = self.play.enabled()
        for it in enabled:
            copy = "" if it.copy is None else f" [{it.copy}]"
            later = "" if it.may_fire else "  (others have higher priority)"
            _print(f"{it.transition}{copy}{later}")
            for number, binding in enumerate(it.bindings):
                if binding:
                    values = ", ".join(f"{name} = {value}" for name, value in binding.items())
                    _print(f"  {number}: {values}")
        pending = self.play.pending
        if not enabled and pending is not None:
            copy = "" if pending.copy is None else f" [{pending.copy}]"
            _print(f"next event: {pending.place}{copy} at {written_time(pending.time)}")
        elif not enabled:
            _print("nothing can happen any more")

    def _fire(self, argument: str) -> None:
        name, number = argument, "0"
        head, _, tail = argument.rpartition(" ")
        if head and tail.isdigit():
            name, number = head, tail
        if not name:
            raise ValueError("expected a transition, such as fire send")
        self._show(self.play.fire(name, binding=_whole(number)))

    def _marking(self, argument: str) -> None:
        for it in self.play.marking:
            _print(str(it))

    def _monitors(self, argument: str) -> None:
        from headrace.cli.screen import show_view
        from headrace.views.net import figure_tables

        tables = list(figure_tables(self.play.result, ["monitors"]))
        if tables:
            show_view(tables)
        else:
            _print("the net has no monitors")

    def _reset(self, argument: str) -> None:
        self.play.reset()
        _print(self.prompt)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise ValueError(f"{text!r}: expected a whole number")
    return int(text)
