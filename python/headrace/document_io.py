"""Read saved results, and write values as the command line gives them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from headrace._core import ScenarioError


def read_saved(path: Path) -> dict[str, Any] | None:
    """A saved result with its scenario; None if the file is something else, or cannot be read
    at all.

    Raises ScenarioError if it is JSON, but no saved result.
    """
    try:
        document = _read_json(path)
    except OSError:
        return None
    if document is None:
        return None
    scenario = document.get("scenario")
    if not isinstance(scenario, dict) or not isinstance(scenario.get("toml"), str):
        raise not_a_result(path, "it has no scenario.toml")
    return document


def read_document(path: Path) -> dict[str, Any]:
    """Any saved result.

    Raises ScenarioError if the file is none, OSError if it cannot be read.
    """
    document = _read_json(path)
    if document is None:
        raise not_a_result(path, "it is not a JSON object")
    return document


def _read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object; None if the file begins like none. Raises ScenarioError if it only begins
    like one, OSError if it cannot be read."""
    if path.exists() and not path.is_file() and not path.is_dir():
        # A pipe would be waited for; of a directory the system itself says what it is.
        raise not_a_result(path, "it is not a regular file")
    try:
        with path.open("rb") as file:
            # No TOML begins like this.
            if not file.read(64).lstrip().startswith(b"{"):
                return None
            file.seek(0)
            return dict(json.load(file))
    except (ValueError, RecursionError) as error:
        raise not_a_result(path, f"it looks like a result in JSON, but {error}") from None


def not_a_result(path: Path, why: str) -> ScenarioError:
    """The error for a file that is neither a scenario nor a saved result."""
    message = f"expected a scenario in TOML or a saved result: {why}"
    error = ScenarioError(f"{path}: {message}")
    error.file, error.message = str(path), message
    return error


def as_sets(sets: Mapping[str, Any]) -> list[str]:
    """Values as the command line has them."""
    return [
        f"{path}={value if isinstance(value, str) else toml_value(value)}"
        for path, value in sets.items()
    ]


def toml_value(value: Any) -> str:
    """Return a value as TOML: a text, number, truth value, list or inline table."""
    if hasattr(value, "item"):  # numpy's numbers
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        entries = (f"{json.dumps(str(key))} = {toml_value(item)}" for key, item in value.items())
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    if isinstance(value, int | float):
        return repr(value)
    # JSON leaves DEL as it is, which TOML forbids.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
