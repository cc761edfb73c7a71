"""Scenarios that replay the traces that users uploaded."""

from functools import cache
from pathlib import Path

from headrace._core import Loaded, ScenarioError, presets
from headrace.web.jobs.directory import LINKS

DEVICE = (
    "# Assumptions, of the order of a hard disk of 2010: put in your own.\n"
    'kind = "simple"\nread_rate = "60 MB/s"\nwrite_rate = "60 MB/s"\ntime_per_request = "8 ms"\n'
)
LOCAL = f"[machine.device]\n{DEVICE}"
SERVERS = f"[servers]\ncount = 4\n\n[servers.device]\n{DEVICE}"
OTHERS = (
    '\n[metadata]\ntime_per_operation = "0.3 ms"\n'
    '\n[network]\nbandwidth = "1 Gbit/s"\nlatency = "0.2 ms"\n'
)
SECTIONS = ("", LOCAL, SERVERS, SERVERS + OTHERS)
"""Sections that presets of systems leave open, the fewest first."""
NOT_SIMULATED = "measured"


@cache
def complete_systems() -> dict[str, tuple[str, str]]:
    """Return the presets of systems: a description of each, and the sections that it needs."""
    files = {}
    for name, text in presets():
        if name == NOT_SIMULATED:
            continue
        for sections in SECTIONS:
            rest = '[clients]\ncount = 1\n[[workload]]\npreset = "dd"\n'
            try:
                Loaded.from_text(f'system = "{name}"\n{sections}{rest}', Path("x.toml"), [])
            except ScenarioError:
                continue
            files[name] = (text, sections)
            break
    return files


def replay_scenario(name: str, system: str, replay: str = "closed") -> str:
    """Return a scenario of a job that replays an uploaded trace on a system.

    Parameters:
        name: Name of the upload.
        system: A preset of a system.
        replay: `closed`, `timed` or `paced`.
    """

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    return "\n".join(
        [
            f"name = {quoted(f'replay of {name}')}",
            f"system = {quoted(system)}",
            "",
            "[clients]",
            "count = 1",
            "",
            complete_systems()[system][1],
            "[[workload]]",
            'kind = "trace"',
            f"file = {quoted(f'{LINKS}/{name}')}",
            f"replay = {quoted(replay)}",
            "",
        ]
    )
