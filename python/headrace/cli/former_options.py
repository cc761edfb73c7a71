"""Commands that accept former words of their options, with a note on standard error."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from typer.core import TyperArgument, TyperCommand

from headrace.cli.completion import complete
from headrace.cli.options import Time
from headrace.ranks import current

FILE, BLOCK = {"--file": "--file-size"}, {"--block": "--block-size"}
REPEATS, ROUNDS = {"--repeats": "--repetitions"}, {"--rounds": "--repetitions"}
STUDY = REPEATS | {"--time": "--time-limit"}
DATA = {"--data": "--data-directory"}
FORMER = {
    "baseline": FILE | {"--from": "--import"},
    "bench blocks": STUDY | FILE | {"--blocks": "--block-sizes"},
    "bench clients": STUDY | FILE | BLOCK,
    "bench copy": STUDY | FILE | BLOCK | {"--sizes": "--size-set"},
    "bench disk": STUDY | FILE,
    "bench meta": STUDY | FILE,
    "bench mix": REPEATS,
    "bench net ask": {"--seconds": "--time"},
    "bench quick": FILE | BLOCK | {"--sequential-block": "--sequential-block-size"},
    "bench run": REPEATS,
    "bench sweep": STUDY | {"--files": "--file-sizes", "--blocks": "--block-sizes"},
    "bench tune": {"--step": "--first-step"},
    "calibrate": ROUNDS,
    "design init": {"--catalogue": "--for-catalogue"},
    "design schema": {"--catalogue": "--for-catalogue"},
    "design solve": {"--all": "--all-values", "--budget": "--time-limit"},
    "lab bench": {"--clients": "--client-hosts"},
    "net check": {"--limit": "--max-markings", "--space": "--state-space"},
    "net run": {"--warmup": "--warm-up"},
    "optimise": {"--time": "--time-limit"},
    "profile record": {"--seconds": "--time", "--directory": "--baseline-directory"},
    "serve start": DATA | {"--directory": "--allow-directory", "--peer": "--allow-peer"},
    "serve user add": DATA,
    "serve user list": DATA,
    "serve user remove": DATA,
    "trace replay": REPEATS | {"--scale": "--time-factor"},
    "trace scale": {
        "--time": "--time-factor",
        "--size": "--size-factor",
        "--processes": "--process-copies",
    },
    "twin": ROUNDS,
    "whatif": {"--by": "--factor"},
}
"""New words by the former ones, of each command."""

METAVARS = {int: "N", float: "NUMBER", str: "TEXT", Path: "FILE"}
"""Forms of values whose options state none, in place of the names of types."""


def type_of_values(parameter: Any) -> Any:
    """Return the type of a parameter's values, or of each of several."""
    annotation = parameter.type_descriptor.annotation
    return next(iter(get_args(annotation)), annotation)


class Command(TyperCommand):
    """A command that accepts former words of its options. Its help names no types."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        for parameter in self.params:
            if parameter.metavar is not None:
                parameter._custom_shell_complete = complete
            if isinstance(parameter, TyperArgument):
                parameter.__class__ = _Argument
            elif parameter.metavar is None and hasattr(parameter, "type_descriptor"):
                parameter.metavar = METAVARS.get(type_of_values(parameter))
            if parameter.metavar == "TIME" and isinstance(parameter.default, float):
                parameter.default = Time(parameter.default)

    def make_parser(self, ctx: Any) -> Any:
        """Return the parser of the command, with the former words beside the present ones."""
        parser: Any = super().make_parser(ctx)
        words = FORMER.get(ctx.command_path.partition(" ")[2], {})
        parser._long_opt = _Words(parser._long_opt)
        for former, present in words.items():
            option = parser._long_opt[present]
            note = "" if ctx.resilient_parsing else f"headrace: {former} is now {present}"
            parser._long_opt[former] = _FormerOption(option, note)
        return parser


class _Argument(TyperArgument):
    """An argument whose help does not name its type."""

    def display_type(self, ctx: Any) -> str:
        return ""


class _Words(dict[str, object]):
    """Options by their words. Only present words are proposed for an unknown one."""

    def __iter__(self) -> Iterator[str]:
        return (word for word in super().__iter__() if not isinstance(self[word], _FormerOption))


class _FormerOption:
    """An option by its former word."""

    def __init__(self, option: Any, note: str) -> None:
        self._option, self._note = option, note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._option, name)

    def process(self, value: Any, state: Any) -> None:
        if self._note and current().first:
            print(self._note, file=sys.stderr)
        self._note = ""
        self._option.process(value, state)
