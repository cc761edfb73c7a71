"""Write the tables of fio's options from the table that the reader has.

python tools/fio_option_tables.py           # after a change of options.toml
python tools/fio_option_tables.py --check   # exit status 1 if the page differs
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from generated_tables import table, update

from headrace.jobs.fio.table import table as options
from headrace.jobs.fio.values import EXAMPLES

PAGE = Path(__file__).parents[1] / "docs/reference/fio-options.md"


def done() -> Iterator[str]:
    """Yield the table of options that have an effect."""
    rows = []
    for name, option in options().done.items():
        names = ", ".join(f"`{each}`" for each in (name, *option.aliases))
        example = option.example or EXAMPLES[option.value].split(";")[0]
        same = "as here" if not option.simulated else option.simulated
        rows.append((names, escaped(example), option.here or "as in fio", same))
    yield from table(("option", "value", "in a measurement", "in a simulation"), rows)


def without_effect() -> Iterator[str]:
    """Yield the table of options that are accepted and have no effect."""
    yield from table(("option", "why"), reasons(options().accepted))


def refused() -> Iterator[str]:
    """Yield the tables of options and engines that are not supported."""
    yield from table(("option", "instead"), reasons(options().refused))
    yield ""
    yield from table(("engine", "it needs"), reasons(options().engines))


def reasons(rows: dict[str, str]) -> list[tuple[str, str]]:
    """Return a row for each reason with all names that have it."""
    names: dict[str, list[str]] = {}
    for name, reason in rows.items():
        names.setdefault(reason, []).append(f"`{name}`")
    return [(", ".join(together), reason) for reason, together in names.items()]


def escaped(text: str) -> str:
    return text.replace("|", "\\|")


def main() -> int:
    """Write the page, or compare it."""
    tables = {"done": done(), "without-effect": without_effect(), "refused": refused()}
    return update({PAGE: tables}, "tools/fio_option_tables.py")


if __name__ == "__main__":
    sys.exit(main())
