"""`headrace papers`."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated as A

import typer

import headrace
from headrace.cli.options import trust
from headrace.commands.parameters import Help, Word
from headrace.interruption import PAPER_SCRIPT

SCRIPT = "reproduce.py"


def papers(
    name: A[
        str | None,
        Word(metavar="NAME", is_argument=True),
        Help("Name of the paper; without it, the papers are listed."),
    ] = None,
    arguments: A[
        tuple[str, ...],
        Word(metavar="ARGUMENTS", is_argument=True),
        Help("Arguments of the paper's script, such as --json or --out DIR."),
    ] = (),
) -> None:
    """Reproduce a paper's results.

    Prints published values, simulated values and errors.
    """
    folder = _folder(name)
    if folder is None:
        raise FileNotFoundError(
            2,
            "the papers are in Headrace's repository, not in the installed package: "
            "run this inside a clone of the repository",
            "papers",
        )
    known = sorted(script.parent.name for script in folder.glob(f"*/{SCRIPT}"))
    if name is None:
        print("\n".join(known))
        return
    if name not in known:
        raise ValueError(f"there is no paper {name!r} in {folder}: expected {' or '.join(known)}")
    script = str(folder / name / SCRIPT)
    if not Path(headrace.__file__).resolve().is_relative_to(folder.resolve().parent):
        _require_trust(Path(script))
    command = [sys.executable, "-P", "-m", PAPER_SCRIPT, script, *arguments]
    # Python may have set LC_CTYPE here, so the script could not find out the user's locale.
    environment = os.environ | {"PYTHONIOENCODING": sys.stdout.encoding}
    with subprocess.Popen(command, env=environment) as process:
        try:
            status = process.wait()
        except BaseException as error:
            # Ctrl-C reaches it as well: let it clean up.
            if not isinstance(error, KeyboardInterrupt):
                process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            raise
    raise typer.Exit(status if status >= 0 else 128 - status)


def _require_trust(script: Path) -> None:
    """Ask about a script that is not of this source's repository. Raises ValueError."""
    from headrace.simulate.trust import UntrustedCode

    try:
        trust(()).require(script, script.read_bytes())
    except UntrustedCode:
        raise ValueError(
            f"{script}: this script is not from Headrace's own repository and would"
            f" be executed: read it, then set HEADRACE_TRUST={script.parents[2]}"
        ) from None


def _folder(name: str | None) -> Path | None:
    """The repository's folder of papers, around this source or the current directory: the first
    that has the paper, or the first at all."""
    here, source = Path.cwd(), Path(headrace.__file__).resolve()
    # This source's own first: whoever can write to a directory above may have put others there.
    around = (*source.parents, here, *here.parents)
    folders = [it / "papers" for it in around if any(it.glob(f"papers/*/{SCRIPT}"))]
    named = (it for it in folders if name is not None and (it / name / SCRIPT).is_file())
    return next(named, folders[0] if folders else None)
