"""Steps of a testbed's setup that have to be undone, one module each.

Processes, links, mounts and queue settings are missing here, because they end with their namespaces
and devices. To add a step, write a module like `folder.py` and add it to `ALL`.
"""

import dataclasses

import msgspec

from headrace.lab.state import Lab
from headrace.lab.steps.controllers import Controllers
from headrace.lab.steps.folder import Folder
from headrace.lab.steps.group import Group
from headrace.lab.steps.limit import Limit
from headrace.lab.steps.loop_device import LoopDevice, free_number
from headrace.lab.steps.namespaces import Namespaces
from headrace.lab.steps.step import Step

ALL: dict[str, type[Step]] = {
    "controllers": Controllers,
    "folder": Folder,
    "group": Group,
    "limit": Limit,
    "loop-device": LoopDevice,
    "namespaces": Namespaces,
}

__all__ = [
    "Controllers",
    "Folder",
    "Group",
    "Limit",
    "LoopDevice",
    "Namespaces",
    "Step",
    "free_number",
]

KINDS = {kind: name for name, kind in ALL.items()}


def perform(lab: Lab, step: Step) -> None:
    """Write a step to the journal and do it.

    An object that exists already fails `check` and is not journaled, so it is never removed.

    Raises
    ------
    RunError, OSError
        If the step fails.
    """
    step.check(lab)
    lab.write({"step": KINDS[type(step)], **dataclasses.asdict(step)})
    step.do(lab)


def journaled_steps(lab: Lab) -> list[Step]:
    """Return all steps that were started, in order."""
    return [_step(line) for line in lab.journal()]


class StepName(msgspec.Struct, frozen=True):
    """Name of the step in a line of the journal."""

    step: str


def _step(line: str) -> Step:
    name = msgspec.json.decode(line, type=StepName).step
    return msgspec.json.decode(line, type=ALL[name])
