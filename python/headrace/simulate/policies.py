"""Replacement policies of one's own: classes in Python that a scenario names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from headrace._core import Loaded, PolicyFailure, RunError
from headrace.simulate.schedulers import (
    describe,
    is_signal_exit,
    load_module,
    place_of,
    type_and_text,
)
from headrace.simulate.trust import Trust

FIELD = "servers.memory.python"

Page: TypeAlias = tuple[int, int]
"""A page of a file: the number of the file, and that of the page in it."""


class ReplacementPolicy:
    """Base class of replacement policies of one's own.

    A cache calls the methods; no simulated time passes in them. One object is made for each cache.
    """

    def __init__(self, pages: int) -> None:
        """Prepare for a cache.

        Parameters:
            pages: Number of pages that the cache has room for.
        """
        self.pages = pages

    def access(self, page: Page) -> None:
        """Note that a cached page is used. By default nothing is noted."""

    def insert(self, page: Page) -> None:
        """Note that a page is cached from now on. Must be overridden."""
        raise NotImplementedError(f"class {type(self).__name__} has no method insert(self, page)")

    def evict(self, incoming: Page) -> Page:
        """Choose a cached page that leaves, and forget it. Must be overridden.

        Parameters:
            incoming: The page that comes in next; it is not cached.
        """
        raise NotImplementedError(
            f"class {type(self).__name__} has no method evict(self, incoming)"
        )

    def remove(self, page: Page) -> None:
        """Forget a page that has left without `evict`: a failure of the server lost it. Must be
        overridden if servers fail."""
        raise NotImplementedError(f"class {type(self).__name__} has no method remove(self, page)")


def policies(loaded: Loaded, trust: Trust) -> Callable[[int, int], ReplacementPolicy] | None:
    """Return a function that makes the policies of a scenario's own class; None if it names none.

    The function gets the number of a cache and its pages.

    Raises:
        ScenarioError: if there is no such class, or its file is not trusted.
    """
    of_class = policy_class(loaded, trust)
    if of_class is None:
        return None

    def make(_: int, pages: int) -> ReplacementPolicy:
        try:
            return of_class(pages)
        except (Exception, SystemExit) as error:
            message = f"{of_class.__name__}({pages}) cannot be created: {describe(error)}"
            raise loaded.refusal(FIELD, message) from error

    return make


def policy_class(loaded: Loaded, trust: Trust) -> type[ReplacementPolicy] | None:
    """Return the class of a scenario's own policy; None if it names none. Raises ScenarioError."""
    if loaded.replacement is None:
        return None
    path, name = loaded.replacement
    file = Path(path)
    if not file.is_file():
        raise loaded.refusal(FIELD, f"there is no file {file}")
    module = load_module(loaded, file.stem, file.parent, trust, FIELD)
    found: Any = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, ReplacementPolicy):
        return found
    if found is None:
        raise loaded.refusal(FIELD, f"{file} has no class {name}")
    raise loaded.refusal(FIELD, f"{name} is no subclass of headrace.ReplacementPolicy")


def policy_error(failure: PolicyFailure, loaded: Loaded) -> BaseException:
    """Return the error of a run that a policy's method broke off.

    The error of a signal that came while the method ran is returned unchanged.
    """
    number, method, what, error = failure.args
    if isinstance(error, KeyboardInterrupt) or is_signal_exit(error):
        return error
    name = loaded.replacement[1] if loaded.replacement else "policy"
    place, said = "", what
    if error is not None:
        place, said = place_of(error), f"raised {type_and_text(error)}"
    raised = RunError(f"{place}{name}.{method} of cache {number} {said}")
    raised.__cause__ = error
    return raised
