"""Damaged documents, for tests of whatever reads them."""

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st


def damaged(data: st.DataObject, document: dict[str, Any], words: list[str]) -> None:
    """Damages a document in one place: a value there is another, gone, or called otherwise.
    `words` are texts to try besides those that are wrong anywhere."""
    # What is large is not more likely than what is read.
    top = data.draw(st.sampled_from(sorted(document)))
    path = (top, *data.draw(st.sampled_from(list(_paths(document[top])))))
    inner: Any = document
    for key in path[:-1]:
        inner = inner[key]
    how = data.draw(st.sampled_from(["other", "gone", "renamed"]))
    if how == "other":
        inner[path[-1]] = data.draw(_others(words))
    else:
        value = inner.pop(path[-1])
        if how == "renamed" and isinstance(inner, dict):
            inner[data.draw(st.text())] = value


def _paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where all values are, the whole first."""
    yield above
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _paths(each, (*above, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _paths(each, (*above, number))


def _others(words: list[str]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.just(10**400),
        st.sampled_from([1.9e154, 1e308, -1e30, 5e-324, 1e-200]),
        st.sampled_from(["", "x", "\x1b[31m", "[/red]", *words]),
        st.lists(st.integers() | st.none(), max_size=3),
        st.dictionaries(st.text(max_size=5), st.integers() | st.none() | st.text(), max_size=3),
    )
