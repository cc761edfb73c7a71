"""The helper process of `quick_run`: checks, draws and runs scenarios of users.

    python -m headrace.web.quick_worker MEMORY SECONDS

It reads a request per line from its standard input, and answers each with a line of JSON. It
trusts no code, and ends if a request takes longer or more memory than it may.
"""

import contextlib
import json
import os
import re
import resource
import signal
import sys
import tomllib
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from headrace import RunError, ScenarioError, TraceError, simulate
from headrace.report import net_diagram
from headrace.report.net_diagram import StructureError
from headrace.simulate.trust import Trust, UntrustedCode
from headrace.web.access.scenario_files import ScenarioFiles, is_inside, texts_of_setting
from headrace.web.jobs.job import RefusedRequest

NAME = "scenario.toml"
"""Name of a scenario's text in errors."""


class Superseded(BaseException):
    """A newer request takes the place of this one."""


class NoTrust(Trust):
    """Trusts no file, not even those on the list of the user who runs the server."""

    def require(self, file: Path, content: bytes) -> None:
        """Raise UntrustedCode."""
        digest = sha256(content).hexdigest()[:16]
        raise UntrustedCode(
            f"{file} ({digest}…) is Python code, which a quick run does not execute"
        )


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
        request = json.loads(line)
        # The server ends it at the limit; this is for a server that was killed.
        signal.setitimer(signal.ITIMER_REAL, seconds + 5.0)
        try:
            working = True
            found = answer(request)
            working = False
        except Superseded:
            working = False
            found = {"superseded": True}
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        answers.write(json.dumps({"id": request["id"], **found}) + "\n")
        answers.flush()
    return 0


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to a request: its `result`, or its `error`."""
    # Editors of Windows put a byte order mark before a text.
    text, sets = request["text"].removeprefix("\ufeff"), request.get("sets", [])
    try:
        if wrong := _not_toml(text):
            return wrong
        allowed, withheld = (
            [Path(it) for it in request[key]] for key in ("directories", "withheld")
        )
        _check_files(
            text, sets, lambda path: is_inside(path, allowed) and not is_inside(path, withheld)
        )
        scenario = simulate.load_with_sets(text if "\n" in text else f"{text}\n", sets)
        return {"result": WORK[request["work"]](scenario)}
    except ScenarioError as error:
        if Path(error.file).name != NAME:
            # Of a preset, or of a file that the scenario names.
            return _error(str(error))
        return _error(error.message, error.line, error.column, error.text)
    except (RefusedRequest, RunError, TraceError, UntrustedCode, StructureError) as error:
        return _error(str(error))
    except (MemoryError, RecursionError):
        return _error("the scenario needs more memory than a quick run may have: run it as a job")


def check(scenario: simulate.Scenario) -> dict[str, Any]:
    """Return what a scenario says, with the origin of each value."""
    return {
        "name": scenario.name,
        "toml": scenario.toml,
        "explained": scenario.explain(),
        "quantities": [
            {**it._asdict(), "given": scenario.gives(it.path)} for it in scenario.quantities
        ],
        "warnings": [message for _, message in scenario.loaded.cautions()],
    }


def run(scenario: simulate.Scenario) -> dict[str, Any]:
    """Return the document of a run, without the scenario's text."""
    document = simulate.run(scenario, progress=False, trust=NoTrust()).document
    document["scenario"].pop("toml", None)
    return document


def net(scenario: simulate.Scenario) -> dict[str, Any]:
    """Return the drawn net and its structure."""
    structure = scenario.structure()
    return {"svg": net_diagram.draw(structure), "structure": structure}


WORK = {"check": check, "run": run, "net": net}


def _not_toml(text: str) -> dict[str, Any] | None:
    """Return the error of a text that is not TOML.

    The check of its files cannot read it, so it is not loaded either.
    """
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        message, at, position = str(error).partition(" (at ")
        line, column = 1, 1
        if found := re.fullmatch(r"line (\d+), column (\d+)\)", position):
            line, column = int(found[1]), int(found[2])
        elif at:
            line = text.count("\n") + 1
        lines = text.split("\n")
        return _error(f"not valid TOML: {message}", line, column, lines[min(line, len(lines)) - 1])
    except RecursionError:
        return _error("not valid TOML: its tables are nested too deeply")
    return None


def _check_files(text: str, sets: list[str], may_read: Callable[[Path], bool]) -> None:
    """Check the files that a scenario names. The working directory is empty, so that names without
    a folder lead nowhere. Raises RefusedRequest."""
    here = Path.cwd()
    files = ScenarioFiles(may_read, lambda _: None)
    files.check_scenario(text, here)
    for it in sets:
        for value in texts_of_setting(it, "a setting"):
            files.check_text(value, here, it.partition("=")[0])


def _error(
    message: str, line: int | None = None, column: int | None = None, text: str = ""
) -> dict[str, Any]:
    return {"error": {"message": message, "line": line, "column": column, "text": text}}


def _warm_up() -> None:
    """Load what the first request would load."""
    with contextlib.suppress(Exception):
        run(simulate.load('name = "first"\n[clients]\ncount = 1\n'))
    return


if __name__ == "__main__":
    _warm_up()
    sys.exit(main())
