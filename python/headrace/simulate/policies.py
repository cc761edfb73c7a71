"""Replacement policies of one's own: classes in Python that a scenario names."""

from collections.abc import Callable
from typing import TypeAlias

from headrace._core import Loaded, PolicyFailure, SchedulerFailure
from headrace.simulate.schedulers import (
    describe,
    load_class,
    method_error,
    policy_class,
    scheduler_error,
)
from headrace.simulate.trust import Trust

Page: TypeAlias = tuple[int, int]
"""A page of a file: the number of the file, and that of the page in it."""


class ReplacementPolicy:
    """Base class of replacement policies of one's own.

    A cache calls the methods; no simulated time passes in them. One object is made for each cache.

    Examples:
        >>> class FirstIn(hr.ReplacementPolicy):
        ...     def __init__(self, pages):
        ...         self.cached = []
        ...     def insert(self, page):
        ...         self.cached.append(page)
        ...     def evict(self, incoming):
        ...         return self.cached.pop(0)
        ...     def access(self, page):
        ...         pass
        ...     def remove(self, page):
        ...         self.cached.remove(page)
        >>> policy = FirstIn(2)
        >>> policy.insert((0, 7))
        >>> policy.evict((0, 8))
        (0, 7)
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
    named = policy_class(loaded)
    if named is None:
        return None
    field = named.field
    of_class = load_class(loaded, named, ReplacementPolicy, trust)

    def make(_: int, pages: int) -> ReplacementPolicy:
        try:
            return of_class(pages)
        except (Exception, SystemExit) as error:
            message = f"{of_class.__name__}({pages}) cannot be created: {describe(error)}"
            raise loaded.refusal(field, message) from error

    return make


def own_code_error(failure: SchedulerFailure | PolicyFailure, loaded: Loaded) -> BaseException:
    """Return the error of a run that a method of a scenario's own class broke off.

    The error of a signal that came while the method ran is returned unchanged.
    """
    if isinstance(failure, SchedulerFailure):
        return scheduler_error(failure)
    number, method, value, error, place = failure.args
    name = loaded.replacement[1] if loaded.replacement else "policy"
    return method_error(f"{name}.{method} of cache {number}", value, error, place)
