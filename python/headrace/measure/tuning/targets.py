"""Protocol mixes that are wanted."""

from collections.abc import Mapping
from pathlib import Path

from headrace.document_io import read_json, read_toml

MOST = 1e12
"""Largest weight: shares keep their digits."""

TARGETS: dict[str, dict[str, float]] = {
    # SPEC SFS 1.0 and 2.0, as SPEC publishes it.
    "sfs-nfsv2": {
        "lookup": 36,
        "getattr": 26,
        "read": 14,
        "write": 7,
        "readlink": 7,
        "readdir": 6,
        "create": 1,
        "remove": 1,
        "setattr": 1,
        "fsstat": 1,
    },
    # SPEC SFS 2.0 and 3.0; the published row sums to 99, and is put in relation to that.
    "sfs-nfsv3": {
        "lookup": 27,
        "read": 18,
        "getattr": 11,
        "write": 9,
        "readdirplus": 9,
        "readlink": 7,
        "access": 7,
        "commit": 5,
        "readdir": 2,
        "create": 1,
        "remove": 1,
        "fsstat": 1,
        "setattr": 1,
    },
    # SPEC SFS 2008.
    "sfs2008-nfs": {
        "getattr": 26,
        "lookup": 24,
        "read": 18,
        "access": 11,
        "write": 10,
        "setattr": 4,
        "readdirplus": 2,
        "readlink": 1,
        "readdir": 1,
        "create": 1,
        "remove": 1,
        "fsstat": 1,
    },
}
"""Weights by the protocol's own names of its operations, in small letters."""


def target(name_or_file: str) -> dict[str, float]:
    """The shares of a wanted mix: one that is known, or a file in TOML or JSON, a table of
    weights, as `headrace bench tune --capture` writes it.

    Raises ValueError if it is neither, OSError if the file cannot be read.
    """
    known = TARGETS.get(name_or_file)
    if known is not None:
        return shares(known, name_or_file)
    path = Path(name_or_file)
    if path.suffix not in (".toml", ".json"):
        names = ", ".join(f'"{name}"' for name in TARGETS)
        raise ValueError(f"{name_or_file}: expected {names}, or a file of weights (.toml, .json)")
    read = read_json if path.suffix == ".json" else read_toml
    weights = read(path, "a table of weights")
    if not isinstance(weights, dict):
        raise ValueError(f"{path}: expected a table of weights")
    return shares(weights, str(path))


def shares(weights: Mapping[str, object], called: str) -> dict[str, float]:
    """Weights as shares that sum to 1.

    Raises ValueError if they are not numbers of 0 or more, or all are 0.
    """
    numbers: dict[str, float] = {}
    for name, weight in weights.items():
        if (
            isinstance(weight, bool)
            or not isinstance(weight, int | float)
            or not 0 <= weight < MOST
        ):
            raise ValueError(
                f"{called}: {name} = {str(weight)[:40]}: expected a weight of 0 or more, below"
                f" {MOST:g}"
            )
        numbers[name.lower()] = float(weight)
    total = sum(numbers.values())
    if not 0 < total < float("inf"):
        raise ValueError(f"{called}: expected at least one weight of more than 0")
    return {name: weight / total for name, weight in numbers.items()}
