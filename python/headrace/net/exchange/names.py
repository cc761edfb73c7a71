"""Names of elements that are read from files of other tools."""

import re


class PlainNames:
    """Names of the elements of one page: letters, digits and _, each once."""

    def __init__(self, taken: "set[str] | None" = None) -> None:
        self.taken: set[str] = set(taken or ())

    def new(self, wanted: str, otherwise: str) -> str:
        """Return a name like the one that is wanted; `otherwise` if it has no letters."""
        base = re.sub(r"\W+", "_", wanted.strip()).strip("_") or otherwise
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name
