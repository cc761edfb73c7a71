"""The base class of placements of one's own: where the strips of each file are."""

from collections.abc import Sequence
from typing import Any


class Placement:
    """A placement of files on targets that a scenario names as `layout.python`.

    A subclass defines `strips`. The attributes are set before `__init__` is called.

    Examples:
        >>> class EveryOther(hr.Placement):
        ...     def strips(self, file):
        ...         return range(file % 2, self.targets, 2)
        >>> placement = EveryOther()
        >>> placement.targets = 4
        >>> list(placement.strips(1))
        [1, 3]
    """

    targets: int
    """Number of targets that files may lie on: of the pool, or sets of servers with the same
    data."""
    servers: int
    """Number of data servers."""
    unit: int
    """Bytes of a strip where `strips` gives none: `layout.unit`."""
    seed: int
    """The scenario's `run.seed`."""

    def __init__(self, *_arguments: Any, **_options: Any) -> None:
        """Accept any arguments so that a subclass may pass on its own."""

    def strips(self, file: int) -> Sequence[int | tuple[int, int]]:
        """The strips of a file in order, which repeat to its end.

        Called once a file in each run, when it is first used.

        Args:
            file: Number of the file.

        Returns:
            The target of each strip, from 0 on; or the target and the bytes of each.
        """
        raise NotImplementedError(
            f"class {type(self).__name__} has no method strips(self, file), so no file would be"
            " anywhere"
        )
