"""Users of a server."""

import msgspec

LOCAL = "local"
"""Name of the only user where nobody logs in."""


class User(msgspec.Struct, frozen=True):
    """Someone who uses the pages or the API."""

    name: str
    operator: bool = False
    """Whether the user may cancel jobs of others and change settings."""
