"""A mix of file operations that is composed in a page, and its scenario."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from headrace._core import Loaded, ScenarioError, operations, workloads

_PARTS = {
    "Data": ("read", "write", "read-write", "memory-mapping"),
    "Shared file": ("read-sharing", "write-sharing", "read-write-sharing"),
    "Files and attributes": ("file", "file-stat", "get-attribute", "set-attribute"),
    "Directories, links and locks": ("directory", "symbolic-link", "windows"),
}
"""Groups of operations (Wang 2002, section 3.3.1) by the parts of the page."""
GROUPS = {
    part: tuple(name for group in groups for name, own, _ in operations() if own == group)
    for part, groups in _PARTS.items()
}
"""Operations of mixes, as `weights` of `[[workload]]` names them."""
OF_DIRECTORIES = frozenset({"chdir", "readdir", "find-first", "find-next"})
OF_LINKS = frozenset({"readlink"})
SHARED = frozenset(GROUPS["Shared file"])
SIZES = {
    "": "those of the preset",
    "small": "small (Wang 2002, table 3.1)",
    "medium": "medium (table 3.2)",
    "large": "large (table 3.3)",
    "all": "small, medium and large, as many files of each",
}
SHARING = {
    "none": "each process by itself",
    "client": "all processes of one client at the same moment",
    "clients": "one process of each client at the same moment",
}
RATE = "workload.0.rate=100"
"""A load, as the sweep will set one: fields that grow with it need one."""
OWN = "mix.toml"
"""Name of the scenario among the inputs of a job."""


class Mix(msgspec.Struct, frozen=True):
    """A mix: a preset with changes. None leaves what the preset has."""

    preset: str
    weights: Mapping[str, float]
    """Percentages of the operations; their sum need not be 100."""
    file_sizes: str = ""
    """A key of `SIZES`."""
    files: int | None = None
    bytes_per_rate: str | None = None
    """Bytes of files for each operation a second, such as "10 MB"."""
    directories_per_rate: float | None = None
    links_per_rate: float | None = None
    append_percent: float | None = None
    locality_groups: int | None = None
    burst_percent: float | None = None
    burst_length: int | None = None
    random_from: str | None = None
    """Size from which on files are read and written at random places."""
    sharing: str = "none"
    clients: int = 1
    processes: int | None = None


def mixes() -> dict[str, str]:
    """Return the presets that are mixes, each with its description."""
    return {name: text for name, text in workloads() if _fields(name).get("weights")}


def percentages(preset: str) -> dict[str, float]:
    """Return the percentage of each operation of a preset."""
    weights: Mapping[str, float] = _fields(preset)["weights"]
    total = sum(weights.values())
    return {name: round(100 * weight / total, 3) for name, weight in weights.items()}


def scenario_text(mix: Mix) -> str:
    """Return the scenario of a mix.

    Raises:
        ValueError: if a value is none that a scenario may have. The text names the field.
    """
    weights = {name: weight for name, weight in mix.weights.items() if weight}
    if not weights:
        raise ValueError("expected a percentage of at least one operation")
    lines = ['name = "composed mix"', "[clients]", f"count = {mix.clients}"]
    if mix.processes is not None:
        lines.append(f"processes = {mix.processes}")
    lines += ["[[workload]]", f'preset = "{mix.preset}"']
    lines.append(f"weights = {_table({name: f'{weight:g}' for name, weight in weights.items()})}")
    sizes = '["small", "medium", "large"]' if mix.file_sizes == "all" else f'"{mix.file_sizes}"'
    burst = mix.burst_percent is not None and mix.burst_length is not None
    fields = {
        "file_sizes": sizes if mix.file_sizes else None,
        "files": mix.files,
        "bytes_per_rate": _quoted(mix.bytes_per_rate),
        "names": _table(_names(mix)) if _names(mix) else None,
        "append_share": None if mix.append_percent is None else mix.append_percent / 100,
        "locality": None
        if mix.locality_groups is None
        else f"{{ groups = {mix.locality_groups} }}",
        "bursts": f"{{ share = {(mix.burst_percent or 0) / 100:g}, length = {mix.burst_length} }}"
        if burst
        else None,
        "random_from": _quoted(mix.random_from),
        "sharing": f'"{mix.sharing}"' if SHARED & weights.keys() else None,
    }
    lines += [f"{name} = {field}" for name, field in fields.items() if field is not None]
    text = "\n".join([*lines, ""])
    try:
        Loaded.measured(text, Path(OWN), [RATE])
    except ScenarioError as error:
        raise ValueError(str(error)) from None
    return text


def _names(mix: Mix) -> dict[str, str]:
    used = {name for name, weight in mix.weights.items() if weight}
    per_rate = {
        "directories_per_rate": (mix.directories_per_rate, OF_DIRECTORIES),
        "symbolic_links_per_rate": (mix.links_per_rate, OF_LINKS),
    }
    return {name: f"{rate:g}" for name, (rate, needs) in per_rate.items() if rate and used & needs}


def _table(values: Mapping[str, str]) -> str:
    return "{ " + ", ".join(f"{name} = {value}" for name, value in values.items()) + " }"


def _quoted(text: str | None) -> str | None:
    """Return a text as TOML, escaped; None if there is none."""
    return None if not text else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


@cache
def _fields(preset: str) -> dict[str, Any]:
    text = f'[clients]\ncount = 1\n[[workload]]\npreset = "{preset}"\n'
    try:
        resolved = Loaded.measured(text, Path("preset.toml"), []).toml
    except ScenarioError:
        return {}
    workload: dict[str, Any] = tomllib.loads(resolved)["workload"][0]
    return workload
