"""Tables of options, and their reader."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from headrace.document_io import read_text

Fields: TypeAlias = dict[str, Any]
"""Fields of a scenario by their paths, or values of options by their names."""


def size_text(number: int) -> str:
    """Return bytes as a scenario has them, such as "16 MiB"."""
    power = next((at for at in (4, 3, 2, 1) if number and number % 1024**at == 0), 0)
    return f"{number // 1024**power} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


FORMS: Mapping[str, Callable[[int], str]] = {
    "SIZE": size_text,
    "SECONDS": "{} s".format,
    "MICROSECONDS": "{} us".format,
}
"""How a scenario has numbers, by the argument of the option."""
NUMBERS = {"N", "MINUTES", *FORMS}
POWERS = "kmgtp"
"""Suffixes of powers of 1024 (IOR, option.c: string_to_bytes)."""
BOOLEANS = {"TRUE": True, "1": True, "FALSE": False, "0": False}
BLOCKS = {"": 1, "c": 1, "w": 2, "b": 512}
"""Suffixes of dd besides, and their bytes."""


class Option(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An option of a program. The head of ior.toml describes the fields."""

    meaning: str
    name: str = ""
    aliases: tuple[str, ...] = ()
    argument: str = ""
    field: str = ""
    sets: Fields = {}
    measured: str = ""
    simulated: str = ""
    note: str = ""
    no_effect: str = ""
    refused: str = ""
    neutral: tuple[str, ...] = ()


class Phases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Phases of a workload of IO500; without its name, of all."""

    workload: str
    phases: tuple[str, ...]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The options of a program, by their words."""

    options: dict[str, Option]
    interfaces: dict[str, Option] = {}
    absent: tuple[str, ...] = ()
    phases: dict[str, Phases] = {}

    def words(self) -> Iterator[tuple[str, Option]]:
        """Yield all words of a command line, directive or file with their options."""
        for word, option in self.options.items():
            for name in (option.name, *option.aliases):
                yield name.lower(), option
                yield f"--{name}", option
            yield word, option


@cache
def table(program: str) -> Table:
    """Return the table of a program."""
    text = files("headrace").joinpath("command_lines", f"{program}.toml").read_text("utf-8")
    known = msgspec.toml.decode(text, type=Table)
    for word, option in known.options.items():
        known.options[word] = msgspec.structs.replace(option, name=option.name or word)
    if program != "mdtest":
        return known
    ior = table("ior")
    modules = {word: option for word, option in ior.options.items() if "." in option.name}
    return Table(known.options | modules, ior.interfaces)


@cache
def _by_word(program: str) -> dict[str, Option]:
    return dict(table(program).words())


def number(where: str, text: str, *, is_dd: bool = False) -> int:
    """Return a number such as 16, 47008 or 1m, or of dd such as 1MB or 2x4k. Raises ValueError."""
    product = 1
    for factor in text.split("x") if is_dd else [text]:
        parts = re.fullmatch(r"\s*(-?\d+)\s*(?:([kmgtp])(i?b)?|([bcw])?)\s*", factor, re.IGNORECASE)
        if parts is None:
            raise ValueError(f'{where} "{text}": expected a whole number such as 16, 4k or 2m')
        base = 1000 if is_dd and parts[3] == "B" else 1024
        power = base ** (1 + POWERS.index(parts[2].lower())) if parts[2] else 1
        product *= int(parts[1]) * power * (BLOCKS[parts[4] or ""] if is_dd else 1)
    return product


@dataclass
class Given:
    """Values of options, and the fields of a scenario that they set."""

    values: Fields = field(default_factory=dict)
    fields: Fields = field(default_factory=dict)

    def copy(self) -> "Given":
        """Return a copy with dictionaries of its own."""
        return replace(self, values={**self.values}, fields={**self.fields})


class Reader:
    """Reader of a program's options."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.given = Given()
        self.tests: list[Given] = []
        """Those of a script."""
        self.differs: list[str] = []
        self.unused: list[str] = []

    def notes(self) -> list[str]:
        """Return what differs from the program, and the options without effect."""
        unused = f"no effect: {', '.join(self.unused)}"
        return [*self.differs, *([unused] if self.unused else [])]

    def read(self, words: Sequence[str]) -> None:
        """Read a command line. Raises ValueError for words that are no options."""
        remaining = list(words)
        while remaining:
            word = remaining.pop(0)
            if word.startswith("--"):
                name, equals, value = word.partition("=")
                option = self._option(name, name)
                text = value if equals else None
                if option.argument and text is None:
                    text = self._next(name, remaining)
                self.take(name, option, text)
            elif word.startswith("-") and len(word) > 1:
                self._letters(word[1:], remaining)
            else:
                raise ValueError(f"{self.program} {word}: expected an option; DIR comes first")

    def _letters(self, letters: str, remaining: list[str]) -> None:
        """Read flags, and an option whose value is the rest or the next word."""
        while letters:
            word, letters = f"-{letters[0]}", letters[1:]
            option = self._option(word, word)
            text = None
            if option.argument:
                text = letters.removeprefix("=") or self._next(word, remaining)
                letters = ""
            elif letters.startswith("="):
                text, letters = letters[1:], ""
            self.take(word, option, text)

    def _next(self, word: str, remaining: list[str]) -> str:
        if not remaining:
            raise ValueError(f"{self.program} {word}: expected a value")
        return remaining.pop(0)

    def operands(self, words: Sequence[str]) -> None:
        """Read the operands of dd. Raises ValueError for other words."""
        for word in words:
            key, equals, value = word.partition("=")
            if not equals:
                raise ValueError(f"{self.program} {word}: expected NAME=VALUE; DIR comes first")
            if key not in ("iflag", "oflag", "conv"):
                self.take(f"{key}=", self._option(key, word), value)
                continue
            for flag in value.split(","):
                self.take(f"{key}={flag}", self._option(f"{key}={flag}", f"{key}={flag}"), None)

    def _option(self, word: str, shown: str) -> Option:
        option = _by_word(self.program).get(word)
        if option is None:
            raise ValueError(
                f"{self.program} {shown}: no such option (see headrace bench {self.program} --help)"
            )
        return option

    def directives(self, text: str, where: str) -> None:
        """Read options as NAME=VALUE, with commas between them. Raises ValueError."""
        for one in text.partition("#")[0].split(","):
            name, equals, value = (part.strip() for part in one.partition("="))
            if not equals or not value:
                raise ValueError(f'{where} "{one.strip()}": expected NAME=VALUE')
            shown = f"{where} {name}"
            self.take(shown, self._option(name.removeprefix("--").lower(), shown), value)

    def entry(self, word: str, key: str, text: str) -> None:
        """Read a key of a configuration file. Raises ValueError."""
        option = self._option(key.lower(), word)
        if option.argument == "BOOL" and text.upper() not in BOOLEANS:
            raise ValueError(f"{word} = {text}: expected TRUE or FALSE")
        self.take(word, option, text.upper() if option.argument == "BOOL" else text)

    def take(self, word: str, option: Option, text: str | None) -> None:
        """Take an option, with the text of its value. Raises ValueError."""
        where = f"{self.program} {word}"
        name, given = option.name, self.given
        is_off = not option.argument and text is not None and number(where, text) == 0
        if is_off or text in option.neutral:
            for path in (option.field, *option.sets):
                given.fields.pop(path, None)
            given.values.pop(name, None)
            return
        if option.refused:
            raise ValueError(f"{where}: {option.refused}")
        value: Any = text
        if option.argument in NUMBERS and not option.no_effect:
            value = number(where, text or "", is_dd=self.program == "dd")
        elif option.argument == "BOOL":
            value = BOOLEANS[str(text)]
        elif not option.argument:
            value = given.values.get(name, 0) + 1 if text is None else number(where, text)
        self._note(word, option)
        if option.argument == "API":
            value = self._interface(where, str(text))
        if name == "directives":
            self.directives(str(text), "-O")
        if name == "scriptFile":
            self._script(Path(str(text)))
        given.values[name] = value
        given.fields |= option.sets
        if option.field:
            whole = value if option.argument else True
            form = FORMS.get(option.argument)
            given.fields[option.field] = form(value) if form else whole

    def _note(self, word: str, option: Option) -> None:
        if option.note and (text := f"{word}: {option.note}") not in self.differs:
            self.differs.append(text)
        if option.no_effect and word not in self.unused:
            self.unused.append(word)

    def _interface(self, where: str, text: str) -> str:
        """Take an interface, and the options behind it in files of IO500."""
        first, *options = text.split()
        known = table("mdtest" if self.program == "mdtest" else "ior").interfaces
        for name, option in known.items():
            if first.lower() in (each.lower() for each in (name, *option.aliases)):
                break
        else:
            raise ValueError(f"{where} {first}: expected one of {', '.join(known)}")
        if option.refused:
            raise ValueError(f"{where} {first}: {option.refused}")
        if name == "MPIIO" and self.program != "ior":
            self.differs.append(f"{where} {name}: calls are pread and pwrite, without MPI")
        modules = Reader("ior")
        modules.read(options)
        self.given.fields |= option.sets | modules.given.fields
        self.differs += modules.differs
        self.unused += modules.unused
        return name

    def _script(self, file: Path) -> None:
        """Read the tests of a script. Options before it are those of the first test, and each has
        those of the test before it (parse_options.c: ReadConfigScript)."""
        before, is_within, is_new = self.given, False, False
        self.given = before.copy()
        for at, raw in enumerate(read_text(file, "a script of IOR").splitlines(), 1):
            line = raw.partition("#")[0].strip()
            match " ".join(line.lower().split()):
                case "ior start":
                    is_within = is_new = True
                case "ior stop" | "ior end":
                    break
                case "run" if is_within:
                    self.tests.append(self.given.copy())
                    is_new = False
                case "" | _ if not is_within or not line:
                    continue
                case _:
                    self.directives(line, f"{file}:{at}:")
                    is_new = True
        if not is_within:
            raise ValueError(f"{file}: expected a script of IOR: the line IOR START is missing")
        if is_new:
            self.tests.append(self.given)
        self.given = before
