"""Machine models for predictions: calibrated machines, systems of scenarios, or a baseline's."""

import re
from pathlib import Path

import headrace as hr
from headrace.profile.prediction import PLACEHOLDER

LOAD = ("workload", "run", "lab")
"""Sections of a scenario that are no part of its machine."""


def machine_of(path: Path) -> str:
    """Return the machine of a file as TOML: a scenario without workloads.

    `path` is a machine file of `headrace calibrate`, or a scenario, whose workloads are left out.

    Raises ScenarioError if it is neither, OSError if it cannot be read.
    """
    path = path.resolve()
    # A missing file is an error of the system, not of a scenario.
    path.open("rb").close()
    system = f"system = {_quoted(str(path))}\n"
    try:
        hr.load(system + PLACEHOLDER)
    except hr.ScenarioError:
        return without_load(hr.load(path).toml)
    return system


def without_load(toml: str) -> str:
    """Return a complete scenario without its workloads and settings of the run."""
    lines, taken = [], True
    for line in toml.splitlines():
        if header := re.match(r"\[+([\w.]+)\]+", line):
            taken = header.group(1).split(".")[0] not in LOAD
        if taken:
            lines.append(line)
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
