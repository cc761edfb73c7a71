"""Schedulers, placements and replacement policies of one's own: classes in Python that a scenario
names."""

import importlib
import importlib.util
import os
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard, TypeVar

from headrace._core import Loaded, RunError, Scheduler, SchedulerFailure
from headrace.confined import CODE, REFUSED
from headrace.simulate.placement import Placement
from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust, UntrustedCode
from headrace.simulate.trusted_imports import TrustedLoader, trusted_imports

T = TypeVar("T")

IMPORTING = threading.Lock()
"""Held while `sys.path` and `sys.modules` are not as others expect them."""


@dataclass(frozen=True)
class PythonClass:
    """A class in Python of a scenario, and where it is named."""

    path: str
    module: str
    """Name of a module, or of a file, which ends in `.py`."""
    name: str
    folder: Path

    @property
    def field(self) -> str:
        """The field that names it."""
        return f"{self.path}.python"


@dataclass(frozen=True)
class SchedulerClass(PythonClass):
    """A scheduler in Python of a scenario, and where it stands."""

    position: str
    options: dict[str, Any]
    count: int


@dataclass(frozen=True)
class PlacementClass(PythonClass):
    """A placement in Python of a scenario, and which files it places."""

    workload: int | None
    options: dict[str, Any]
    targets: int
    servers: int
    unit: int


def placement_classes(loaded: Loaded) -> list[PlacementClass]:
    """The placements in Python that a scenario names."""
    return [
        PlacementClass(path, module, name, Path(folder), workload, options, *counts)
        for path, workload, (module, name, folder), options, counts in loaded.placements
    ]


def policy_class(loaded: Loaded) -> PythonClass | None:
    """The replacement policy in Python that a scenario names; None if it names none."""
    if loaded.replacement is None:
        return None
    module, name, folder = loaded.replacement
    return PythonClass("servers.memory", module, name, Path(folder))


def python_classes(loaded: Loaded) -> list[PythonClass]:
    """All classes in Python that a scenario names."""
    policy = policy_class(loaded)
    policies = [] if policy is None else [policy]
    return [*scheduler_classes(loaded), *placement_classes(loaded), *policies]


def placements(loaded: Loaded, trust: Trust) -> list[tuple[int | None, Placement, int]] | None:
    """New placements of a scenario's own classes, with the bytes of a strip; None without any.

    Raises as `schedulers` does.
    """
    classes = [
        (class_.workload, _made_placement(loaded, class_, trust), class_.unit)
        for class_ in placement_classes(loaded)
    ]
    return classes or None


def _made_placement(loaded: Loaded, named: PlacementClass, trust: Trust) -> Placement:
    of_class = load_class(loaded, named, Placement, trust)
    given = _given(loaded, named, of_class.__init__ is Placement.__init__)
    try:
        placement = of_class.__new__(of_class)
        placement.targets, placement.servers = named.targets, named.servers
        placement.unit, placement.seed = named.unit, loaded.seed
        of_class.__init__(placement, **named.options)
    except (Exception, SystemExit) as error:
        message = f"{named.name}({given}) cannot be created: {describe(error)}"
        raise loaded.refusal(named.field, message) from error
    return placement


def _given(loaded: Loaded, named: SchedulerClass | PlacementClass, takes_none: bool) -> str:
    given = ", ".join(f"{key}={value!r}" for key, value in named.options.items())
    if named.options and takes_none:
        message = f"{named.name} has no __init__ and takes no options, but got {given}"
        raise loaded.refusal(named.field, message)
    return given


def scheduler_classes(loaded: Loaded) -> list[SchedulerClass]:
    """The schedulers in Python that a scenario names."""
    return [
        SchedulerClass(path, module, name, Path(folder), position, options, count)
        for path, position, module, name, folder, options, count in loaded.schedulers
    ]


def schedulers(loaded: Loaded, trust: Trust) -> list[tuple[str, list[Scheduler]]] | None:
    """New schedulers of a scenario's own classes by position; None if it names none.

    Raises ScenarioError if there is no such class, its file is not trusted, or it cannot be made
    with the options.
    """
    classes = [(one.position, _made(loaded, one, trust)) for one in scheduler_classes(loaded)]
    return classes or None


def _made(loaded: Loaded, named: SchedulerClass, trust: Trust) -> list[Scheduler]:
    name, options, count = named.name, named.options, named.count
    of_class = load_class(loaded, named, Scheduler, trust)
    groups = tuple(loaded.groups)
    given = _given(loaded, named, of_class.__init__ is Scheduler.__init__)
    objects: list[Scheduler] = []
    identities: set[int] = set()
    try:
        for number in range(count):
            scheduler = of_class.__new__(of_class, **options)
            if not isinstance(scheduler, of_class) or id(scheduler) in identities:
                raise TypeError(f"__new__ gave {scheduler!r}, no new {name}")
            identities.add(id(scheduler))
            # Before it is made, so that its __init__ knows where it stands.
            scheduler._place(number, count, groups, loaded.seed)
            of_class.__init__(scheduler, **options)
            objects.append(scheduler)
    except (Exception, SystemExit) as error:
        message = f"{name}({given}) cannot be created: {describe(error)}"
        raise loaded.refusal(named.field, message) from error
    return objects


def scheduler_error(failure: SchedulerFailure) -> BaseException:
    """The error of a run that a method of a scheduler or placement broke off.

    The error of a signal that came while the method ran is returned unchanged.
    """
    name, number, method, text, error, place = failure.args
    of_which = "" if number is None else f" of scheduler {number}"
    return method_error(f"{name}.{method}{of_which}", text, error, place)


def method_error(
    method: str, text: str | None, error: BaseException | None, place: tuple[str, int] | None
) -> BaseException:
    """The error of a run that a method of a scenario's own class broke off.

    Parameters:
        method: The method's name.
        text: What it did wrong, unless it raised an exception.
        error: The exception. If a signal raised it, it is returned unchanged.
        place: File and line of the method's definition, if they are known.
    """
    if isinstance(error, KeyboardInterrupt) or is_signal_exit(error):
        return error
    at = "" if place is None else f"{place[0]}:{place[1]}: "
    if error is not None:
        at, text = place_of(error), f"raised {type_and_text(error)}"
    raised = RunError(f"{at}{method} {text}")
    raised.__cause__ = error
    return raised


def check_trust(scenarios: Iterable[Scenario], trust: Trust) -> None:
    """Ask about the modules of scenarios' own classes before runs begin side by side.

    Raises as `schedulers` does.
    """
    checked: set[object] = set()
    for scenario in scenarios:
        loaded = scenario.loaded
        for named in python_classes(loaded):
            if (named.module, named.folder) not in checked:
                checked.add((named.module, named.folder))
                _module(loaded, named, trust)


def _module(loaded: Loaded, named: PythonClass, trust: Trust) -> ModuleType:
    """Import the module of a user's class afresh: a file, or from a folder or where Python looks.

    Raises ScenarioError if there is none, or it is not trusted or fails, or no code may be loaded.
    """
    if os.environ.get(CODE) == REFUSED:
        message = (
            f"{named.name} is a class in Python, which is code: the operator of the server allows"
            " such classes by headrace serve --allow-schedulers, in jobs"
        )
        raise loaded.refusal(named.field, message)
    name, folder, field = named.module, named.folder, named.field
    own = folder / name if name.endswith(".py") else None
    if own is not None and not own.is_file():
        raise loaded.refusal(field, f"there is no file {own}")
    try:
        with IMPORTING, _first(own.parent if own else folder), trusted_imports(trust):
            if own is not None:
                return _fresh(own.stem, own, trust)
            beside = folder.joinpath(*name.split("."))
            for file in (beside.with_suffix(".py"), beside / "__init__.py"):
                if file.is_file():
                    return _fresh(name, file, trust)
            return importlib.import_module(name)
    except UntrustedCode as error:
        raise loaded.refusal(field, str(error)) from None
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            message = f"there is no module {name!r} in {folder} or where Python looks (sys.path)"
        else:
            message = f"the module cannot be imported: {describe(error)}"
        raise loaded.refusal(field, message) from error
    except (Exception, SystemExit) as error:
        message = f"the module cannot be imported: {describe(error)}"
        raise loaded.refusal(field, message) from error


@contextmanager
def _first(folder: Path) -> Iterator[None]:
    """Let Python look into a folder first, as it does for a script's."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _fresh(name: str, file: Path, trust: Trust) -> ModuleType:
    """A module as its file is now: it may have been changed since it was imported."""
    loader = TrustedLoader(name, str(file), trust)
    spec = importlib.util.spec_from_file_location(name, file, loader=loader)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no module")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses look for themselves there
    try:
        spec.loader.exec_module(module)
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before
    return module


def load_class(loaded: Loaded, named: PythonClass, base: type[T], trust: Trust) -> type[T]:
    """The class that a scenario names, a subclass of `base`. Raises as `schedulers` does."""
    module, name = _module(loaded, named, trust), named.name
    class_: Any = getattr(module, name, None)
    if isinstance(class_, type) and issubclass(class_, base) and class_ is not base:
        return class_
    if class_ is not None:
        message = f"{name} is no subclass of headrace.{base.__name__}"
    else:
        here = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, base) and value is not base
        ]
        known = f": it has {', '.join(here)}" if here else ""
        message = f"{module.__file__} has no class {name}{known}"
    raise loaded.refusal(named.field, message)


def describe(error: BaseException) -> str:
    """Return the place, type and text of an error."""
    return f"{place_of(error)}{type_and_text(error)}"


def type_and_text(error: BaseException) -> str:
    """Return the type and text of an error."""
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def is_signal_exit(error: BaseException | None) -> TypeGuard[SystemExit]:
    """Return whether the command's own handler of SIGTERM raised the error."""
    if not isinstance(error, SystemExit):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and Path(frames[-1].filename).is_relative_to(Path(__file__).parents[1])


def place_of(error: BaseException) -> str:
    """File and line that raised an error, outside of this package and of importing."""
    if isinstance(error, SyntaxError) and error.filename is not None:
        return f"{error.filename}:{error.lineno}: "
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename != __file__ and not frame.filename.startswith("<frozen importlib"):
            return f"{frame.filename}:{frame.lineno}: "
    return ""
