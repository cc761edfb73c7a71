"""Groups of commands with a default command."""

from typing import Any, ClassVar

from typer.core import TyperGroup


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
