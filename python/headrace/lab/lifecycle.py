"""Start and stop testbeds."""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from headrace import _core
from headrace._core import RunError, ScenarioError
from headrace.files import save_json
from headrace.lab import cgroups, links, processes, servers, state, steps
from headrace.lab.disk import image
from headrace.lab.hosts import Hosts
from headrace.lab.plan import Disk, Host, Plan, hosts_file
from headrace.lab.planner import plan
from headrace.lab.programs import require, run
from headrace.lab.state import Lab, name_of
from headrace.lab.steps import Controllers, Folder, Group, Limit, LoopDevice, Namespaces
from headrace.quantities import short_size
from headrace.simulate.scenario import load_with_sets

ALWAYS = ("losetup", "mount", "unshare", "nsenter", "ip")


def up(plan: Plan, name: str) -> Lab:
    """Start a testbed. After an error or interruption, everything is taken down again.

    Raises
    ------
    ValueError
        If a program is missing or a testbed of this name exists.
    ScenarioError
        If a disk cannot be created as the scenario says.
    RunError, OSError
        If a command or system call fails.
    """
    require(_programs(plan))
    lab = state.create(name)
    try:
        with lab.exclusive():
            _make(lab, plan)
    except BaseException as error:
        try:
            down(lab)
        except RunError as left:
            raise RunError(f"{error}; then {left}") from error
        raise
    return lab


def down(lab: Lab) -> None:
    """Stop a testbed: undo all steps of its journal in reverse order, also after an interruption.

    Raises
    ------
    RunError
        If something could not be undone; the journal is then retained.
    ValueError
        If called inside one of its hosts.
    """
    if not lab.token:
        state.remove_empty(lab)
        return
    if os.environ.get(processes.TOKEN) == lab.token:
        raise ValueError(
            f"{lab.name}: this is one of its hosts: run headrace lab down outside the testbed"
        )
    with lab.exclusive():
        taken = steps.journaled_steps(lab)
        failed = []
        for step in reversed(taken):
            try:
                step.undo(lab)
            except (OSError, RunError, ScenarioError) as error:
                failed.append(str(error))
        failed += [rest for rest in (step.remaining(lab) for step in taken) if rest is not None]
        if failed:
            raise RunError(f"{lab.name}: could not be removed: {'; '.join(dict.fromkeys(failed))}")
        state.remove(lab)


def _programs(plan: Plan) -> list[str]:
    disks = [disk for host in plan.hosts for disk in host.disks]
    programs = dict.fromkeys(disk.make[0] for disk in disks)
    linked = ("tc",) if any(host.link for host in plan.hosts) else ()
    return [*ALWAYS, *linked, *programs, *servers.by_name(plan.server).programs]


def _make(lab: Lab, plan: Plan) -> None:
    save_json(lab.folder / "plan.json", plan.json())
    (lab.folder / "hosts").write_text(hosts_file(plan.hosts), encoding="ascii")
    lab.mount_point.mkdir()
    images = lab.images(plan)
    steps.perform(lab, Folder(str(images)))
    images = _real(images)
    hosts = Hosts(lab)
    if (first := cgroups.of_host(lab.name, plan.hosts[0].name)) is not None:
        _delegate_controllers(lab, first.parent.parent)
        steps.perform(lab, Group(str(first.parent), None))
        _delegate_controllers(lab, first.parent)
    for host in plan.hosts:
        if (group := cgroups.of_host(lab.name, host.name)) is not None:
            steps.perform(lab, Group(str(group), host.memory))
        devices = [_device(lab, images, host, disk) for disk in host.disks]
        steps.perform(lab, Namespaces(host.name))
        for disk, device in zip(host.disks, devices, strict=True):
            _mount(lab, hosts, host, disk, device)
    if any(host.link for host in plan.hosts):
        steps.perform(lab, Namespaces(links.SWITCH))
        links.make_switch(hosts)
        for host in plan.hosts:
            links.join(hosts, host)
    servers.by_name(plan.server).up(plan, hosts)


def _real(folder: Path) -> Path:
    """Return the resolved path of a directory that was created here.

    Raises
    ------
    RunError
        If another directory is in its place.
    """
    parent = _core.open_directory(folder.parent, strictly=True)
    try:
        flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        opened = os.open(folder.name, flags, dir_fd=parent)
    except OSError as error:
        raise RunError(f"{folder}: another directory is in its place: {error.strerror}") from None
    finally:
        os.close(parent)
    try:
        if os.fstat(opened).st_uid != os.geteuid():
            raise RunError(f"{folder}: another directory is in its place")
        return Path(os.readlink(f"/proc/self/fd/{opened}"))
    finally:
        os.close(opened)


def _delegate_controllers(lab: Lab, group: Path) -> None:
    """Enable the required controllers for the children of a v2 group."""
    if names := cgroups.undelegated_controllers(group):
        steps.perform(lab, Controllers(str(group / cgroups.SUBTREE_CONTROL), names))


def _device(lab: Lab, images: Path, host: Host, disk: Disk) -> LoopDevice:
    """Create a disk with its file system, without limits."""
    with steps.free_number() as number:
        device = LoopDevice(number, str(image(images, host.name, disk)), disk.size)
        try:
            steps.perform(lab, device)
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            raise ScenarioError(
                f"{_image(disk)}: the file system of {images} does not support files of that size:"
                " expected a smaller image, or another lab.directory"
            ) from None
    for folder, settings in (("queue", disk.queue), ("bdi", disk.write_back)):
        for name, value in settings.items():
            path = device.settings / folder / name
            try:
                path.write_text(value, encoding="ascii")
            except OSError as error:
                raise RunError(f"{path}: the kernel refused {value}: {error.strerror}") from None
    _make_file_system(images, disk, device)
    return device


NO_ROOM = ("Input/output error", "No space left on device")
"""Messages of mkfs when direct I/O fails because the image cannot grow."""


def _make_file_system(images: Path, disk: Disk, device: LoopDevice) -> None:
    """Create the file system of a disk.

    Raises
    ------
    ScenarioError
        If it cannot be created with the disk's size, or the image has too little space.
    """
    try:
        run(*disk.make, device.device)
    except RunError as error:
        said = str(error).partition(f"{device.device}: ")[2].rstrip(".")
        if not any(word in said for word in NO_ROOM):
            raise ScenarioError(
                f"{_image(disk)}: {disk.make[0]} cannot create a file system of that size: {said}:"
                " expected another size, or another file_system.journal.size"
            ) from None
        room = shutil.disk_usage(images).free + 512 * Path(device.image).stat().st_blocks
        if disk.size <= room:
            raise
        raise ScenarioError(
            f"{_image(disk)}: {disk.make[0]} needs more than the {short_size(room)} free at"
            f" {images}: expected a smaller image, or a lab.directory with more free space"
        ) from None


def _image(disk: Disk) -> str:
    return f'lab.image = "{short_size(disk.size)}"'


def _mount(lab: Lab, hosts: Hosts, host: Host, disk: Disk, device: LoopDevice) -> None:
    """Mount a disk in its host, and limit it.

    Raises
    ------
    ScenarioError
        If mounting fails only because of `lab.mount_options`.
    """
    at = hosts.disk(disk)
    at.mkdir(exist_ok=True)

    def line(options: tuple[str, ...]) -> list[str | Path]:
        words = ("-o", ",".join(options)) if options else ()
        return ["mount", "-t", disk.file_system, *words, device.device, at]

    if not disk.given_options:
        hosts.run(host.name, *line(disk.mount_options))
    elif not hosts.succeeds(host.name, *line((*disk.mount_options, *disk.given_options))):
        hosts.run(host.name, *line(disk.mount_options))
        raise ScenarioError(
            f'lab.mount_options = "{",".join(disk.given_options)}": {disk.file_system} cannot be'
            " mounted with these options: expected options of mount(8) or of the file system, such"
            ' as "noatime"'
        )
    number = (device.settings / "dev").read_text(encoding="ascii").strip()
    group = cgroups.of_host(lab.name, host.name)
    for path, limit, none in cgroups.limit_lines(disk.limits, number, group):
        steps.perform(lab, Limit(str(path), limit, none))


@contextmanager
def running_testbed(file: Path, sets: Sequence[str] = (), name: str | None = None) -> Iterator[Lab]:
    """Run a scenario's testbed for the duration of a `with` block.

    Equivalent to `headrace lab up FILE --set`, then `headrace lab down` at the end of the block,
    also after an exception.

    Raises
    ------
    ScenarioError
        As `plan` does.
    ValueError, RunError, OSError
        As `up` and `down` do.
    """
    testbed = up(plan(load_with_sets(file, sets), sets), name_of(file, name))
    try:
        yield testbed
    finally:
        down(testbed)
