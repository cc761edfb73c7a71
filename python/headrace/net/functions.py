"""Python functions as guards, actions and service times of nets."""

import dataclasses
import inspect
import traceback
from collections.abc import Callable, Collection
from enum import Enum
from typing import Any

from headrace._core import FunctionFailure, RunError

RANDOM = "random"
"""The parameter that gets a random generator."""


@dataclasses.dataclass(frozen=True)
class NetFunction:
    """A use of a function in a net."""

    name: str
    """Its name in expressions."""
    function: Callable[..., Any]
    colour: str
    """Name of its result's colour."""
    ignored: bool
    """True if its result is ignored."""
    generator_at: int | None
    """Position of the random generator among the arguments."""
    path: str
    """Its transition or station."""
    role: str
    """Guard, let, action or service time."""

    @property
    def label(self) -> str:
        """Its own name, as drawings show it."""
        return f"{label(self.function)}()"

    def __str__(self) -> str:
        return f"{self.role} {self.label} of {self.path}"


def label(function: Callable[..., Any]) -> str:
    """Return the name of a function."""
    return str(getattr(function, "__name__", None) or type(function).__name__)


def is_function(value: Any) -> bool:
    """Return true for what a net can call: a function, not an expression or a type."""
    return callable(value) and not isinstance(value, type)


def arguments(
    function: Callable[..., Any], path: str, known: Collection[str], generator: str | None = None
) -> tuple[list[str], int | None]:
    """Return the arguments of a function by the names of its parameters.

    Parameters:
        path: What calls it, for errors.
        known: Names that it may ask for.
        generator: Why it gets no random generator; None if it does.

    Returns:
        Expressions, and the position of the random generator among the arguments.

    Raises:
        TypeError: It has a parameter of another name, or it is not known which it has.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise TypeError(
            f"{path}: the parameters of {label(function)} are not known: wrap it in a function"
        ) from None
    given: list[str] = []
    generator_at = None
    for number, parameter in enumerate(parameters):
        name = parameter.name
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            break
        if parameter.kind is parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            raise TypeError(
                f"{path}: the parameter {name!r} of {label(function)}() has to be given by name:"
                " take the * before it out"
            )
        if parameter.kind is parameter.KEYWORD_ONLY:
            continue
        if name in known:
            given.append(call_text(name))
        elif name == RANDOM and generator is None:
            generator_at = number
        elif name == RANDOM:
            raise TypeError(f"{path}: {label(function)}() gets no random generator: {generator}")
        elif parameter.default is parameter.empty:
            names = ", ".join(sorted(known)) or "none"
            raise TypeError(
                f"{path}: {label(function)}() has a parameter {name!r}: expected names of tokens"
                f" ({names})" + ("" if generator is not None else f" or {RANDOM!r}")
            )
        else:
            break
    return given, generator_at


def call_text(name: str) -> str:
    """Return the expression of an argument: time and copy are functions of expressions."""
    return f"{name}()" if name in ("now", "copy") else name


def types_of(colours: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return what values of colours are in Python: members, or class, maker and fields."""
    functions: list[tuple[str, Any]] = []
    for name, colour in colours.items():
        if issubclass(colour, Enum):
            functions.append((name, list(colour)))
        else:
            fields = dataclasses.fields(colour)
            names = [field.name for field in fields]
            functions.append((name, (colour, _maker(colour, fields), names)))
    return functions


def _maker(colour: Any, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., Any]:
    """Return a function that makes a record of the values of its fields."""
    if not any(field.kw_only for field in fields):
        return colour  # type: ignore[no-any-return]
    names = [field.name for field in fields]
    return lambda *values: colour(**dict(zip(names, values, strict=True)))


def function_error(failure: FunctionFailure, functions: list[NetFunction]) -> BaseException:
    """Return the error of a run that a function ended.

    Ctrl-C, and the end of the process that a function asks for, are returned unchanged.
    """
    number, reason, error = failure.args
    if error is not None and not isinstance(error, Exception):
        return error  # type: ignore[no-any-return]
    function = functions[number]
    said = reason
    if error is not None:
        from headrace.simulate.schedulers import type_and_text

        said = f"raised {type_and_text(error)}"
    raised = RunError(f"{place(function.function, error)}{function.path}: {function.label} {said}")
    raised.__cause__ = error
    return raised


def place(function: Callable[..., Any], error: BaseException | None) -> str:
    """Return the file and line in a function that raised an error, or those of the function."""
    code = getattr(function, "__code__", None)
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    for frame in reversed(frames):
        if code is None or frame.filename == code.co_filename:
            return f"{frame.filename}:{frame.lineno}: "
    return "" if code is None else f"{code.co_filename}:{code.co_firstlineno}: "


def refusal(functions: list[NetFunction], reason: str) -> str:
    """Return why a net with functions cannot be written or explored."""
    uses = "; ".join(f"{function}" for function in functions[:3])
    more = f" and {len(functions) - 3} more" if len(functions) > 3 else ""
    return f"{reason} functions in Python: {uses}{more}. Write them as expressions"
