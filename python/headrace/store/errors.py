"""What goes wrong with a store."""


class StoreError(ValueError):
    """What was asked of a store is wrong: the message says what to write instead."""


class StoreFailure(RuntimeError):
    """A store cannot be reached, read or written."""
