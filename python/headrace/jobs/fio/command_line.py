"""fio's command line: options as `--name=x --rw=read`, with one dash or two, and job files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headrace.jobs.fio.table import table
from headrace.jobs.fio.text import Given, Text, read_text

FORMATS = ("normal", "terse", "json", "json+")
SHORT = {"o": "output"}


@dataclass
class CommandLine:
    """A command line of fio's."""

    text: Text
    source: str = ""
    """The options as a job file."""
    paths: list[str] = field(default_factory=list)
    """Words that are neither options nor job files."""
    output: Path | None = None
    json: bool = False
    """True for fio's JSON instead of tables."""


def read_command(words: Sequence[str], environment: Mapping[str, str]) -> CommandLine:
    """Read a command line without the word `fio`. Raises ValueError, which names the option, or
    OSError for a job file that cannot be read."""
    command = CommandLine(Text(environment))
    text, own = command.text, table().command
    into: dict[str, Given] = text.common
    sections: list[str] = []
    lines: list[str] = []
    rest = iter(words)
    for word in rest:
        if not word.startswith("-") or word == "-":
            path = Path(word)
            if path.suffix in (".fio", ".job", ".ini") or (path.is_file() and "=" not in word):
                source = read_text(path)
                lines.append(source)
                text.read(source, path)
                into = dict(text.common)
            else:
                command.paths.append(word)
            continue
        key, equals, value = word.lstrip("-").partition("=")
        key = SHORT.get(key, key)
        given = value if equals else _next(key, rest, word)
        place = word.split("=")[0]
        match key:
            case "name":
                if not given:
                    raise ValueError(f"{place}: expected --name=a name")
                text.begin(given, f"--name={given}")
                into = text.sections[-1].options
                lines.append(f"[{given}]")
            case "output":
                command.output = Path(given or "")
            case "output-format":
                formats = (given or "").split(",")
                if any(each not in FORMATS for each in formats):
                    raise ValueError(f"{word}: expected one of {', '.join(FORMATS)}")
                command.json = any(each.startswith("json") for each in formats)
            case "section":
                sections.append(given or "")
            case "client" | "server" | "remote-config":
                raise ValueError(f"{place}: take mpirun or headrace bench run on several hosts")
            case "parse-only" | "showcmd":
                raise ValueError(f"{place}: see the notes of a run with --time 1")
            case _ if key in own:
                note = f"{place}: no effect here: {own[key]}"
                text.notes += [] if note in text.notes else [note]
            case _:
                if not text.sections and not lines:
                    lines.append("[global]")
                text.add(into, key.replace("-", "_"), given, place)
                lines.append(key if given is None else f"{key}={given}")
    if sections:
        text.sections = [section for section in text.sections if section.name in sections]
    command.source = "\n".join(lines) + "\n"
    return command


def _next(key: str, rest: Iterator[str], word: str) -> str | None:
    """The value of an option that is written as a word of its own."""
    known = table()
    if key in known.command:
        takes = key in ("output", "output-format", "section", "name", "status-interval")
        return next(rest, None) if takes else None
    name = known.names.get(key.replace("-", "_"))
    kind = known.done[name].value if name is not None else ""
    if kind in ("flag", "optional_text", "") or (kind == "switch" and key != "direct"):
        return None
    value = next(rest, None)
    if value is None:
        raise ValueError(f"{word}: expected {word}=VALUE")
    return value
