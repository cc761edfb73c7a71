"""Checks for the fields of documents from other programs and versions.

`convert` reads a document as a type, and `to_document` writes one. A check takes the field's path
and its value. Checks and `convert` raise `WrongField` if a value is invalid.
"""

import functools
import operator
import re
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, TypeAlias, TypeVar

import msgspec

Check: TypeAlias = Callable[[str, Any], None]

LEAST, MOST = 1e-18, 1e18
"""Range of numbers other than 0, so that their products and quotients are finite."""

LONGEST = 40
"""Characters that an error has of a value."""
DEEPEST = 100
"""Most levels of a document. No document of Headrace has more than ten."""
TOO_DEEP = f"it is nested more than {DEEPEST} levels deep"
INTEGER = "a whole number of at most 64 bits"
TOO_LARGE = f"expected {INTEGER}, got one of over 4,300 digits"


Of = TypeVar("Of")
Seconds = Annotated[float, msgspec.Meta(ge=0.0, le=MOST)]
"""A duration in seconds."""
Count = Annotated[int, msgspec.Meta(ge=1, le=10**18)]
"""A number of things, at least one."""


class WrongField(ValueError):
    """The value of a field is invalid."""

    def __init__(self, where: str, value: Any, expected: str) -> None:
        self.where, self.value, self.expected = where, value, expected
        # Python refuses to write integers of over 4,300 digits in tens.
        text = hex(value) if isinstance(value, int) and abs(value) >> 14000 else repr(value)
        text = text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
        super().__init__(f"{where} = {text}: expected {expected}")


def is_number(value: Any) -> bool:
    """Return whether a value is a number; JSON's true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text(where: str, value: Any) -> None:
    """Any text."""
    if not isinstance(value, str):
        raise WrongField(where, value, "text")


def anything(where: str, value: Any) -> None:
    """Accept any value; the field is not read."""


def or_null(inner: Check) -> Check:
    """Accept null, or what `inner` accepts."""

    def check(where: str, value: Any) -> None:
        if value is not None:
            inner(where, value)

    return check


def each_in_list(inner: Check) -> Check:
    """A list whose members are alike."""

    def check(where: str, value: Any) -> None:
        if not isinstance(value, list):
            raise WrongField(where, value, "a list")
        for number, each in enumerate(value):
            inner(f"{where}.{number}", each)

    return check


def each_in_object(inner: Check) -> Check:
    """An object of which all values are alike."""

    def check(where: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise WrongField(where, value, "an object")
        for name, each in value.items():
            inner(f"{where}.{name}", each)

    return check


def an_object(fields: Mapping[str, Check], maybe: Mapping[str, Check] | None = None) -> Check:
    """Accept an object that has `fields`. Those in `maybe` are optional; others are ignored."""

    def check(where: str, value: Any) -> None:
        if not isinstance(value, dict):
            raise WrongField(where, value, "an object")
        for name, field in fields.items():
            if name not in value:
                raise WrongField(where, value, f"an object with {name}")
            field(f"{where}.{name}", value[name])
        for name, field in (maybe or {}).items():
            if name in value:
                field(f"{where}.{name}", value[name])

    return check


def number(where: str, value: Any) -> None:
    """A number that can be reckoned with."""
    if not is_number(value) or not (value == 0 or LEAST <= abs(value) <= MOST):
        raise WrongField(where, value, f"a number, between {LEAST:g} and {MOST:g} if it is not 0")


def amount(where: str, value: Any) -> None:
    """Accept a number that is 0 or more."""
    number(where, value)
    if value < 0:
        raise WrongField(where, value, "0 or more")


def count(where: str, value: Any) -> None:
    """Accept a positive whole number."""
    if not (isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MOST):
        raise WrongField(where, value, "a whole number, 1 or more")


def flag(where: str, value: Any) -> None:
    """Yes or no."""
    if not isinstance(value, bool):
        raise WrongField(where, value, "true or false")


def check_usable(where: str, *values: float) -> None:
    """Raise WrongField for a number whose products and quotients may not be finite."""
    for value in values:
        number(where, value)


def convert(document: Any, type_: type[Of]) -> Of:
    """Return a document from JSON as a type; fields that the type lacks are ignored.

    Raises
    ------
    WrongField
        If a field is missing or has another type. The message names it by its path.
    """
    try:
        return msgspec.convert(document, type_)
    except msgspec.ValidationError as error:
        raise _wrong_field(document, type_, error) from None


def malformation(error: Exception) -> str:
    """Return why a text is not JSON or TOML, given the error of its decoder. Limits of Python and
    msgspec are reported as those of documents."""
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if str(error).startswith(("Exceeds the limit", "Integer value out of range")):
        return TOO_LARGE
    return str(error)


def decode_json(text: bytes | str, type_: type[Of]) -> Of:
    """Return a document in JSON as a type, as `convert` does.

    Raises
    ------
    WrongField
        If a field is missing or has another type.
    ValueError
        If the text is not JSON.
    """
    try:
        return msgspec.json.decode(text, type=type_)
    except msgspec.ValidationError as error:
        try:
            document = msgspec.json.decode(text)
        except (ValueError, RecursionError) as malformed:
            # The type was wrong before the end of the text was read.
            raise ValueError(f"JSON is malformed: {malformation(malformed)}") from None
        raise _wrong_field(document, type_, error) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"JSON is malformed: {malformation(error)}") from None


def in_words(error: msgspec.ValidationError) -> str:
    """Return the message for an invalid document that is not at hand. `*` is any key of its
    mappings."""
    text, _, path = str(error).partition(" - at `$")
    keys = (name or number or "*" for name, number, _ in _PATH.findall(path.removesuffix("`")))
    where = ".".join(keys) or "the document"
    if missing := _MISSING.match(text):
        return f"{where}: expected an object with {missing[1]}"
    return f"{where}: expected {_expected(text, None)}"


@functools.cache
def partial(type_: type[Of], *, or_null: bool = False) -> type[Of]:
    """Return a subtype of a record whose fields may all be absent, here and in the records within.

    It serves documents of earlier versions, which lack later fields. An absent field has its
    default, or is `msgspec.UNSET`. A record within a record of its own type has all fields.
    Fields may also be null if `or_null`.
    """
    record: Any = type_
    spare = msgspec.UnsetType | None if or_null else msgspec.UnsetType
    return typing.cast(type[Of], _partial(record, frozenset(), spare))


@functools.cache
def _partial(type_: Any, around: frozenset[type], spare: Any) -> Any:
    """Return `partial` of a record within records of other types."""
    own = typing.get_type_hints(type_, include_extras=True)
    fields: list[Any] = []
    for field in msgspec.structs.fields(type_):
        kind = _partial_type(own[field.name], around | {type_}, spare) | spare
        given: Any = {"name": field.encode_name}
        if field.default_factory is not msgspec.NODEFAULT:
            given["default_factory"] = field.default_factory
        else:
            absent = field.default is msgspec.NODEFAULT
            given["default"] = msgspec.UNSET if absent else field.default
        fields.append((field.name, kind, msgspec.field(**given)))
    return msgspec.defstruct(
        f"Partial{type_.__name__}",
        fields,
        bases=(type_,),
        kw_only=True,
        frozen=type_.__struct_config__.frozen,
    )


def _partial_type(type_: Any, around: frozenset[type], spare: Any) -> Any:
    if isinstance(type_, type) and issubclass(type_, msgspec.Struct):
        return type_ if type_ in around else _partial(type_, around, spare)
    members = (_partial_type(member, around, spare) for member in typing.get_args(type_))
    if typing.get_origin(type_) in (list, dict, tuple):
        return typing.get_origin(type_)[tuple(members)]
    if typing.get_origin(type_) in (typing.Union, types.UnionType):
        return functools.reduce(operator.or_, members)
    return type_


def to_document(record: Any) -> Any:
    """Return a record, or a list of records, as JSON has it."""
    return msgspec.to_builtins(record, enc_hook=_plain)


def _plain(value: Any) -> Any:
    """Return a number of numpy as Python's."""
    if hasattr(value, "item"):
        return value.item()
    raise NotImplementedError(f"{type(value).__name__} in a document")


_PATH = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|(\[\.\.\.\])")
_EXPECTED = re.compile(r"Expected `([^`]*)`(?: (>=|<=|>|<) (\S+?))?(?:, got `.*`)?$")
_MISSING = re.compile(r"Object missing required field `(.*)`$")
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_CONDITIONS = {"Number out of range": "a number in the range of floating point"}
_BOUNDS = {">=": "{} or more", "<=": "{} or less", ">": "more than {}", "<": "less than {}"}


def _wrong_field(document: Any, type_: type[Any], error: msgspec.ValidationError) -> WrongField:
    keys, value = _place_of(document, type_, error)
    where = ".".join(map(str, keys))
    if isinstance(error.__cause__, WrongField):
        own = error.__cause__
        return WrongField(f"{where}.{own.where}" if where else own.where, own.value, own.expected)
    text, _, _ = str(error).partition(" - at ")
    if missing := _MISSING.match(text):
        return WrongField(where or "the document", value, f"an object with {missing[1]}")
    return WrongField(where or "the document", value, _expected(text, value))


def _expected(text: str, value: Any) -> str:
    """Return in words the condition in a message of msgspec about a value."""
    match = _EXPECTED.match(text)
    if match is None:
        return _CONDITIONS.get(text, "a known value" if text.startswith("Invalid") else text)
    expected = " or ".join(_WORDS.get(word, word) for word in match[1].split(" | "))
    if not match[2]:
        return expected
    bound = _BOUNDS[match[2]].format(f"{float(match[3]):g}")
    return bound if is_number(value) else f"{expected}, {bound}"


def _place_of(
    document: Any, type_: type[Any], error: msgspec.ValidationError
) -> tuple[list[str | int], Any]:
    """Return the keys of an invalid value, and the value. A path of msgspec has no keys of
    mappings: they are found by converting the document with one entry at a time."""
    keys: list[str | int] = []
    value = document
    _, _, path = str(error).rpartition(" - at `$")
    for name, number, _ in _PATH.findall(path.removesuffix("`")):
        if name or number:
            keys.append(name or int(number))
        else:
            keys.append(next(_damaged_entries(document, type_, keys, value), "?"))
        try:
            value = value[keys[-1]]
        except (LookupError, TypeError):
            return keys, None
    return keys, value


def _damaged_entries(
    document: Any, type_: type[Any], above: list[str | int], entries: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the keys of a mapping without whose entries the document cannot be read."""
    for key, value in entries.items():
        try:
            msgspec.convert(_with(document, above, {key: value}), type_)
        except msgspec.ValidationError:
            yield key


def _with(document: Any, keys: list[str | int], value: Any) -> Any:
    """Return a copy of a document with another value at a place."""
    if not keys:
        return value
    copied = document.copy()
    copied[keys[0]] = _with(document[keys[0]], keys[1:], value)
    return copied
