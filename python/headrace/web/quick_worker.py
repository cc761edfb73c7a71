"""The helper process of `quick_run`: checks, draws and runs scenarios of users.

    python -m headrace.web.quick_worker MEMORY SECONDS

It reads a request per line from its standard input, and answers each with a line of JSON. It ends
if a request takes longer or more memory than it may. `headrace.confined` starts it, so that it
opens no files but those that scenarios may read, and loads no code.
"""

import contextlib
import json
import os
import re
import resource
import signal
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from headrace import RunError, ScenarioError, TraceError, simulate
from headrace.commands.design import calculate
from headrace.commands.parameters import WrongParameter
from headrace.drawing import net_diagram
from headrace.drawing.net_diagram import StructureError
from headrace.simulate.trust import UntrustedCode
from headrace.web import quick_nets

NAME = "scenario.toml"
"""Name of a scenario's text in errors."""


class QuickRequest(msgspec.Struct, frozen=True):
    """A request to a helper process: a line of its input."""

    id: int
    work: str
    """A key of `WORK`."""
    text: str
    """The scenario."""
    sets: tuple[str, ...] = ()
    """Settings in the command line's form."""


class QuickError(msgspec.Struct, frozen=True):
    """Why a scenario has no answer."""

    message: str
    line: int | None = None
    """Line of the text, from 1."""
    column: int | None = None
    text: str = ""
    """The line's text."""
    parameter: str | None = None
    """Parameter of a calculation that is wrong."""


class QuickAnswer(msgspec.Struct, frozen=True):
    """Answer to a request: a result or an error, or neither if a newer request came."""

    result: Any = None
    error: QuickError | None = None

    @property
    def superseded(self) -> bool:
        """Return whether a newer request of the same page took its place."""
        return self.result is None and self.error is None


class CheckedQuantity(msgspec.Struct, frozen=True):
    """A quantity of a scenario."""

    path: str
    quantity: str
    amount: float
    text: str
    """The amount with its unit, as the scenario has it."""
    given: bool
    """Whether the scenario gives it, and no preset or default."""


class CheckedScenario(msgspec.Struct, frozen=True):
    """A correct scenario."""

    name: str
    toml: str
    """The complete scenario."""
    explained: str
    """The same with the origin of each value."""
    quantities: tuple[CheckedQuantity, ...]
    warnings: tuple[str, ...]


class Calculation(msgspec.Struct, frozen=True):
    """The text of a request to calculate."""

    command: str
    values: Mapping[str, Any]


class Superseded(BaseException):
    """A newer request takes the place of this one."""


def main() -> int:
    """Answer requests until the end of the input."""
    memory, seconds = int(sys.argv[1]), float(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    working = False

    def supersede(_number: int, _frame: object) -> None:
        if working:
            raise Superseded

    signal.signal(signal.SIGINT, supersede)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        request = msgspec.json.decode(line, type=QuickRequest)
        # The server ends it at the limit; this is for a server that was killed.
        signal.setitimer(signal.ITIMER_PROF, seconds + 5.0)
        try:
            working = True
            result = answer(request)
            working = False
        except Superseded:
            working = False
            result = QuickAnswer()
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        answers.write(json.dumps(msgspec.to_builtins(result)) + "\n")
        answers.flush()
    return 0


def answer(request: QuickRequest) -> QuickAnswer:
    """Return the answer to a request."""
    # Editors of Windows put a byte order mark before a text.
    text, sets = request.text.removeprefix("\ufeff"), list(request.sets)
    try:
        if request.work == "calculate":
            return _calculated(msgspec.json.decode(text, type=Calculation))
        if wrong := _not_toml(text):
            return QuickAnswer(error=wrong)
        if request.work in quick_nets.WORK:
            return QuickAnswer(quick_nets.WORK[request.work](text, sets))
        scenario = simulate.load_with_sets(text if "\n" in text else f"{text}\n", sets)
        return QuickAnswer(WORK[request.work](scenario))
    except ScenarioError as error:
        if Path(error.file).name != NAME:
            # Of a preset, or of a file that the scenario names.
            return _failed(str(error))
        return _failed(error.message, error.line, error.column, error.text)
    except quick_nets.WrongSetting as error:
        return _failed(str(error))
    except (RunError, TraceError, UntrustedCode, StructureError) as error:
        return _failed(str(error))
    except (MemoryError, RecursionError):
        return _failed("it needs more memory than a quick run may have: run it as a job")


def check(scenario: simulate.Scenario) -> CheckedScenario:
    """Return what a scenario says, with the origin of each value."""
    return CheckedScenario(
        name=scenario.name,
        toml=scenario.toml,
        explained=scenario.explain(),
        quantities=tuple(
            CheckedQuantity(*row, given=scenario.gives(row.path)) for row in scenario.quantities
        ),
        warnings=tuple(message for _, message in scenario.loaded.cautions()),
    )


def run(scenario: simulate.Scenario) -> dict[str, Any]:
    """Return the document of a run, without the scenario's text."""
    document = simulate.run(scenario, progress=False, server_series=False).document
    document["scenario"].pop("toml", None)
    return document


def net(scenario: simulate.Scenario) -> dict[str, Any]:
    """Return the drawn net and its structure."""
    structure = scenario.structure()
    return {"svg": net_diagram.draw(structure), "structure": structure}


def _calculated(asked: Calculation) -> QuickAnswer:
    try:
        return QuickAnswer(calculate(asked.command, asked.values))
    except WrongParameter as error:
        return QuickAnswer(error=QuickError(str(error), parameter=error.name or None))


WORK: Mapping[str, Callable[[simulate.Scenario], Any]] = {"check": check, "run": run, "net": net}


def _not_toml(text: str) -> QuickError | None:
    """Return the error of a text that is not TOML.

    The check of its files cannot read it, so it is not loaded either.
    """
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, at, position = str(error).partition(" (at ")
        line, column = 1, 1
        if match := re.fullmatch(r"line (\d+), column (\d+)\)", position):
            line, column = int(match[1]), int(match[2])
        elif at:
            line = text.count("\n") + 1
        lines = text.split("\n")
        wrong = lines[min(line, len(lines)) - 1]
        return QuickError(f"not valid TOML: {message}", line, column, wrong)
    except RecursionError:
        return QuickError("not valid TOML: its tables are nested too deeply")
    return None


def _failed(
    message: str, line: int | None = None, column: int | None = None, text: str = ""
) -> QuickAnswer:
    return QuickAnswer(error=QuickError(message, line, column, text))


def _warm_up() -> None:
    """Load what the first request would load."""
    with contextlib.suppress(Exception):
        run(simulate.load('name = "first"\n[clients]\ncount = 1\n'))
    return


if __name__ == "__main__":
    _warm_up()
    sys.exit(main())
