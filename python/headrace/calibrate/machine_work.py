"""A workload on the system of a file."""

import json
from os import PathLike, fspath


def scenario_for_machine(machine: str | PathLike[str], work: str) -> str:
    """A scenario's text: the system of a machine's file, and what a text says of the work."""
    # JSON's escapes of a string are among TOML's.
    return f"system = {json.dumps(fspath(machine), ensure_ascii=False)}\n{work}"
