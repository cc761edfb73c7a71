"""Write the table of all options into docs/reference/options.md.

python tools/option_table.py           # after a change of an option
python tools/option_table.py --check   # exit status 1 if the page differs

A word has one form of value and one meaning. The tables below state the meaning of a word whose
help differs between commands, and the words that are exceptions.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import typer.main
from generated_tables import update

from headrace.cli.app import app

PAGE = Path(__file__).parents[1] / "docs/reference/options.md"
TOOL = "tools/option_table.py"

MEANINGS = {
    "--again": "Evaluate saved measurements once more, without measuring.",
    "--block-size": "Bytes of each request.",
    "--block-sizes": "Block sizes, with commas between them, or a range.",
    "--capacity": "Capacity of a disk.",
    "--catalogue": "Catalogue in TOML, or the name of a shipped one.",
    "--data": "Data disks of a code.",
    "--direct": "Bypass the page cache (O_DIRECT).",
    "--client-hosts": "Number of client hosts; for a load sweep several numbers.",
    "--disks": "Number of disks.",
    "--file-size": "Size of each file.",
    "--files": "Number of files.",
    "--for-catalogue": "Take the form of a catalogue, not of a worksheet.",
    "--format": "Format of the trace or file.",
    "--interval": "Time between two samples.",
    "--json": "Print one JSON document.",
    "--level": "RAID level of an array or group.",
    "--lifetime": "Law of the time to failure.",
    "--machine": "File of a calibrated machine.",
    "--missions": "Missions of a simulation.",
    "--mttf": "Mean time to failure of a disk.",
    "--name": "Name of the application, testbed or scenario.",
    "--nodes": "Number of nodes.",
    "--on": "Where runs take place, such as threads:8.",
    "--operations": "File operations, with commas between them.",
    "--output": "File or directory to write.",
    "--parity": "Redundant disks of a code.",
    "--plot": "Directory or file for plots.",
    "--port": "Port to listen on.",
    "--processes": "Number of processes; for curves several numbers.",
    "--progress": "Show the progress on a terminal.",
    "--repetitions": "Number of measurements of everything, one after the other.",
    "--report": "Write the report (HTML and PDF).",
    "--restock": "Time until a new disk replaces a used spare.",
    "--rules": "File of rules that add to or replace the shipped ones.",
    "--seed": "Seed of the random numbers.",
    "--spares": "Number of hot spares.",
    "--time": "Time measured in a run, or in each step of it.",
    "--time-factor": "Factor on recorded times.",
    "--time-limit": "Time after which nothing new begins.",
    "--timed": "Take delays or recorded times into account.",
    "--token-file": "File with the token of an agent.",
    "--trace": "Trace the kernel; needs root.",
    "--usable": "Usable capacity that is needed.",
    "--warm-up": "Time at the start that does not count.",
    "--years": "Years of operation.",
}
"""Meanings of words whose help differs between commands."""

FILTERS = "results list and compare select results by what the word sets elsewhere"
TWO_MEANINGS = {
    "--calls": FILTERS,
    "--copies": "of a file, or of each datum of a redundancy scheme",
    "--file-system": FILTERS,
    "--label": FILTERS,
    "--playback": "headrace net draw plays the file that other commands write",
    "--steps": "firings of a net, or steps of a training",
}
"""Words with several meanings, with the reason."""

TWO_FORMS = {
    "--client-hosts": "a load sweep is repeated with several numbers",
    "--level": "headrace design states choices in two ways",
    "--output": "a file or a directory, by the command",
    "--plot": "headrace design also takes a file",
    "--processes": "curves are measured at several numbers",
}
"""Words with several forms of values, with the reason."""


class Option(NamedTuple):
    """An option of a command."""

    words: str
    form: str
    help: str
    command: str


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield all commands below a group, each with its words."""
    inner = getattr(command, "commands", None)
    if not inner:
        yield " ".join(path), command
        return
    for name in inner:
        yield from commands(inner[name], (*path, name))


def options() -> dict[str, list[Option]]:
    """Return the options of all commands by their words."""
    table: dict[str, list[Option]] = defaultdict(list)
    for path, command in commands(typer.main.get_command(app)):
        for parameter in command.params:
            if parameter.param_type_name != "option" or parameter.name == "help":
                continue
            words = sorted(parameter.opts, key=len)
            shown = " / ".join([", ".join(words), *parameter.secondary_opts])
            choices = parameter.type_descriptor.choices or ()
            form = parameter.metavar or "|".join(str(getattr(it, "value", it)) for it in choices)
            table[words[-1]].append(Option(shown, form, parameter.help or "", path))
    return table


def problems(table: dict[str, list[Option]]) -> Iterator[str]:
    """Yield what is wrong: words with several forms or meanings, and needless exceptions."""
    for word, uses in table.items():
        forms, helps = {use.form for use in uses}, {use.help for use in uses}
        if (len(forms) > 1) != (word in TWO_FORMS):
            yield f"{word}: forms {', '.join(sorted(forms))}: expected one, or TWO_FORMS"
        if (len(helps) > 1) != (word in MEANINGS or word in TWO_MEANINGS):
            yield f"{word}: {' '.join(sorted(helps))}: expected one help text, or MEANINGS"
    for word in (MEANINGS.keys() | TWO_MEANINGS.keys() | TWO_FORMS.keys()) - table.keys():
        yield f"{word}: no command has this option"


def rows() -> Iterator[str]:
    """Yield the table."""
    yield "| option | meaning | commands |"
    yield "| --- | --- | --- |"
    for word, uses in sorted(options().items()):
        by_meaning: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for use in uses:
            meaning = MEANINGS.get(word, use.help)
            form = use.form if word in TWO_MEANINGS else "|".join(dict.fromkeys(_forms(uses)))
            words = use.words if word in TWO_MEANINGS else max((it.words for it in uses), key=len)
            by_meaning[words, form, meaning].append(use.command)
        for (words, form, meaning), names in by_meaning.items():
            cells = f"`{words} {form}`".replace(" `", "`"), _escaped(meaning), _names(names)
            yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _names(names: list[str]) -> str:
    """Return commands in words: the name of a group stands for all of its commands."""
    everything = [path for path, _ in commands(typer.main.get_command(app))]
    shown = []
    for group in dict.fromkeys(name.split()[0] for name in names):
        known = [name for name in everything if name.split()[0] == group]
        used = [name for name in names if name.split()[0] == group]
        shown += [f"all of {group}"] if known == used and len(known) > 1 else used
    return ", ".join(shown)


def _forms(uses: list[Option]) -> list[str]:
    return [use.form for use in uses if use.form]


def _escaped(text: str) -> str:
    return text.replace("*", "\\*").replace("[", "\\[").replace("<", "\\<")


def main() -> int:
    """Write the page, or compare it."""
    table = options()
    for problem in problems(table):
        print(problem)
    return update({PAGE: {"options": rows()}}, TOOL) or int(any(problems(table)))


if __name__ == "__main__":
    sys.exit(main())
