"""`headrace trace replay`."""

import json
import math
from pathlib import Path
from typing import Annotated as A

from headrace import _core
from headrace.cli.bench.options import RepetitionsOfScenario, Space
from headrace.cli.bench.run import measure_and_print
from headrace.cli.options import AsJson, ResultFile, ShowProgress
from headrace.cli.store_options import Labels, Stored
from headrace.commands.fields import BelowDirectory
from headrace.commands.parameters import Help, Word
from headrace.commands.values import parsed


def replay(
    trace: A[Path, Word(metavar="TRACE", is_argument=True), Help("The trace to replay; a file.")],
    directory: BelowDirectory,
    timed: A[bool, Help("Make each call at its recorded time, not when it can be.")] = False,
    scale: A[
        float,
        Word("--time-factor", metavar="FACTOR"),
        Help("With --timed: factor on the recorded times.", least=0),
    ] = 1.0,
    onto: A[
        str | None,
        Word(metavar="SIZE"),
        Help("Map offsets onto this many bytes of each file, such as 10GiB, by remainder."),
    ] = None,
    repeats: RepetitionsOfScenario = None,
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    label: Labels = (),
    stored: Stored = True,
    show_progress: ShowProgress = True,
) -> int:
    """Replay a trace for real in a new directory of DIR.

    The directory is removed at the end. It is the same as headrace bench run of a workload of kind
    trace, and the result is that of a benchmark.
    """
    if not math.isfinite(scale):
        raise ValueError(
            f"--time-factor {scale}: expected a finite factor on the times, such as 0.5"
        )
    if scale != 1.0 and not timed:
        raise ValueError(f"--time-factor {scale}: expected --timed with it")
    if str(trace) == "-" or (trace.exists() and not trace.is_file()):
        raise ValueError(f"{trace}: a replay reads its trace more than once: expected a file")
    space_line = ""
    if onto is not None:
        size = parsed("--onto", onto, _core.parse_bytes)
        space_line = f'space = "{size} B"\n'
    trace.open("rb").close()
    scenario = {
        "name": f"replay of {trace.name}",
        "file": str(trace.resolve()),
        "replay": "timed" if timed else "closed",
    }
    # JSON's quotes and escapes are TOML's.
    name, file, mode = (json.dumps(it, ensure_ascii=False) for it in scenario.values())
    text = f"""name = {name}
[[workload]]
kind = "trace"
file = {file}
replay = {mode}
scale = {float(scale)!r}
{space_line}"""
    return measure_and_print(
        text,
        directory,
        repeats=repeats,
        as_json=as_json,
        output=output,
        label=label,
        stored=stored,
        show_progress=show_progress,
    )
