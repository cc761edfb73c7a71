"""Parameters of a command, as the fields of its record declare them.

A field is annotated with its `Help`, and with its `Value` if it is a quantity or another text to
read.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import NODEFAULT

T = TypeVar("T", bound=msgspec.Struct)
SMALLEST, LARGEST = 1e-9, 1e12
"""Range of a number but 0: sums, products and quotients of a few stay finite."""


@dataclass(frozen=True)
class Value:
    """How the text of a parameter is read, and its default written."""

    metavar: str
    read: Callable[[str, str], Any]
    """Returns the value of a text; the first argument names the parameter in errors."""
    write: Callable[[Any], str] = str
    is_list: bool = False
    """Whether one text has all entries of a tuple."""
    is_early: bool = False
    """Whether the terminal reads the text with its syntax. Plain values are taken as they are."""


@dataclass(frozen=True)
class Word:
    """The word of a parameter, where it is not the field's name."""

    option: str = ""
    """Such as `--capacity`."""
    off: str = ""
    """Word that turns a flag off."""
    metavar: str = ""
    """Unit or form of a plain number or text."""
    is_argument: bool = False
    """Whether the terminal knows the parameter by its place, without an option."""
    short: str = ""
    """Such as `-o`."""


@dataclass(frozen=True)
class Help:
    """The purpose of a parameter, the range of a number, and an example.

    The terminal checks a range with its syntax, but not that of a fraction with an example.
    """

    text: str = ""
    least: float | None = None
    most: float | None = None
    example: object = ""


@dataclass(frozen=True)
class Form:
    """A command as a small form of a page."""

    title: str
    usual: tuple[str, ...] = ()
    """Parameters that the form shows first; the others are behind a fold."""
    example: Mapping[str, str] = field(default_factory=dict)
    """Values with which the form begins."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """Values that a page cannot change."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a command."""

    name: str
    option: str
    short: str
    off: str
    type: type
    """Type of a plain value: text, path, whole number, number, or flag."""
    value: Value | None
    help: str
    metavar: str
    least: float | None
    most: float | None
    example: str
    choices: tuple[str, ...]
    is_repeated: bool
    is_argument: bool
    default: Any
    """NODEFAULT if a value is required."""

    @property
    def is_required(self) -> bool:
        """It has no default."""
        return self.default is NODEFAULT

    @property
    def default_text(self) -> Any:
        """The default as a user writes it: a text if texts are read, else the plain value."""
        if self.is_required or self.is_repeated:
            return None
        if self.default is None or self.value is None or self.value.is_early:
            return self.default
        return self.value.write(self.default)

    @property
    def has_early_range(self) -> bool:
        """The range of the number is one of its syntax."""
        return self.type is int or not self.example


class WrongParameter(ValueError):
    """A parameter is unknown, missing or has a wrong value."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


@cache
def parameters(record: type[msgspec.Struct]) -> tuple[Parameter, ...]:
    """Return the parameters of a command in the order of its fields."""
    hints = get_type_hints(record, include_extras=True)
    return tuple(
        parameter(
            declared.name,
            hints[declared.name],
            declared.default
            if declared.default_factory is NODEFAULT
            else declared.default_factory(),
        )
        for declared in msgspec.structs.fields(record)
    )


def request(record: type[T], values: Mapping[str, Any]) -> T:
    """Return a command's record with values as a user gives them: texts, or plain ones.

    Raises:
        WrongParameter: a value is missing or wrong, or there is no such parameter.
    """
    declared = {parameter.name: parameter for parameter in parameters(record)}
    for name in values:
        if name not in declared:
            raise WrongParameter(f"there is no parameter {name}", name)
    read = {}
    for name, parameter in declared.items():
        read[name] = read_value(parameter, values.get(name))
    return record(**read)


def read_value(parameter: Parameter, value: Any) -> Any:
    """Return the value of a parameter, or its default without one. Raises WrongParameter."""
    if value is None or value == []:
        if parameter.is_required:
            raise WrongParameter(f"{parameter.option}: a value is required", parameter.name)
        return parameter.default
    try:
        return _read(parameter, value)
    except ValueError as error:
        raise WrongParameter(str(error), parameter.name) from None


def schema(record: type[msgspec.Struct]) -> Mapping[str, Any]:
    """Return the JSON Schema of the values of a command's parameters, as `request` reads them."""
    declared = parameters(record)
    return {
        "type": "object",
        "description": (record.__doc__ or "").partition("\n\n")[0],
        "properties": {parameter.name: _schema(parameter) for parameter in declared},
        "required": [parameter.name for parameter in declared if parameter.is_required],
        "additionalProperties": False,
    }


def check_number(
    option: str, value: float, least: float, example: str, most: float = LARGEST
) -> None:
    """Raise ValueError if an option's number is out of its range, or too near to 0 to compute
    with."""
    if not math.isfinite(value) or not least <= value <= most:
        such = f", such as {example}" if example else ""
        raise ValueError(f"{option} {value:g}: expected {least:g} to {most:g}{such}")
    if value and abs(value) < SMALLEST:
        raise ValueError(f"{option} {value:g}: expected 0, or at least {SMALLEST:g}")


def parameter(name: str, hint: Any, default: Any = NODEFAULT) -> Parameter:
    """Return the parameter that an annotation declares."""
    plain, *extra = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    said = next((entry for entry in extra if isinstance(entry, Help)), Help())
    value = next((entry for entry in extra if isinstance(entry, Value)), None)
    word = next((entry for entry in extra if isinstance(entry, Word)), Word())
    if get_origin(plain) in (Union, UnionType):
        plain = next(entry for entry in get_args(plain) if entry is not type(None))
    is_list = value is not None and value.is_list
    is_repeated = get_origin(plain) is tuple and not is_list
    if is_repeated:
        plain = get_args(plain)[0]
    choices = get_args(plain) if get_origin(plain) is Literal else ()
    is_text = choices or (value is not None and not value.is_early)
    words = word.metavar if word.is_argument else "--" + name.replace("_", "-")
    return Parameter(
        name=name,
        option=word.option or words,
        short=word.short,
        off=word.off,
        type=str if is_text else plain,
        value=value,
        help=said.text,
        metavar=word.metavar or (value.metavar if value is not None else ""),
        least=said.least,
        most=said.most,
        example=str(said.example),
        choices=choices,
        is_repeated=is_repeated,
        is_argument=word.is_argument,
        default=default,
    )


def _schema(parameter: Parameter) -> Mapping[str, Any]:
    names = {bool: "boolean", int: "integer", float: "number"}
    value: dict[str, object] = {"type": names.get(parameter.type, "string")}
    facts = {
        "enum": list(parameter.choices),
        "minimum": parameter.least,
        "maximum": parameter.most,
        "format": parameter.value.metavar if parameter.value is not None else None,
    }
    value |= {name: fact for name, fact in facts.items() if fact not in (None, [])}
    if parameter.is_repeated:
        value = {"type": "array", "items": value}
    if parameter.default_text is not None:
        value["default"] = parameter.default_text
    return {"description": parameter.help, **value}


def _read(parameter: Parameter, value: Any) -> Any:
    if parameter.is_repeated:
        entries = value if isinstance(value, list | tuple) else [value]
        return tuple(_read_one(parameter, entry) for entry in entries)
    return _read_one(parameter, value)


def _read_one(parameter: Parameter, value: Any) -> Any:
    option = parameter.option
    if parameter.type is bool:
        if not isinstance(value, bool):
            raise ValueError(f"{option} {value!r}: expected true or false")
        return value
    if isinstance(value, Path) and parameter.type is Path:
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{option} {value!r}: expected a text or a number")
    if parameter.value is not None:
        is_read = parameter.value.is_early and not isinstance(value, str)
        return value if is_read else parameter.value.read(option, str(value))
    if parameter.choices and value not in parameter.choices:
        raise ValueError(f"{option} {value}: expected one of {', '.join(parameter.choices)}")
    if parameter.type in (str, Path):
        return parameter.type(str(value))
    is_whole = parameter.type is int
    try:
        number = int(value) if is_whole else float(value)
    except (ValueError, OverflowError):
        kind = "a whole number" if is_whole else "a number"
        raise ValueError(f"{option} {value}: expected {kind}") from None
    if is_whole and isinstance(value, float) and not value.is_integer():
        raise ValueError(f"{option} {value}: expected a whole number")
    if parameter.has_early_range:
        least, most = parameter.least, parameter.most
        if (least is not None and number < least) or (most is not None and number > most):
            upper = "" if most is None else f" to {most:,}"
            raise ValueError(f"{option} {number}: expected {least or 0:g}{upper or ' or more'}")
    elif parameter.least is not None:
        most = LARGEST if parameter.most is None else parameter.most
        check_number(option, number, parameter.least, parameter.example, most)
    return number
