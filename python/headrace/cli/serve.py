"""`headrace serve`."""

import os
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, get_args, get_origin
from typing import Annotated as A

import msgspec
import typer

from headrace import _core
from headrace.cli.binding import StartGroup, command
from headrace.cli.options import Time
from headrace.commands.fields import ListenAddress, ListenPort
from headrace.commands.parameters import Help, Word
from headrace.commands.values import read_by, span
from headrace.late_imports import imports_of
from headrace.quantities import short_size

if TYPE_CHECKING:
    from headrace.monitors.agents import Agent
    from headrace.web.access.users import UserFile
    from headrace.web.jobs import CommandForm, FormField
    from headrace.web.jobs.forms import FieldKind
    from headrace.web.settings import Settings


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

DataDirectory: TypeAlias = A[
    Path | None,
    Word("--data-directory", metavar="DIR"),
    Help("Directory for jobs, uploads and users."),
]


UserName: TypeAlias = A[str, Word(metavar="NAME", is_argument=True), Help("Name of the user.")]
_SIZE = read_by("SIZE", _core.parse_bytes, short_size)


def _data(given: Path | None) -> Path:
    import platformdirs

    return (given or Path(platformdirs.user_data_dir("headrace")) / "serve").absolute()


def _users(data: Path | None) -> "UserFile":
    from headrace.web.access.users import UserFile

    return UserFile(_data(data))


@app.callback()
def serve() -> None:
    """Serve the pages of Headrace and its JSON API."""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """Serve until Ctrl-C. Jobs go on.

    On a loopback address the printed link has a token, which logs in the user local. On another
    address users must exist: see headrace serve user add.
    """

    data: DataDirectory = None
    address: ListenAddress = "127.0.0.1"
    port: ListenPort = 8180
    directory: A[
        tuple[Path, ...],
        Word("--allow-directory", metavar="DIR"),
        Help("Directory that benchmarks may write below; can be repeated."),
    ] = ()
    login: A[
        bool | None,
        Word(off="--no-login"),
        Help(
            "--login: only users log in, as behind a reverse proxy. --no-login: every account of"
            " this host gets the rights of the server. By default a loopback address asks for the"
            " token in the link that is printed."
        ),
    ] = None
    proxy: A[
        tuple[str, ...],
        Word(metavar="ADDRESS"),
        Help("Address of a reverse proxy, whose X-Forwarded headers hold; can be repeated."),
    ] = ()
    peer: A[
        tuple[str, ...],
        Word("--allow-peer", metavar="HOST:PORT"),
        Help("Host that network benchmarks may connect with, as users write it; can be repeated."),
    ] = ()
    host_name: A[
        tuple[str, ...],
        Word(metavar="NAME"),
        Help("Answer requests for this host name; can be repeated."),
    ] = ()
    tls_cert: A[Path | None, Help("TLS certificate chain in PEM.")] = None
    tls_key: A[Path | None, Help("Its private key in PEM.")] = None
    allow_schedulers: A[
        bool, Help("Let users run Python schedulers: code with all rights of the server.")
    ] = False
    allow_programs: A[
        bool, Help("Let users profile and run programs, with all rights of the server.")
    ] = False
    job_memory: A[int, _SIZE, Help("Address space of a job.")] = 8 << 30
    job_time: A[float, span(), Help("Time from start to end of a job.")] = 3600.0
    jobs: A[
        int | None,
        Help("Number of jobs that run side by side; by default one less than the cores.", least=1),
    ] = None
    upload_size: A[int, _SIZE, Help("Largest uploaded file.")] = 1 << 30
    upload_quota: A[int, _SIZE, Help("All uploads of a user.")] = 10 << 30
    agent: A[
        tuple[str, ...],
        Word(metavar="URL=TOKENFILE"),
        Help("Agent of another host to ask for samples; can be repeated."),
    ] = ()
    monitor: A[bool, Word(off="--no-monitor"), Help("Sample this host.")] = True
    monitor_interval: A[float, span(), Help("Time between two samples of it.")] = 1.0
    request_rate: A[float, Word(metavar="RATE"), Help("Requests/s of a user.", least=1.0)] = 100.0

    @property
    def data_directory(self) -> Path:
        """The directory of the data."""
        return _data(self.data)

    def settings(self) -> "Settings":
        """Return the settings of the server. Raises ValueError, which names the options."""
        from headrace.web.access.users import local_token
        from headrace.web.settings import Limits, Settings

        agents = self._agents()
        if (self.tls_cert is None) != (self.tls_key is None):
            raise ValueError("--tls-cert and --tls-key: expected both or neither")
        needs_users = self._needs_users()
        return Settings(
            data=self.data_directory,
            address=self.address,
            port=self.port,
            needs_login=self.login is not False,
            host_names=self.host_name,
            tls_certificate=_readable(self.tls_cert, "--tls-cert"),
            tls_key=_readable(self.tls_key, "--tls-key"),
            directories=self._directories(),
            local_token=None
            if needs_users or self.login is False
            else local_token(self.data_directory),
            peers=self.peer,
            proxies=self.proxy,
            schedulers=self.allow_schedulers,
            programs=self.allow_programs,
            is_monitored=self.monitor,
            monitor_interval_s=self.monitor_interval,
            agents=agents,
            limits=Limits(
                memory=self.job_memory,
                seconds=self.job_time,
                upload=self.upload_size,
                quota=self.upload_quota,
                requests=self.request_rate,
            ),
            cores=self.jobs or max(1, len(os.sched_getaffinity(0)) - 1),
        )

    def _agents(self) -> "tuple[Agent, ...]":
        from socket import gethostname

        from headrace.monitors.agents import Agent, parse_option

        agents: list[Agent] = []
        for text in self.agent:
            agents.append(parse_option(text, {gethostname(), *(one.name for one in agents)}))
        return tuple(agents)

    def _needs_users(self) -> bool:
        """Return whether only users may log in. Raises ValueError if there are none."""
        from headrace.addresses import is_loopback

        is_local = is_loopback(self.address)
        if self.login is False and not is_local:
            text = f"--no-login with --address {self.address}"
            raise ValueError(f"{text}: expected a loopback address")
        needs_users = self.login or not is_local
        if needs_users and not _users(self.data).entries():
            raise ValueError(
                f"{'--login' if is_local else self.address} needs users, and there are none: add"
                f" one by headrace serve user add --data-directory {self.data_directory} NAME"
            )
        return needs_users

    def _directories(self) -> tuple[Path, ...]:
        directories = tuple(map(_directory, self.directory))
        data = self.data_directory.resolve()
        for directory in directories:
            if data.is_relative_to(directory) or directory.is_relative_to(data):
                raise ValueError(
                    f"--allow-directory {directory}: expected a directory apart from the data of"
                    f" the server, {self.data_directory}: choose another one, or another"
                    " --data-directory"
                )
        return directories


def _start(request: Server, context: typer.Context) -> None:
    # Before NiceGUI is imported, which would use the working directory.
    os.environ.setdefault("NICEGUI_STORAGE_PATH", str(request.data_directory / "browsers"))
    check_extra()
    settings = request.settings()
    if request.login is False:
        print(
            "without login: every account of this host has the rights of this server",
            file=sys.stderr,
        )
    # NiceGUI takes a second to import.
    from headrace.web.server import serve as run

    run(settings, command_forms(context.find_root().command))


app.command(StartGroup.default)(command(Server, _start))


def check_extra() -> None:
    """Raise ValueError if the libraries of the pages are not installed."""
    with imports_of("web"):
        import nicegui  # noqa: F401


@users.callback()
def user() -> None:
    """Users of the pages and the API."""


@users.command("add")
def add(
    name: UserName,
    operator: A[bool, Help("Let the user cancel jobs of others.")] = False,
    data: DataDirectory = None,
) -> None:
    """Add a user and print the token, which is shown only once."""
    print(_users(data).add(name, operator))


@users.command("list")
def list_(data: DataDirectory = None) -> None:
    """List the users."""
    for known in _users(data).entries():
        print(f"{known.name}{'  operator' if known.operator else ''}")


@users.command("remove")
def remove(name: UserName, data: DataDirectory = None) -> None:
    """Remove a user. The user's sessions and token end at once; jobs and uploads stay."""
    _users(data).remove(name)


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
