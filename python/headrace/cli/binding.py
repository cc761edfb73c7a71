"""Commands of the terminal, made of the records in `headrace.commands`, and their groups."""

import inspect
from collections.abc import Callable, Sequence
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
    first, *further = _own(run)
    return _bound(run, record.__doc__, [first.replace(annotation=record), *further])


def with_options(run: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function for typer with an option for each parameter that has a `Help`.

    A parameter that is a record has an option for each of its fields.
    """
    return _bound(run, run.__doc__, _own(run))


def _own(run: Callable[..., Any]) -> Sequence[inspect.Parameter]:
    return tuple(inspect.signature(run, eval_str=True).parameters.values())


def _bound(
    run: Callable[..., Any], doc: str | None, own: Sequence[inspect.Parameter]
) -> Callable[..., Any]:
    records: dict[str, type[msgspec.Struct]] = {}
    declared: dict[str, Parameter] = {}
    options: list[inspect.Parameter] = []
    for one in own:
        if isinstance(one.annotation, type) and issubclass(one.annotation, msgspec.Struct):
            records[one.name] = one.annotation
            options += map(_option, parameters(one.annotation))
        elif any(isinstance(extra, Help) for extra in getattr(one.annotation, "__metadata__", ())):
            default = NODEFAULT if one.default is one.empty else one.default
            declared[one.name] = parameter(one.name, one.annotation, default)
            options.append(_option(declared[one.name]))
        else:
            options.append(one.replace(kind=one.KEYWORD_ONLY))
    if not records and not declared:
        return run

    def call(**values: Any) -> Any:
        for name, record in records.items():
            given = {field.name: values.pop(field.name) for field in parameters(record)}
            values[name] = request(record, given)
        for name, known in declared.items():
            values[name] = read_value(known, values[name])
        return run(**values)

    call.__name__, call.__doc__ = run.__name__, doc
    call.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    return call


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
    declare = partial(
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
        annotation=Annotated[plain, declare()],
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
