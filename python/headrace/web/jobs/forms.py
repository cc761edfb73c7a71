"""The parameters of commands, as a form shows them and a job checks them.

The command line declares each parameter once; `headrace serve` reads the declarations.
"""

from typing import Any, Literal

import msgspec

FieldKind = Literal["text", "integer", "number", "flag", "choice", "path"]


class FormField(msgspec.Struct, frozen=True):
    """A parameter of a command."""

    name: str
    """Name in a request, such as `response_limit`."""
    option: str | None
    """Option of the command line, such as `--response-limit`; None for an argument."""
    kind: FieldKind
    help: str = ""
    metavar: str = ""
    required: bool = False
    repeated: bool = False
    """Whether a request may give a list of values."""
    default: Any = None
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    negative_option: str | None = None
    """Option that turns a flag off, such as `--no-kinds`."""


class CommandForm(msgspec.Struct, frozen=True):
    """A command with its parameters."""

    command: tuple[str, ...]
    """Such as `("bench", "mix")`."""
    summary: str
    description: str
    fields: tuple[FormField, ...]

    def field(self, name: str) -> FormField | None:
        """Return the parameter of this name."""
        return next((field for field in self.fields if field.name == name), None)
