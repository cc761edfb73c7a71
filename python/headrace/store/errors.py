"""Errors of the store."""


class StoreError(ValueError):
    """Invalid request to the store. The message names a valid one."""


class StoreFailure(RuntimeError):
    """A store cannot be reached, read or written."""
