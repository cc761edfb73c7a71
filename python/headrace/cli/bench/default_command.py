"""A group of commands that has one for arguments that begin with none of its names."""

from typing import Any

from typer.core import TyperGroup

DEFAULT = "quick"


class WithDefault(TyperGroup):
    """`bench DIR` is `bench quick DIR`, unless DIR is the name of another command: then it is
    written `./DIR`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put the default command before arguments that name none."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [DEFAULT, *args]
        return super().parse_args(ctx, args)
