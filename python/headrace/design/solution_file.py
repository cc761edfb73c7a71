"""Saved solutions of a search."""

import math
import sys
from pathlib import Path

import msgspec

from headrace.design.evaluation import Evaluation, Solution
from headrace.design.figure import Figure
from headrace.fields import decode_json
from headrace.files import atomic_file
from headrace.kinds import with_kind

FILE = "solution.json"
"""Name of a solution in its directory."""
SCENARIO = "chosen.toml"
"""Name of the scenario of the chosen design."""


def encode_solution(solution: Solution) -> bytes:
    """Return a solution as JSON.

    An infinite figure, such as a mean time to a loss that never comes, becomes the largest number,
    as JSON has no other.
    """

    def group(figures: tuple[Figure, ...]) -> tuple[Figure, ...]:
        return tuple(
            figure
            if math.isfinite(figure.value)
            else msgspec.structs.replace(
                figure, value=sys.float_info.max, note=f"infinite. {figure.note}".strip()
            )
            for figure in figures
        )

    def finite(evaluation: Evaluation) -> Evaluation:
        return msgspec.structs.replace(
            evaluation,
            capacity=group(evaluation.capacity),
            reliability=group(evaluation.reliability),
            facility=group(evaluation.facility),
            cost=group(evaluation.cost),
        )

    saved = msgspec.structs.replace(
        solution,
        front=tuple(finite(evaluation) for evaluation in solution.front),
        nearest=tuple(finite(evaluation) for evaluation in solution.nearest),
    )
    return msgspec.json.format(msgspec.json.encode(with_kind("solution", saved)), indent=1)


def save_solution(solution: Solution, directory: Path) -> list[Path]:
    """Write a solution, and the scenario of the chosen design or of the nearest miss.

    Returns:
        The files.

    Raises:
        OSError: A file cannot be written.
    """
    contents = {FILE: encode_solution(solution) + b"\n"}
    shown = solution.nearest[:1] if solution.chosen is None else solution.front[solution.chosen :]
    if shown and shown[0].performance:
        # One for each group of zones with servers of their own.
        scenarios = dict.fromkeys(one.scenario for one in shown[0].performance)
        for number, text in enumerate(scenarios, 1):
            name = SCENARIO if number == 1 else SCENARIO.replace(".", f"-{number}.")
            contents[name] = text.encode()
    written = []
    for name, content in contents.items():
        with atomic_file(directory / name) as partial:
            partial.write_bytes(content)
        written.append(directory / name)
    return written


def read_solution(path: Path) -> Solution:
    """Read a saved solution.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not a solution, or its chosen design is not in its front.
    """
    try:
        solution = decode_json(path.read_bytes(), Solution)
    except ValueError as error:
        raise ValueError(
            f"{path}: expected a solution of `headrace design solve`: {error}"
        ) from None
    if solution.chosen is not None and not 0 <= solution.chosen < len(solution.front):
        raise ValueError(
            f"{path}: chosen = {solution.chosen}: expected the place of a design in `front`, below"
            f" {len(solution.front)}"
        )
    return solution
