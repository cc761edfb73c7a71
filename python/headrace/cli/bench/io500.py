"""`headrace bench io500`."""

import os
import sys
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
from headrace.command_lines import table
from headrace.command_lines.io500_file import Config, read_config
from headrace.commands.fields import Sets
from headrace.commands.parameters import Help, Word
from headrace.commands.values import DIRECTORY, span
from headrace.document_io import toml_value
from headrace.plain_text import plain_line
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
    directory: A[
        Path | None,
        DIRECTORY,
        Word(metavar="DIR", is_argument=True),
        Help("Directory on the file system to measure; by default datadir of --config."),
    ] = None,
    config: A[Path | None, Help("Configuration file of IO500, such as io500.ini.")] = None,
    processes: A[int, Help("Processes of each rank.", least=1, most=4096)] = 1,
    stonewall: A[
        float | None,
        span(),
        Word("--stonewall"),
        Help("Time after which a writing phase ends; by default 300 s, which IO500 asks for."),
    ] = None,
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
    given = Config() if config is None else read_config(config)
    if current().first:
        for note in given.notes:
            print(plain_line(f"note: {config}: {note}"), file=sys.stderr)
    directory = directory or given.place()
    if stonewall is None:
        stonewall = given.stonewall or 300.0
    return measure_and_print(
        scenario(directory, processes, stonewall, sets, given),
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


def scenario(
    directory: Path,
    processes: int,
    stonewall: float,
    sets: Sequence[str] = (),
    config: Config | None = None,
) -> str:
    """Return IO500 as a scenario whose files fit into the allowed space of a directory. No amount
    is larger than that of a configuration file."""
    from headrace.measure.space import allowed_below

    here, config = current(), config or Config()
    first = _text(here.size, processes, stonewall, {}, config)
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
            limit = min(most_files, room // NAME_BYTES)
            amounts[preset] = max(1, min(config.amounts.get(preset, limit), limit))
            continue
        # The largest, where each rank has its own.
        sizes = workload["transfer"]
        transfer = max(map(parse_bytes, [sizes] if isinstance(sizes, str) else sizes))
        unit = transfer if preset == "ior-easy" else 1
        transfers = min(room // transfer, config.amounts.get(preset, room) // unit)
        transfers = max(1, transfers)
        amounts[preset] = f"{transfers * transfer} B" if preset == "ior-easy" else transfers
    return _text(here.size, processes, stonewall, amounts, config)


def _text(
    ranks: int,
    processes: int,
    stonewall: float,
    amounts: Mapping[str, int | str],
    config: Config,
) -> str:
    """Return the scenario with amounts of work of a process; those of presets where none is."""
    example = files("headrace").joinpath("demo", "io500.toml").read_text(encoding="utf-8")
    lines = [f'name = "IO500"\n[clients]\ncount = {ranks}\nprocesses = {processes}\n']
    for workload in tomllib.loads(example)["workload"]:
        preset = workload["preset"]
        phases = config.phases(preset)
        every = zip(table("io500").phases[preset].phases, workload["turns"], strict=True)
        turns = [turn for phase, turn in every if phase in phases]
        if not phases:
            continue
        fields = {"preset": preset, "phases": phases, "turns": turns}
        fields |= config.fields.get(preset, {})
        if {"write", "create"} & {*phases}:
            fields["stonewall"] = f"{stonewall} s"
        if (amount := amounts.get(preset)) is not None:
            fields[FIELDS[preset]] = amount
        lines.append("[[workload]]\n")
        lines += [f"{path} = {toml_value(value)}\n" for path, value in fields.items()]
    return "".join(lines)


def _free_names(directory: Path) -> int:
    """Return the files that a file system has room for; many where it does not say."""
    try:
        system = os.statvfs(directory)
    except OSError:
        return 0
    return system.f_favail if system.f_files else 1 << 40
