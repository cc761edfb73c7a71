"""Load the workloads of a scenario for a measurement."""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from headrace._core import Loaded
from headrace.document_io import as_sets, display_name, read_saved, read_text


def load(path_or_text: str | PathLike[str], sets: Mapping[str, Any] | None = None) -> Loaded:
    """Load a scenario to be measured, from a file, a saved result, or text of several lines.

    It may say nothing of a system: only its clients, workloads and run count. `sets` puts
    values over the file's, by path: `{"clients.processes": 8}`.

    Raises ScenarioError, which says where it is wrong and what to write instead.

    Examples:
        >>> workload = hr.measure.load("scenarios/striped-read.toml", {"clients.count": 2})
        >>> workload.name, workload.seed
        ('striped read', 1)
    """
    return load_with_sets(path_or_text, as_sets(sets or {}))


def load_with_sets(path_or_text: str | PathLike[str], sets: Sequence[str]) -> Loaded:
    """Load as `load` does, with settings in the command line's form: `path=value`."""
    if isinstance(path_or_text, str) and "\n" in path_or_text:
        return Loaded.measured(path_or_text, "workload.toml", list(sets))
    path = Path(path_or_text)
    saved = read_saved(path)
    if saved is None:
        return Loaded.measured(
            read_text(path, "a scenario in TOML"), display_name(path), list(sets)
        )
    name = path.with_name(f"{Path(display_name(path)).name} (its scenario)")
    return Loaded.measured(saved["scenario"]["toml"], name, list(sets))
