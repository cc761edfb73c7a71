"""Commands of the terminal, made of the records in `headrace.commands`, and their groups."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import msgspec
import typer
from typer.core import TyperGroup

from headrace.commands.parameters import Parameter, parameters, request

T = TypeVar("T", bound=msgspec.Struct)


def command(record: type[T], run: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer with an option for each field of a record.

    `run` is called with the record, and with values of its own further parameters.
    """
    declared = parameters(record)

    def call(**values: Any) -> None:
        given = {parameter.name: values.pop(parameter.name) for parameter in declared}
        run(request(record, given), **values)

    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
    call.__doc__ = record.__doc__
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [_option(parameter) for parameter in declared]
        + [further.replace(kind=inspect.Parameter.KEYWORD_ONLY) for further in own]
    )
    return call


def _option(parameter: Parameter) -> inspect.Parameter:
    plain: Any = parameter.type
    if parameter.choices:
        plain = Literal[parameter.choices]
    is_whole = parameter.type is int
    option = typer.Option(
        f"{parameter.option}/{parameter.off}" if parameter.off else parameter.option,
        help=parameter.help,
        metavar=parameter.metavar or None,
        min=parameter.least if is_whole else None,
        max=parameter.most if is_whole else None,
    )
    if parameter.is_repeated:
        plain = list[plain]
    if not parameter.is_required and parameter.default_text is None:
        plain = plain | None
    return inspect.Parameter(
        parameter.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if parameter.is_required else parameter.default_text,
        annotation=Annotated[plain, option],
    )


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
