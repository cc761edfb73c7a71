"""Standing a laboratory up and taking it down."""

import os
from pathlib import Path

from headrace._core import RunError
from headrace.files import save_json
from headrace.lab import groups, links, processes, servers, state, steps
from headrace.lab.addresses import hosts_file
from headrace.lab.disk import image
from headrace.lab.hosts import Hosts
from headrace.lab.plan import Disk, Host, Plan
from headrace.lab.programs import require, run
from headrace.lab.state import Lab
from headrace.lab.steps import Folder, Group, Limit, LoopDevice, Namespaces

ALWAYS = ("losetup", "mount", "unshare", "nsenter", "ip")


def up(plan: Plan, name: str) -> Lab:
    """Stands a laboratory up. What fails or is interrupted is taken down again.

    Raises ValueError if something is missing or one of this name is up; RunError or OSError if
    the machine refuses something.
    """
    require(_programs(plan))
    lab = state.create(name)
    try:
        with lab.alone():
            _make(lab, plan)
    except BaseException as error:
        try:
            down(lab)
        except RunError as left:
            raise RunError(f"{error}; then {left}") from error
        raise
    return lab


def down(lab: Lab) -> None:
    """Takes a laboratory down: all that its journal has, in reverse order, however it was left.

    Raises RunError, and keeps the journal, if something could not be undone.
    """
    if not lab.token:
        state.remove_empty(lab)
        return
    if os.environ.get(processes.TOKEN) == lab.token:
        raise ValueError(
            f"{lab.name}: this is one of its hosts: expected headrace lab down outside"
        )
    with lab.alone():
        taken = steps.taken(lab)
        failed = []
        for step in reversed(taken):
            try:
                step.undo(lab)
            except (OSError, RunError) as error:
                failed.append(str(error))
        failed += [it for it in (step.left(lab) for step in taken) if it is not None]
        if failed:
            raise RunError(f"{lab.name}: this is left: {'; '.join(dict.fromkeys(failed))}")
        state.remove(lab)


def _programs(plan: Plan) -> list[str]:
    disks = [disk for host in plan.hosts for disk in host.disks]
    made = dict.fromkeys(disk.make[0] for disk in disks)
    linked = ("tc",) if any(host.link for host in plan.hosts) else ()
    return [*ALWAYS, *linked, *made, *servers.by_name(plan.server).programs]


def _make(lab: Lab, plan: Plan) -> None:
    save_json(lab.folder / "plan.json", plan.json())
    (lab.folder / "hosts").write_text(hosts_file(plan.hosts), encoding="ascii")
    lab.mount_point.mkdir()
    images = lab.images(plan)
    steps.take(lab, Folder(str(images)))
    # Behind links: as the kernel will call the file below a loop device.
    images = Path(os.path.realpath(images))
    hosts = Hosts(lab)
    if (first := groups.of_host(lab.name, plan.hosts[0].name)) is not None:
        steps.take(lab, Group(str(first.parent), None, outer=True))
    for host in plan.hosts:
        if (group := groups.of_host(lab.name, host.name)) is not None:
            steps.take(lab, Group(str(group), host.memory))
        devices = [_device(lab, images, host, disk) for disk in host.disks]
        steps.take(lab, Namespaces(host.name))
        for disk, device in zip(host.disks, devices, strict=True):
            _mount(lab, hosts, host, disk, device)
    if any(host.link for host in plan.hosts):
        steps.take(lab, Namespaces(links.SWITCH))
        links.make_switch(hosts)
        for host in plan.hosts:
            links.join(hosts, host)
    servers.by_name(plan.server).up(plan, hosts)


def _device(lab: Lab, images: Path, host: Host, disk: Disk) -> LoopDevice:
    """A disk with its file system, not limited yet."""
    with steps.free_number() as number:
        device = LoopDevice(number, str(image(images, host.name, disk)), disk.size)
        steps.take(lab, device)
    for folder, settings in (("queue", disk.queue), ("bdi", disk.write_back)):
        for name, value in settings.items():
            path = device.settings / folder / name
            try:
                path.write_text(value, encoding="ascii")
            except OSError as error:
                raise RunError(f"{path} = {value}: {error.strerror}") from None
    run(*disk.make, device.device)
    return device


def _mount(lab: Lab, hosts: Hosts, host: Host, disk: Disk, device: LoopDevice) -> None:
    at = hosts.disk(disk)
    at.mkdir(exist_ok=True)
    options = ("-o", ",".join(disk.mount_options)) if disk.mount_options else ()
    hosts.run(host.name, "mount", "-t", disk.file_system, *options, device.device, at)
    number = (device.settings / "dev").read_text(encoding="ascii").strip()
    group = groups.of_host(lab.name, host.name)
    for path, line, none in groups.limit_lines(disk.limits, number, group):
        steps.take(lab, Limit(str(path), line, none))
