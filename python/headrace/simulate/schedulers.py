"""Schedulers of one's own: classes in Python that a scenario names."""

import importlib
import importlib.util
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeGuard

from headrace._core import Loaded, RunError, Scheduler, SchedulerFailure
from headrace.simulate.scenario import Scenario
from headrace.simulate.trust import Trust, UntrustedCode
from headrace.simulate.trusted_imports import TrustedLoader, trusted_imports

FIELD = "scheduler.python"
IMPORTING = threading.Lock()
"""Held while `sys.path` and `sys.modules` are not as others expect them."""


def schedulers(loaded: Loaded, trust: Trust) -> list[Scheduler] | None:
    """New schedulers of a scenario's own class; None if it names none.

    Raises ScenarioError if there is no such class, its file is not trusted, or it cannot be made
    with the options.
    """
    if loaded.scheduler is None:
        return None
    module, name, folder, options, count = loaded.scheduler
    of_class = _class(loaded, load_module(loaded, module, Path(folder), trust), name)
    groups = tuple(loaded.groups)
    given = ", ".join(f"{key}={value!r}" for key, value in options.items())
    if options and of_class.__init__ is Scheduler.__init__:
        message = f"{name} has no __init__ and takes no options, but got {given}"
        raise loaded.refusal(FIELD, message)
    made: list[Scheduler] = []
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
            made.append(scheduler)
    except (Exception, SystemExit) as error:
        message = f"{name}({given}) cannot be created: {describe(error)}"
        raise loaded.refusal(FIELD, message) from error
    return made


def scheduler_error(failure: SchedulerFailure, loaded: Loaded) -> BaseException:
    """The error of a run that a scheduler's method broke off.

    The error of a signal that came while the method ran is returned unchanged.
    """
    number, method, what, error = failure.args
    if isinstance(error, KeyboardInterrupt) or is_signal_exit(error):
        return error
    name = loaded.scheduler[1] if loaded.scheduler else "scheduler"
    place, said = "", what
    if error is not None:
        place, said = place_of(error), f"raised {type_and_text(error)}"
    raised = RunError(f"{place}{name}.{method} of scheduler {number} {said}")
    raised.__cause__ = error
    return raised


def check_trust(scenarios: Iterable[Scenario], trust: Trust) -> None:
    """Ask about the modules of scenarios' own classes before runs begin side by side.

    Raises as `schedulers` does.
    """
    checked: set[object] = set()
    for scenario in scenarios:
        loaded = scenario.loaded
        if loaded.scheduler is not None:
            module, _, folder, _, _ = loaded.scheduler
            if (module, folder) not in checked:
                checked.add((module, folder))
                load_module(loaded, module, Path(folder), trust)
        if loaded.replacement is not None and loaded.replacement not in checked:
            checked.add(loaded.replacement)
            file = Path(loaded.replacement[0])
            load_module(loaded, file.stem, file.parent, trust, "servers.memory.python")


def load_module(
    loaded: Loaded, name: str, folder: Path, trust: Trust, field: str = FIELD
) -> ModuleType:
    """Import the module of a user's class afresh, from a folder or where Python looks.

    Raises ScenarioError, at `field`, if there is none, or it is not trusted or fails.
    """
    try:
        with IMPORTING, _first(folder), trusted_imports(trust):
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


def _class(loaded: Loaded, module: ModuleType, name: str) -> type[Scheduler]:
    found: Any = getattr(module, name, None)
    if isinstance(found, type) and issubclass(found, Scheduler) and found is not Scheduler:
        return found
    if found is not None:
        message = f"{name} is no subclass of headrace.Scheduler"
    else:
        here = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, Scheduler) and value is not Scheduler
        ]
        known = f": it has {', '.join(here)}" if here else ""
        message = f"{module.__file__} has no class {name}{known}"
    raise loaded.refusal(FIELD, message)


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
