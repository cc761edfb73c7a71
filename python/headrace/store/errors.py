"""Errors of the store."""


class StoreError(ValueError):
    """Invalid request to the store. The message names a valid one.

    Examples:
        >>> hr.store.open().table("last", "series")
        Traceback (most recent call last):
            ...
        headrace.store.errors.StoreError: there is no "last" result: the store is empty
    """


class StoreFailure(RuntimeError):
    """A store cannot be reached, read or written.

    Examples:
        >>> hr.store.open("postgresql://localhost:1/results").names()
        Traceback (most recent call last):
            ...
        headrace.store.errors.StoreFailure: ...
    """
