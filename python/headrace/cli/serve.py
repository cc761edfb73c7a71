"""`headrace serve`."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_args, get_origin

import typer

from headrace import _core
from headrace.cli.binding import StartGroup
from headrace.cli.options import ListenAddress, ListenPort, Time, time_option
from headrace.commands.values import parsed

if TYPE_CHECKING:
    from headrace.web.jobs import CommandForm, FormField
    from headrace.web.jobs.forms import FieldKind


app = typer.Typer(
    cls=StartGroup,
    help=(
        "Serve the pages of Headrace and its JSON API. headrace serve is headrace serve start:"
        " see headrace serve start --help."
    ),
    rich_markup_mode=None,
)
users = typer.Typer(
    help="Users of the pages and the API.", rich_markup_mode=None, no_args_is_help=True
)
app.add_typer(users, name="user")

DataDirectory: TypeAlias = Annotated[
    Path | None,
    typer.Option("--data-directory", metavar="DIR", help="Directory for jobs, uploads and users."),
]


def _data(given: Path | None) -> Path:
    import platformdirs

    return (given or Path(platformdirs.user_data_dir("headrace")) / "serve").absolute()


@app.callback()
def serve() -> None:
    """Serve the pages of Headrace and its JSON API."""


@app.command(StartGroup.default)
def start(
    context: typer.Context,
    data: DataDirectory = None,
    address: ListenAddress = "127.0.0.1",
    port: ListenPort = 8180,
    directory: Annotated[
        list[Path] | None,
        typer.Option(
            "--allow-directory",
            metavar="DIR",
            help="Directory that benchmarks may write below; can be repeated.",
        ),
    ] = None,
    login: Annotated[
        bool | None,
        typer.Option(
            "--login/--no-login",
            help="--login: only users log in, as behind a reverse proxy. --no-login: every account"
            " of this host gets the rights of the server. By default a loopback address asks for"
            " the token in the link that is printed.",
        ),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy",
            metavar="ADDRESS",
            help="Address of a reverse proxy, whose X-Forwarded headers hold; can be repeated.",
        ),
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-peer",
            metavar="HOST:PORT",
            help="Host that network benchmarks may connect with, as users write it; can be"
            " repeated.",
        ),
    ] = None,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            "--host-name",
            metavar="NAME",
            help="Answer requests for this host name; can be repeated.",
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option("--tls-cert", help="TLS certificate chain in PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", help="Its private key in PEM.")
    ] = None,
    allow_schedulers: Annotated[
        bool,
        typer.Option(
            "--allow-schedulers",
            help="Let users run Python schedulers: code with all rights of the server.",
        ),
    ] = False,
    allow_programs: Annotated[
        bool,
        typer.Option(
            "--allow-programs",
            help="Let users profile and run programs, with all rights of the server.",
        ),
    ] = False,
    job_memory: Annotated[
        str, typer.Option("--job-memory", metavar="SIZE", help="Address space of a job.")
    ] = "8 GiB",
    job_time: Annotated[
        float, time_option("--job-time", "Time from start to end of a job.")
    ] = 3600.0,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            min=1,
            help="Number of jobs that run side by side; by default one less than the cores.",
        ),
    ] = None,
    upload_size: Annotated[
        str, typer.Option("--upload-size", metavar="SIZE", help="Largest uploaded file.")
    ] = "1 GiB",
    upload_quota: Annotated[
        str, typer.Option("--upload-quota", metavar="SIZE", help="All uploads of a user.")
    ] = "10 GiB",
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="URL=TOKENFILE",
            help="Agent of another host to ask for samples; can be repeated.",
        ),
    ] = None,
    monitor: Annotated[
        bool, typer.Option("--monitor/--no-monitor", help="Sample this host.")
    ] = True,
    monitor_interval: Annotated[
        float, time_option("--monitor-interval", "Time between two samples of it.")
    ] = 1.0,
    request_rate: Annotated[
        float, typer.Option("--request-rate", metavar="RATE", min=1.0, help="Requests/s of a user.")
    ] = 100.0,
) -> None:
    """Serve until Ctrl-C. Jobs go on.

    On a loopback address the printed link has a token, which logs in the user local. On another
    address users must exist: see headrace serve user add.
    """
    import os
    import sys
    from socket import gethostname

    there = _data(data)
    # Before NiceGUI is imported, which would use the working directory.
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(there / "browsers"))
    check_extra()

    from headrace.addresses import is_loopback
    from headrace.monitors.agents import Agent, parse_option
    from headrace.web.access.users import UserFile, local_token
    from headrace.web.settings import Limits, Settings

    agents: list[Agent] = []
    for text in agent or ():
        agents.append(parse_option(text, {gethostname(), *(it.name for it in agents)}))
    if (tls_cert is None) != (tls_key is None):
        raise ValueError("--tls-cert and --tls-key: expected both or neither")
    is_local = is_loopback(address)
    if login is False and not is_local:
        raise ValueError(f"--no-login with --address {address}: expected a loopback address")
    needs_users = login or not is_local
    if needs_users and not UserFile(there).entries():
        raise ValueError(
            f"{'--login' if is_local else address} needs users, and there are none: add one by"
            f" headrace serve user add --data-directory {there} NAME"
        )
    if login is False:
        print(
            "without login: every account of this host has the rights of this server",
            file=sys.stderr,
        )
    directories = tuple(_directory(it) for it in directory or ())
    for it in directories:
        if there.resolve().is_relative_to(it) or it.is_relative_to(there.resolve()):
            raise ValueError(
                f"--allow-directory {it}: expected a directory apart from the data of the server,"
                f" {there}: choose another one, or another --data-directory"
            )
    settings = Settings(
        data=there,
        address=address,
        port=port,
        needs_login=login is not False,
        local_token=None if needs_users or login is False else local_token(there),
        host_names=tuple(host_name or ()),
        tls_certificate=_readable(tls_cert, "--tls-cert"),
        tls_key=_readable(tls_key, "--tls-key"),
        directories=directories,
        peers=tuple(peer or ()),
        proxies=tuple(proxy or ()),
        schedulers=allow_schedulers,
        programs=allow_programs,
        is_monitored=monitor,
        monitor_interval_s=monitor_interval,
        agents=tuple(agents),
        limits=Limits(
            memory=parsed("--job-memory", job_memory, _core.parse_bytes),
            seconds=job_time,
            upload=parsed("--upload-size", upload_size, _core.parse_bytes),
            quota=parsed("--upload-quota", upload_quota, _core.parse_bytes),
            requests=request_rate,
        ),
        cores=jobs or max(1, len(os.sched_getaffinity(0)) - 1),
    )
    # NiceGUI takes a second to import.
    from headrace.web.server import serve as run

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


@users.callback()
def user() -> None:
    """Users of the pages and the API."""


@users.command("add")
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the user.")],
    operator: Annotated[
        bool, typer.Option("--operator", help="Let the user cancel jobs of others.")
    ] = False,
    data: DataDirectory = None,
) -> None:
    """Add a user and print the token, which is shown only once."""
    from headrace.web.access.users import UserFile

    print(UserFile(_data(data)).add(name, operator))


@users.command("list")
def list_(data: DataDirectory = None) -> None:
    """List the users."""
    from headrace.web.access.users import UserFile

    for it in UserFile(_data(data)).entries():
        print(f"{it.name}{'  operator' if it.operator else ''}")


@users.command("remove")
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the user.")],
    data: DataDirectory = None,
) -> None:
    """Remove a user. The user's sessions and token end at once; jobs and uploads stay."""
    from headrace.web.access.users import UserFile

    UserFile(_data(data)).remove(name)


def _directory(path: Path) -> Path:
    found = path.resolve(strict=True)
    if not found.is_dir():
        raise ValueError(f"--allow-directory {path}: expected a directory")
    return found


def _readable(path: Path | None, option: str) -> Path | None:
    if path is not None and not path.is_file():
        raise ValueError(f"{option} {path}: there is no such file")
    return path


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
    if isinstance(default, Time):
        default = str(default)
    elif isinstance(default, Enum):
        default = default.value
    choices = tuple(
        str(getattr(choice, "value", choice)) for choice in parameter.type_descriptor.choices or ()
    )
    kind: FieldKind = "text"
    if choices:
        kind = "choice"
    elif type_ is bool:
        kind = "flag"
    elif issubclass(type_, Path):
        kind = "path"
    elif type_ in (int, float) and parameter.metavar != "TIME":
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
