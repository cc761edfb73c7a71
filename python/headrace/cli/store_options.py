"""Options of commands that save results in the store."""

import sys
from collections.abc import Callable, Sequence
from typing import Annotated as A
from typing import TypeAlias

from headrace.commands.parameters import Help, Word
from headrace.exit_codes import describe
from headrace.plain_text import plain
from headrace.store.errors import StoreError, StoreFailure

Labels: TypeAlias = A[
    tuple[str, ...],
    Word("--label", metavar="KEY=VALUE"),
    Help("Label the result in the store; can be repeated."),
]
Stored: TypeAlias = A[
    bool, Word("--store", off="--no-store"), Help("Save the result in the store.")
]


def parse_labels(texts: Sequence[str]) -> dict[str, str]:
    """Labels as `key=value`. Raises ValueError if one is not, or if a key comes twice."""
    labels: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not key or not equals:
            raise ValueError(f'--label "{text}": expected KEY=VALUE, such as --label disk=new')
        if key in labels:
            raise ValueError(f'--label "{text}": "{key}" is given twice: leave one out')
        labels[key] = value
    return labels


def check_labels(texts: Sequence[str], stored: bool) -> dict[str, str]:
    """The labels of a result. Raises ValueError if they are wrong, or without effect."""
    if texts and not stored:
        raise ValueError("--label has no effect with --no-store: leave one of them out")
    return parse_labels(texts)


def save_to_store(keep: Callable[[], str]) -> str | None:
    """Save a result in the store and return its identifier; on failure, warn and return None.

    A full or unreachable store must not lose a result.
    """
    try:
        return keep()
    except Exception as error:
        expected = isinstance(error, StoreError | StoreFailure | OSError)
        text = describe(error) if isinstance(error, OSError) else str(error)
        reason = " ".join(text.split() if expected else repr(error).split())
        print(plain(f"warning: the result is not in the store: {reason}"), file=sys.stderr)
        return None
