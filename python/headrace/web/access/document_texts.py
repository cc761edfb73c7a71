"""A process that reads a document which a user sent, and prints the texts in it as JSON.

The time to read TOML grows with the square of a key's length. So a process of its own reads it,
with limits. It imports nothing else of Headrace.
"""

import json
import resource
import sys
import tomllib
from typing import Any

CPU_S = 5
MEMORY = 1 << 30
PROSE = frozenset({"name", "description"})
"""Fields at the top of a document whose text names nothing."""


def parsed(content: bytes) -> dict[str, Any]:
    """Return a document in TOML, or the scenario of a saved result in JSON.

    Raises ValueError or RecursionError.
    """
    if not content.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return tomllib.loads(content.decode("utf-8-sig"))
    scenario = json.loads(content).get("scenario")
    text = scenario.get("toml") if isinstance(scenario, dict) else None
    # Nothing else of a saved result is loaded.
    return tomllib.loads(text) if isinstance(text, str) else {}


def texts(document: dict[str, Any]) -> list[str]:
    """Return all texts of a document that are values."""
    waiting = [it for key, it in document.items() if key not in PROSE or not isinstance(it, str)]
    found = []
    while waiting:
        it = waiting.pop()
        if isinstance(it, str):
            found.append(it)
        elif isinstance(it, dict):
            waiting += it.values()
        elif isinstance(it, list):
            waiting += it
    return found


def names_python(document: dict[str, Any]) -> bool:
    """Return whether a scheduler or a replacement policy of a document is one in Python."""
    waiting: list[Any] = [document]
    while waiting:
        it = waiting.pop()
        if isinstance(it, list):
            waiting += it
        elif isinstance(it, dict):
            if "python" in it or it.get("kind") == "python":
                return True
            scheduler = it.get("scheduler")
            if scheduler == "python" or (isinstance(scheduler, dict) and "class" in scheduler):
                return True
            waiting += it.values()
    return False


def main() -> None:
    """Read a document from standard input."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        document = parsed(sys.stdin.buffer.read())
        answer = {"texts": texts(document), "python": names_python(document)}
    except (ValueError, RecursionError, MemoryError) as error:
        answer = {"error": str(error)[:300] or "it takes too much memory"}
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
