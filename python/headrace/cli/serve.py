"""`headrace serve`."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin

import typer

if TYPE_CHECKING:
    from headrace.web.jobs import CommandForm, FormField
    from headrace.web.jobs.forms import FieldKind


def serve(
    context: typer.Context,
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="Directory for jobs, uploads and users."),
    ] = None,
    address: Annotated[
        str, typer.Option("--address", metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on.")
    ] = 8180,
    directory: Annotated[
        list[Path] | None,
        typer.Option(
            "--directory",
            metavar="DIR",
            help="Directory that benchmarks may write below; can be repeated.",
        ),
    ] = None,
) -> None:
    """Serve the pages of Headrace and its JSON API.

    The loopback address needs no login.
    """
    import os

    import platformdirs

    check_extra()

    from headrace.web.server import serve as run
    from headrace.web.settings import Settings

    settings = Settings(
        data=data or Path(platformdirs.user_data_dir("headrace")) / "serve",
        address=address,
        port=port,
        directories=tuple(it.resolve(strict=True) for it in directory or ()),
        cores=max(1, len(os.sched_getaffinity(0)) - 1),
    )
    print(f"http://{address}:{port}/", flush=True)
    run(settings, command_forms(context.find_root().command))


def check_extra() -> None:
    """Raise ValueError if the libraries of the pages are not installed."""
    try:
        import nicegui  # noqa: F401
    except ImportError as error:
        raise ValueError(
            f"headrace serve needs libraries that are not installed ({error.name}):"
            " pip install 'headrace[web]'"
        ) from None


def command_forms(root: Any) -> "list[CommandForm]":
    """Return the parameters of all commands below a group, as the command line declares them."""
    from headrace.web.jobs import CommandForm

    forms: list[CommandForm] = []

    def walk(command: Any, path: tuple[str, ...]) -> None:
        inner = getattr(command, "commands", None)
        if inner:
            for name, it in inner.items():
                walk(it, (*path, name))
            return
        description = command.help or ""
        forms.append(
            CommandForm(
                command=path,
                summary=description.split("\n\n")[0],
                description=description,
                fields=tuple(_field(it) for it in command.params if it.name != "help"),
            )
        )

    walk(root, ())
    return forms


def _field(parameter: Any) -> "FormField":
    from headrace.web.jobs import FormField

    type_, repeated = _type(parameter.type_descriptor.annotation)
    is_option = parameter.param_type_name == "option"
    default = parameter.default
    if isinstance(default, Enum):
        default = default.value
    choices: tuple[str, ...] = ()
    kind: FieldKind = "text"
    if issubclass(type_, Enum):
        kind, choices = "choice", tuple(str(it.value) for it in type_)
    elif type_ is bool:
        kind = "flag"
    elif issubclass(type_, Path):
        kind = "path"
    elif type_ in (int, float):
        kind = "integer" if type_ is int else "number"
    long = [it for it in parameter.opts if it.startswith("--")]
    return FormField(
        name=parameter.name,
        option=(long or parameter.opts)[0] if is_option else None,
        kind=kind,
        help=parameter.help or "",
        metavar=parameter.metavar or "",
        required=parameter.required,
        repeated=repeated,
        default=default if isinstance(default, str | int | float | bool) else None,
        choices=choices,
        minimum=parameter.min,
        negative_option=next(iter(parameter.secondary_opts), None),
    )


def _type(annotation: Any) -> tuple[type, bool]:
    """Return the type of a parameter's values, and whether it takes several."""
    if get_origin(annotation) in (list, tuple):
        return _type(get_args(annotation)[0])[0], True
    inner = [it for it in get_args(annotation) if it is not type(None)]
    if inner:
        return _type(inner[0])
    return annotation if isinstance(annotation, type) else str, False
