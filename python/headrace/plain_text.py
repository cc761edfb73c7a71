"""Names from files as they may be printed."""


def plain(name: str) -> str:
    """A text in which nothing steers a terminal: control characters are written as escapes."""
    return "".join(
        letter if letter.isprintable() or letter == "\n" else _escape(letter) for letter in name
    )


def plain_line(name: str) -> str:
    """The same in one line."""
    return plain(name).replace("\n", "\\n")


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", "backslashreplace").decode("ascii")
