"""Commands of the terminal, made of the records in `headrace.commands`, and their groups."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import typer
from msgspec import NODEFAULT
from typer.core import TyperGroup

from headrace.commands.parameters import (
    Help,
    Parameter,
    Value,
    parameter,
    parameters,
    read_value,
    request,
)


def command(record: type[msgspec.Struct], run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for typer with an option for each field of a record.

    `run` is called with the record, and with values of its own further parameters.
    """
    return _bound(run, record.__doc__, record)


def with_options(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for typer with an option for each parameter that has a `Help`."""
    return _bound(run, run.__doc__)


def _bound(
    run: Callable[..., Any], doc: str | None, record: type[msgspec.Struct] | None = None
) -> Callable[..., Any]:
    further = list(inspect.signature(run, eval_str=True).parameters.values())
    fields = () if record is None else parameters(record)
    first = "" if record is None else further.pop(0).name
    declared = {one.name: _declared(one) for one in further if _has_help(one.annotation)}
    if record is None and not declared:
        return run

    def call(**values: Any) -> Any:
        if record is not None:
            given = {field.name: values.pop(field.name) for field in fields}
            values[first] = request(record, given)
        for name, own in declared.items():
            values[name] = read_value(own, values[name])
        return run(**values)

    call.__name__, call.__doc__ = run.__name__, doc
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_option(field) for field in fields]
        + [
            _option(declared[one.name])
            if one.name in declared
            else one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for one in further
        ]
    )
    return call


def _has_help(annotation: Any) -> bool:
    return any(isinstance(extra, Help) for extra in getattr(annotation, "__metadata__", ()))


def _declared(own: inspect.Parameter) -> Parameter:
    is_required = own.default is inspect.Parameter.empty
    return parameter(own.name, own.annotation, NODEFAULT if is_required else own.default)


def _option(parameter: Parameter) -> inspect.Parameter:
    plain: Any = Literal[parameter.choices] if parameter.choices else parameter.type
    value = parameter.value
    if parameter.is_repeated:
        plain = list[plain]
    if not parameter.is_required and parameter.default_text is None:
        plain = plain | None
    words = [f"{parameter.option}/{parameter.off}" if parameter.off else parameter.option]
    if parameter.short:
        words.append(parameter.short)
    has_range = parameter.has_early_range
    declared = partial(
        partial(typer.Argument, show_default=parameter.is_required)
        if parameter.is_argument
        else partial(typer.Option, *words),
        help=parameter.help,
        metavar=parameter.metavar or None,
        min=parameter.least if has_range else None,
        max=parameter.most if has_range else None,
        parser=early(value) if value is not None and value.is_early else None,
    )
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if parameter.is_required else parameter.default_text,
        annotation=Annotated[plain, declared()],
    )


def early(value: Value) -> Callable[[Any], Any]:
    """Return a parser of a value's texts, whose errors are those of wrong usage."""

    def parse(text: Any) -> Any:
        if not isinstance(text, str):
            # A default, which may be a `Time`.
            return float(text) if isinstance(text, float) else text
        try:
            return value.read("", text)
        except ValueError as error:
            raise typer.BadParameter(str(error).lstrip()) from None

    return parse


class DefaultCommandGroup(TyperGroup):
    """A group whose default command runs if the first argument names none of its commands."""

    default: ClassVar[str]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before arguments that name none."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [self.default, *args]
        return super().parse_args(ctx, args)


class StartGroup(DefaultCommandGroup):
    """A group whose default command is `start`, also without any argument."""

    default = "start"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command also where there is no argument."""
        return super().parse_args(ctx, args or [self.default])
