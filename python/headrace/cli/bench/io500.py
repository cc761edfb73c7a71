"""`headrace bench io500`."""

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated as A

from headrace._core import Loaded, parse_bytes
from headrace.cli.bench.documents import Csv
from headrace.cli.bench.options import RepetitionsOfScenario, Space
from headrace.cli.bench.run import measure_and_print
from headrace.cli.options import AsJson, KeepFiles, PlotDirectory, ResultFile, ShowProgress
from headrace.cli.store_options import Labels, Stored
from headrace.commands.fields import BelowDirectory, Sets
from headrace.commands.parameters import Help, Word
from headrace.commands.values import span
from headrace.ranks import current

PARTS = {"ior-easy": 0.6, "ior-hard": 0.2, "mdtest-easy": 0.05, "mdtest-hard": 0.1}
"""Parts of the allowed space that the four benchmarks may fill before their stonewall."""
NAME_BYTES = 8192
"""Space that is reckoned for a file of mdtest: a block of data, and one for its name."""
MOST_FILES = 1_000_000
"""Files of a process of mdtest in IO500 (-n)."""
FIELDS = {
    "ior-easy": "block",
    "ior-hard": "segments",
    "mdtest-easy": "files",
    "mdtest-hard": "files",
}
"""The fields that give the amounts of work of a process."""


def io500(
    directory: BelowDirectory,
    processes: A[int, Help("Processes of each rank.", least=1, most=4096)] = 1,
    stonewall: A[
        float,
        span(),
        Word("--stonewall"),
        Help("Time after which a writing phase ends; IO500 asks for 300 s."),
    ] = 300.0,
    sets: Sets = (),
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    csv: Csv = None,
    plot: PlotDirectory = None,
    repeats: RepetitionsOfScenario = None,
    label: Labels = (),
    stored: Stored = True,
    keep: KeepFiles = False,
    show_progress: ShowProgress = True,
) -> int:
    """Measure the twelve phases of IO500, and its score.

    Phases, order and options are those of the application: ior-easy, ior-hard, mdtest-easy,
    mdtest-hard and find. Each writing phase ends at the stonewall; a warning says where the allowed
    space ended it. --set gives other fields, such as workload.2.segments=1000. `headrace run
    scenarios/io500.toml` simulates the same.
    """
    return measure_and_print(
        scenario(directory, processes, stonewall, sets),
        directory,
        sets=sets,
        repeats=repeats,
        as_json=as_json,
        csv=csv,
        output=output,
        plot=plot,
        label=label,
        stored=stored,
        keep=keep,
        show_progress=show_progress,
    )


def scenario(directory: Path, processes: int, stonewall: float, sets: Sequence[str] = ()) -> str:
    """Return IO500 as a scenario whose files fit into the allowed space of a directory."""
    from headrace.measure.space import allowed_below

    here = current()
    first = _text(here.size, processes, stonewall, {})
    known = tomllib.loads(Loaded.measured(first, "io500.toml", list(sets)).toml)
    number = known["clients"].get("processes", 1) * known["clients"].get("count", 1)
    # All ranks have the amounts of the first.
    allowed, names = here.broadcast((allowed_below(directory) or 0, _free_names(directory)))
    most_files = min(MOST_FILES, names // (4 * number))
    amounts: dict[str, int | str] = {}
    for workload in known["workload"]:
        preset = workload["preset"]
        room = int(PARTS[preset] * allowed / number)
        if "transfer" not in workload:
            amounts[preset] = max(1, min(most_files, room // NAME_BYTES))
            continue
        # The largest, where each rank has its own.
        sizes = workload["transfer"]
        transfer = max(map(parse_bytes, [sizes] if isinstance(sizes, str) else sizes))
        transfers = max(1, room // transfer)
        amounts[preset] = f"{transfers * transfer} B" if preset == "ior-easy" else transfers
    return _text(here.size, processes, stonewall, amounts)


def _text(ranks: int, processes: int, stonewall: float, amounts: Mapping[str, int | str]) -> str:
    """Return the scenario with amounts of work of a process; those of presets where none is."""
    example = files("headrace").joinpath("demo", "io500.toml").read_text(encoding="utf-8")
    lines = [f'name = "IO500"\n[clients]\ncount = {ranks}\nprocesses = {processes}\n']
    for workload in tomllib.loads(example)["workload"]:
        preset = workload["preset"]
        lines.append(
            f'[[workload]]\npreset = "{preset}"\nstonewall = "{stonewall} s"\n'
            f"turns = {workload['turns']}\n"
        )
        if (amount := amounts.get(preset)) is not None:
            lines.append(f"{FIELDS[preset]} = {json.dumps(amount)}\n")
    return "".join(lines)


def _free_names(directory: Path) -> int:
    """Return the files that a file system has room for; many where it does not say."""
    try:
        system = os.statvfs(directory)
    except OSError:
        return 0
    return system.f_favail if system.f_files else 1 << 40
