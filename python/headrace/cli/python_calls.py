"""Commands of the terminal as Python functions: `hr.command.design.capacity(disks=12)`.

Names, defaults and help texts are those of the options, which the records in `headrace.commands`
declare. A word such as `--disk-capacity` is the parameter `disk_capacity`. A `Scenario` or a
dictionary stands for its file.
"""

import contextlib
import inspect
import io
import json
import keyword
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer
import typer.main

from headrace import kinds
from headrace.cli.app import Interrupted, app
from headrace.document_io import as_sets
from headrace.quantities import quantity
from headrace.render.blocks import Table
from headrace.render.html import as_html
from headrace.simulate.outcome import Document
from headrace.simulate.scenario import Scenario, load

LEFT_OUT = ("as_json", "show_progress")
"""Parameters that a call sets itself."""
EXTRA = ("ignore_unknown_options", "allow_extra_args")
"""Settings of commands that take the options of another program."""
REPLACING = (("lab", "bench"), ("lab", "exec"))
"""Commands whose program takes the place of the process; they are for the terminal only."""
_ONE_AT_A_TIME = threading.RLock()
"""Standard output is that of the whole process."""


class Answer(Document):
    """The document of a command, as `--json` prints it, in SI units. Notebooks show its tables.

    Examples:
        >>> answer = hr.command.design.capacity(disks=12, capacity="4 TB", level="raid6")
        >>> answer["kind"], answer["raw_capacity"], answer["figures"]["usable-capacity"]["formula"]
        ('design-figures', 48000000000000.0, 'capacity for files / copies')
    """

    def _repr_html_(self) -> str | None:
        kind = kinds.KINDS.get(kinds.kind_of(self))
        if kind is not None and kind.view:
            return kinds.html(kind.name, self)
        if "figures" not in self:
            return None
        rows = [
            (each["title"], quantity(each["value"], each["unit"]), each["formula"])
            for each in self["figures"].values()
        ]
        return as_html([Table.of_rows("", ("figure", "value", "formula"), rows, 1)])


class Commands:
    """Commands of the terminal as functions. A group has its commands as attributes, and runs its
    default command if it is called.

    Examples:
        >>> answer = hr.command.design.capacity(disks=12, capacity="4 TB", level="raid6")
        >>> answer["usable_capacity"]
        40000000000000.0
        >>> hr.command.net.solve("scenarios/nets/machine-repair.toml")["kind"]
        'net-solution'
    """

    def __init__(self, words: tuple[str, ...] = ()) -> None:
        self._words = words
        self.__doc__ = _command(words).help

    def __getattr__(self, name: str) -> Any:
        words = (*self._words, name.rstrip("_").replace("_", "-"))
        if name.startswith("__") or _identifier(words[-1]) not in dir(self):
            where = " ".join(("headrace", *self._words))
            raise AttributeError(
                f"{where} has no command {name!r}: expected {', '.join(dir(self))}"
            )
        return Commands(words) if hasattr(_command(words), "commands") else _function(words)

    def __dir__(self) -> list[str]:
        names = _command(self._words).commands
        return [_identifier(name) for name in names if (*self._words, name) not in REPLACING]

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Run the default command of the group."""
        name = getattr(_command(self._words), "default", None)
        if name is None:
            raise TypeError(f"{self!r} is a group: call one of {', '.join(dir(self))}")
        return getattr(self, name)(*arguments, **options)

    def __repr__(self) -> str:
        return f"<commands of {' '.join(('headrace', *self._words))}: {', '.join(dir(self))}>"


@cache
def _command(words: tuple[str, ...]) -> Any:
    """Return a command or group of typer."""
    return _command(words[:-1]).commands[words[-1]] if words else typer.main.get_command(app)


def _name(option: Any) -> str:
    """Return the parameter of an option, or of an argument."""
    return _identifier(max(option.opts, key=len).lstrip("-"))


def _identifier(word: str) -> str:
    name = word.replace("-", "_")
    return f"{name}_" if keyword.iskeyword(name) else name


@cache
def _function(words: tuple[str, ...]) -> Callable[..., Any]:
    command = _command(words)
    taken = {_name(one): one for one in command.params if one.name not in LEFT_OUT}
    has_document = any(one.name == "as_json" for one in command.params)
    signature = _signature(taken, any(map(command.context_settings.get, EXTRA)), has_document)

    def call(*arguments: Any, **options: Any) -> Any:
        try:
            given = signature.bind(*arguments, **options)
        except TypeError as error:
            raise TypeError(f"{call.__qualname__}: {error}: {', '.join(taken)}") from None
        with TemporaryDirectory() as directory:
            places: list[str] = []
            texts: list[str] = [*words]
            for name, value in given.arguments.items():
                known = taken.get(name)
                is_option = known is not None and known.opts[0].startswith("-")
                if isinstance(value, Mapping) and not is_option:
                    value = load(value)
                if isinstance(value, Scenario):
                    file = Path(directory, f"{name}.toml")
                    file.write_text(value.toml, encoding="utf-8")
                    value = file
                texts += _option(known, value) if is_option else []
                places += [] if is_option else _texts(value)
            texts += ["--json"] if has_document else []
            # The options of another program come as they are.
            if any(text.startswith("-") for text in places) and not any(
                map(command.context_settings.get, EXTRA)
            ):
                texts.append("--")
            try:
                return _called([*texts, *places], has_document)
            except ValueError as error:
                # Messages name parameters in place of their options.
                names = {option: name for name, one in taken.items() for option in one.opts}
                parts = re.split(r"(?<![\w-])(--[a-z-]+)", str(error))
                text = "".join(names.get(part, part) for part in parts)
                error.args = (text.replace(f"{directory}/", ""),)
                raise

    call.__name__, call.__qualname__ = words[-1].replace("-", "_"), ".".join(words)
    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__doc__ = _documentation(words, command.help, taken)
    return call


def _signature(taken: Mapping[str, Any], has_extra: bool, has_document: bool) -> inspect.Signature:
    places: list[inspect.Parameter] = []
    several: list[inspect.Parameter] = []
    options: list[inspect.Parameter] = []
    for name, one in taken.items():
        annotation = getattr(getattr(one, "type_descriptor", None), "annotation", str)
        default = inspect.Parameter.empty if one.required else one.default
        if default is None:
            annotation = annotation | None
        known = partial(inspect.Parameter, name, default=default, annotation=annotation)
        if one.opts[0].startswith("-"):
            options.append(known(inspect.Parameter.KEYWORD_ONLY))
        elif one.nargs == -1:
            several = [inspect.Parameter(name, inspect.Parameter.VAR_POSITIONAL, annotation=str)]
        else:
            places.append(known(inspect.Parameter.POSITIONAL_OR_KEYWORD))
    if has_extra and not several:
        kind = inspect.Parameter.VAR_POSITIONAL
        several = [inspect.Parameter("arguments", kind, annotation=str)]
    # Options without a default are first, for completion.
    options.sort(key=lambda one: one.default is not one.empty)
    answer = Answer | str if has_document else str
    return inspect.Signature([*places, *several, *options], return_annotation=answer)


def _documentation(words: Sequence[str], text: str, taken: Mapping[str, Any]) -> str:
    lines = [
        f"    {name}: {f'{one.metavar}. ' if one.metavar else ''}{one.help or ''}"
        for name, one in taken.items()
    ]
    return "\n".join([f"{text}\n\nAs headrace {' '.join(words)}.\n\nParameters:", *lines])


def _texts(value: Any) -> list[str]:
    """Return a value as the terminal has it; several of a list."""
    if isinstance(value, Mapping):
        return as_sets(value)
    if isinstance(value, list | tuple):
        return [text for each in value for text in _texts(each)]
    # Amounts have no point: 4e12 bytes.
    return [str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)]


def _option(option: Any, value: Any) -> list[str]:
    """Return the words of an option with its value."""
    if value is None:
        return []
    if isinstance(value, bool):
        return [*(option.opts if value else option.secondary_opts)[:1]]
    return [word for text in _texts(value) for word in (max(option.opts, key=len), text)]


def _called(arguments: list[str], has_document: bool) -> Any:
    """Run a command; return its document, or the text that it prints."""
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    try:
        with _ONE_AT_A_TIME, contextlib.redirect_stdout(printed):
            status = app(arguments, prog_name="headrace", standalone_mode=False)
    except Interrupted as stop:
        raise stop.error from None
    except typer.TyperException as error:
        raise ValueError(error.format_message()) from None
    except SystemExit as end:
        status = end.code
    printed.seek(0)
    text = printed.read()
    if has_document and text.lstrip().startswith("{"):
        return Answer(json.loads(text))
    if status:
        raise RuntimeError(f"headrace {' '.join(arguments)}: status {status}: {text.strip()}")
    return text


command = Commands()
