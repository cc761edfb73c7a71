"""Names of elements that are read from files of other tools."""

import re
from collections.abc import Iterable


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


ML_WORDS = words_of(
    """abstype and andalso as case datatype do else end eqtype exception fn fun functor handle if
    in include infix infixr let local nonfix of op open orelse raise rec sharing sig signature
    struct structure then type val where while with withtype"""
)
"""Reserved words of Standard ML."""


class PlainNames:
    """Names of the elements of one page: letters, digits and _, each once."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken: set[str] = set(taken)

    def new(self, preferred: str, otherwise: str) -> str:
        """Return a name like the one that is wanted; `otherwise` if it has no letters."""
        base = re.sub(r"\W+", "_", preferred.strip()).strip("_") or otherwise
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name
