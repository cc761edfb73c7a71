"""Write the tables of options of IOR, mdtest, dd and files of IO500 into their reference page.

python tools/command_line_tables.py           # after a change of python/headrace/command_lines
python tools/command_line_tables.py --check   # exit status 1 if the page differs
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from generated_tables import table, update

from headrace.command_lines import Option
from headrace.command_lines import table as options_of

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "ior-mdtest.md"
COLUMNS = ("option", "meaning", "in a measurement", "in a simulation")
SAME = "same"


def effects(option: Option) -> tuple[str, str]:
    """Return the effect of an option in a measurement, and in a simulation."""
    if option.refused:
        return f"refused: {option.refused}", "refused"
    if option.no_effect:
        return f"none: {option.no_effect}", "none"
    fields = [f"`{path}`" for path in (option.field, *option.sets) if path]
    described = option.measured or "; ".join(filter(None, [", ".join(fields), option.note]))
    simulated = option.simulated or (", ".join(fields) if described.startswith("none:") else SAME)
    return described, simulated


def words(word: str, option: Option, *, has_names: bool) -> str:
    """Return the words of an option: that of the command line, the directive, and former ones."""
    names = (option.name, *option.aliases) if has_names else option.aliases
    directives = [name for name in names if name not in word]
    joint = "" if word.endswith("=") else "=" if word.startswith("-O ") else " "
    shown = f"{word}{joint}{option.argument}" if option.argument else word
    return ", ".join(f"`{name}`" for name in (shown, *directives))


def rows(options: Mapping[str, Option], *, has_names: bool = True) -> Iterator[str]:
    """Yield the table of options."""
    cells = (
        (words(word, option, has_names=has_names), option.meaning, *effects(option))
        for word, option in options.items()
    )
    return table(COLUMNS, (tuple(cell.replace("|", "\\|") for cell in row) for row in cells))


def main() -> int:
    """Write the page, or compare it."""
    ior, mdtest = options_of("ior"), options_of("mdtest")

    shared = {word: option for word, option in mdtest.options.items() if "." not in option.name}
    tables = {
        "ior": rows(ior.options),
        "interfaces": rows(ior.interfaces),
        "mdtest": rows(shared, has_names=False),
        "dd": rows(options_of("dd").options),
        "io500": rows(options_of("io500").options),
    }
    return update({PAGE: tables}, "tools/command_line_tables.py")


if __name__ == "__main__":
    sys.exit(main())
