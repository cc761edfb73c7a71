"""Laboratories that stand only as long as something is done in them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from headrace.lab.making import down, up
from headrace.lab.planning import plan
from headrace.lab.state import Lab, name_of
from headrace.simulate.scenario import load_with_sets


@contextmanager
def stood_up(file: Path, sets: Sequence[str] = (), name: str | None = None) -> Iterator[Lab]:
    """A scenario's laboratory, as `headrace lab up FILE --set` makes it; it is taken down however
    what is done in it ends.

    Raises ScenarioError as `plan` does, otherwise as `up` and `down` do.
    """
    made = up(plan(load_with_sets(file, sets), sets), name_of(file, name))
    try:
        yield made
    finally:
        down(made)
