"""Forms to fill in and examples to start from."""

from importlib.resources import files

from headrace import _core
from headrace.design.document_file import Kind, toml_names

_FOLDER = files("headrace.design") / "worksheets"


def form(kind: Kind) -> str:
    """Return a commented TOML form: each field with its question, unit, default and example."""
    return _core.document_form(kind)


def examples() -> tuple[str, ...]:
    """Return the names of the example worksheets."""
    return toml_names(_FOLDER)


def example(name: str) -> str:
    """Return an example worksheet.

    Raises:
        ValueError: There is no such example.
    """
    if name not in examples():
        raise ValueError(f"no example is called {name!r}: expected {', '.join(examples())}")
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
