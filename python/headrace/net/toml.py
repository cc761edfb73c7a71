"""Documents of nets as TOML."""

from collections.abc import Iterator, Mapping
from typing import Any

from headrace.document_io import toml_value

DEEP = ("pages",)
"""Tables whose entries are pages."""
NAMED = ("places", "stations", "transitions", "stores", "ports", "colours", "monitors")
"""Tables whose entries are tables of their own."""


def net_as_toml(document: Mapping[str, Any]) -> str:
    """Return a document as TOML, with a table for each of its elements and pages."""
    return "\n".join(_page(document, ())).strip() + "\n"


def _key(name: str) -> str:
    bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if bare else toml_value(name)


def _page(table: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[str]:
    tables = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    values = {key: value for key, value in table.items() if key not in tables}
    if path:
        yield _header(path)
    yield from _values(values)
    yield ""
    for key, value in tables.items():
        if key in DEEP:
            for name, page in value.items():
                yield from _page(page, (*path, key, name))
        elif key in NAMED:
            plain = {name: part for name, part in value.items() if not isinstance(part, Mapping)}
            if plain:
                yield _header((*path, key))
                yield from _values(plain)
                yield ""
            for name, entry in value.items():
                if name not in plain:
                    yield _header((*path, key, name))
                    yield from _values(entry)
                    yield ""
        else:
            yield _header((*path, key))
            yield from _values(value)
            yield ""


def _header(path: tuple[str, ...]) -> str:
    return f"[{'.'.join(map(_key, path))}]"


def _values(values: Mapping[str, Any]) -> Iterator[str]:
    for key, value in values.items():
        if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            yield f"{_key(key)} = ["
            yield from (f"  {_inline(item)}," for item in value)
            yield "]"
        else:
            yield f"{_key(key)} = {_inline(value)}"


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        entries = (f"{_key(key)} = {_inline(item)}" for key, item in value.items())
        return "{ " + ", ".join(entries) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inline, value)) + "]"
    return toml_value(value)
