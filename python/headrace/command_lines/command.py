"""Command lines as scenarios."""

import math
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from headrace.command_lines.options import Fields, Reader, size_text
from headrace.document_io import toml_value

DATA_SOURCES = ("/dev/zero", "/dev/urandom", "/dev/random")
MPI_ONLY = {"hintsFileName", "useFileView"}
"""Options that MPI-IO could follow, without module and version."""
KEPT = ("kind", "files", "directory")
"""Fields of the workload of directories that are those of files."""


@dataclass
class Command:
    """A command line as workloads."""

    program: str
    words: Sequence[str]
    workloads: list[Fields] = field(default_factory=list)
    run: Fields = field(default_factory=dict)
    directory: str = "."
    """Directory in which the program makes its files."""
    tasks: int | None = None
    """Number of processes, if the command line has one."""
    nodes: int = 1
    calls: str = "posix"
    """Way to make the calls of a measurement (`headrace.measure.calls`)."""
    unmeasured: str = ""
    """Reason for which the command line is only simulated."""
    notes: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """The command line as text."""
        return shlex.join([self.program, *self.words])

    def measured(self, ranks: int, processes: int, node_tasks: int) -> str:
        """Return the scenario of a measurement.

        Parameters:
            ranks: Number of ranks.
            processes: Processes of each.
            node_tasks: Distance in processes from a host to the next; with one host all of them.

        Raises ValueError if the command line can only be simulated.
        """
        if self.unmeasured:
            raise ValueError(self.unmeasured)
        tasks = ranks * processes
        workloads = []
        for fields in self.workloads:
            here = {
                path: value
                for path, value in fields.items()
                if path.partition(".")[0] not in ("layout", "collective")
            }
            if fields["kind"] == "ior" and "rank_shift" in here:
                here["rank_shift"] = here["rank_shift"] * node_tasks % tasks
            workloads.append(here)
        return self._text(ranks, processes, workloads, self.line)

    def simulated(self, ranks: int = 1, processes: int | None = None) -> str:
        """Return the scenario of a simulation, to which a system is added."""
        clients = max(ranks, self.nodes)
        each = processes or -(-(self.tasks or clients) // clients)
        return self._text(clients, each, self.workloads, "; ".join([self.line, *self.notes]))

    def _text(self, count: int, processes: int, workloads: Sequence[Fields], about: str) -> str:
        tables: list[tuple[str, Fields]] = [
            ("", {"name": self.program, "description": about}),
            ("[clients]", {"count": count, "processes": processes}),
            *(("[[workload]]", fields) for fields in workloads),
            *([("[run]", self.run)] if self.run else []),
        ]
        lines: list[str] = []
        for head, fields in tables:
            lines += [head, *(f"{path} = {toml_value(value)}" for path, value in fields.items())]
        return "\n".join(lines).lstrip() + "\n"


def read_command(program: str, words: Sequence[str]) -> Command:
    """Return a program's command line as workloads. Raises ValueError."""
    reader = Reader(program)
    (reader.operands if program == "dd" else reader.read)(words)
    command = Command(program, words)
    runs = []
    for given in reader.tests or [reader.given]:
        own: Fields = {}
        run: Fields = {}
        for path, value in given.fields.items():
            (run if path.startswith("run.") else own)[path.removeprefix("run.")] = value
        command.workloads += PROGRAMS[program](command, given.values, own, run)
        runs.append((run, command.calls))
    if any(run != runs[0] for run in runs):
        raise ValueError(
            f"{program} -f: expected tests with equal interfaces, repetitions, seeds and deadlines"
        )
    command.run = runs[0][0]
    if len(command.workloads) > 1:
        turn = 1
        for fields in command.workloads:
            fields["turns"] = list(range(turn, turn + len(fields["phases"])))
            turn += len(fields["phases"])
    command.notes = [*command.notes, *reader.notes()]
    return command


def command_of(text: str | os.PathLike[str]) -> Command | None:
    """Return a command line such as `mpirun -n 4 ior -t 1m` in one text; None if it is none.

    Raises ValueError if an option is refused.
    """
    line = os.fspath(text)
    named = re.search(rf"(?:^|[\s/])(?:{'|'.join(PROGRAMS)})\s", line, re.IGNORECASE)
    if named is None or line.endswith((".toml", ".json")):
        return None
    words = shlex.split(line)
    names = [Path(word).name.lower() for word in words]
    at = next((at for at, name in enumerate(names) if name in PROGRAMS), None)
    if at is None:
        return None
    command = read_command(names[at], words[at + 1 :])
    launcher = " ".join(words[:at])
    if tasks := re.search(r"(?:^|\s)(?:-n|-np|--np|--ntasks)[\s=]*(\d+)", launcher):
        command.tasks = int(tasks[1])
    if "srun" in launcher and (nodes := re.search(r"(?:^|\s)(?:-N|--nodes)[\s=]*(\d+)", launcher)):
        command.nodes = int(nodes[1])
    return command


def _ior(command: Command, values: Fields, own: Fields, run: Fields) -> list[Fields]:
    block, transfer = values.get("blockSize", 1 << 20), values.get("transferSize", 1 << 18)
    if transfer <= 0 or block % transfer:
        raise ValueError(f"ior -t {transfer}: expected a size that divides that of -b, {block}")
    actions = ("writeFile", "checkWrite", "readFile", "checkRead")
    writes, checks, *reads = (name in values for name in actions)
    if not (writes or checks or any(reads)):
        writes, reads = True, [True]
    phases = ["write"] * writes + ["sync"] * (writes and "fsync" in values)
    phases += ["read"] * (checks + any(reads))
    fields = {
        "kind": "ior",
        "block": size_text(block),
        "transfer": size_text(transfer),
        "access": "file-per-process" if "filePerProc" in values else "shared",
        "opens": True,
        "phases": phases,
        **own,
    }
    if checks or "checkRead" in values:
        fields["io.verify"] = True
    order = values.get("randomOffset", 0)
    if order:
        fields["order"] = "random" if order == 1 else "uniform"
    if "reorderTasks" in values or "reorderTasksRandom" in values:
        fields["rank_shift"] = values.get("taskPerNodeOffset", 1)
    collective, command.calls = "collective" in values, "posix"
    if values.get("api") == "MPIIO":
        command.calls = "mpi-io-collective" if collective else "mpi-io"
        if collective and order:
            # IOR refuses it too (aiori-MPIIO.c: MPIIO_check_params).
            raise ValueError("ior -z: processes that call together (-c) have no random order")
        if collective and "filePerProc" not in values:
            fields["collective.kind"] = "two-phase"
        if any(name.removeprefix("mpiio.").partition(" ")[0] in MPI_ONLY for name in values):
            command.unmeasured = "ior -a MPIIO: no hints (-U) or views (-V) are set: leave them out"
    elif collective:
        command.notes.append("-c: collective calls need -a MPIIO")
    if deadline := values.get("deadlineForStonewalling"):
        if writes and order:
            raise ValueError(
                "ior -D: with -z later phases would access other transfers: leave one of them out"
            )
        (fields if writes else run)["stonewall" if writes else "stop.time"] = f"{deadline} s"
    if "testFile" in values:
        command.directory = os.path.dirname(values["testFile"].partition("@")[0]) or "."
    command.tasks = values.get("numTasks", command.tasks)
    return [fields]


def _mdtest(command: Command, values: Fields, own: Fields, run: Fields) -> list[Fields]:
    items = _items(values)
    if items < 1:
        raise ValueError("mdtest: expected -n N or -I N: the number of files of each process")
    actions = ["create", "stat", "read", "remove"]
    chosen = [name for name in actions if name in values]
    if not chosen and "rename" not in values:
        chosen = actions
    common = {"kind": "mdtest", "files": items, **own}
    workloads = []
    if "filesOnly" not in values or "dirsOnly" in values:
        phases = ["mkdir"] * ("create" in chosen) + ["rmdir"] * ("remove" in chosen)
        if "dirsOnly" not in values:
            command.notes.append("directories are not looked up or renamed")
        if phases == ["rmdir"]:
            phases = ["mkdir", "rmdir"]
        plain: Fields = {key: common[key] for key in KEPT if key in common}
        workloads.append({**plain, "phases": phases})
    if "dirsOnly" not in values or "filesOnly" in values:
        workloads.append({**common, "phases": _file_phases(common, values, chosen, command)})
    if not any(fields["phases"] for fields in workloads):
        raise ValueError("mdtest: nothing is left to do: expected -C, -T, -E or -r")
    command.directory = values.get("directory", "./out").partition("@")[0]
    return [fields for fields in workloads if fields["phases"]]


def _file_phases(
    fields: Fields, values: Fields, actions: Sequence[str], command: Command
) -> list[str]:
    """Return the phases of files. Those without files or bytes get them, or are left out."""
    written, read = values.get("writeBytes", 0), values.get("readBytes", 0)
    phases = ["unlink" if name == "remove" else name for name in actions]
    if "read" in phases and not written and "create" not in phases and read:
        fields["bytes"] = size_text(read)
    elif "read" in phases and not (written and read):
        phases.remove("read")
        command.notes.append("nothing is read: the phase that opens and closes files is left out")
    elif "read" in phases and read != written:
        command.notes.append(f"the phase read reads all {written} bytes of -w")
    if phases and not {"create", "read"} & {*phases}:
        command.notes.append("the files are created first, in a phase of its own")
        phases = ["create", *phases]
    return phases


def _items(values: Mapping[str, int]) -> int:
    """Return the files of a process (mdtest.c: mdtest_run)."""
    depth, branches = values.get("depth", 0), values.get("branchingFactor", 1)
    items, per_directory = values.get("items", 0), values.get("itemsPerDirectory", 0)
    is_large = depth > 1 << 20 or (branches > 1 and depth * math.log2(branches) > 40)
    if min(depth, branches) < 0 or is_large:
        raise ValueError(f"mdtest -z {depth} -b {branches}: expected a smaller tree")
    levels = [branches**level for level in range(depth + 1)] if branches > 0 else [1]
    directories = levels[-1] if "leafOnly" in values else sum(levels)
    if per_directory:
        return items or per_directory * directories
    return items // directories * directories


def _dd(command: Command, values: Fields, own: Fields, run: Fields) -> list[Fields]:
    source, target = values.get("if", ""), values.get("of", "")
    reads, writes = source not in ("", *DATA_SOURCES), target not in ("", "/dev/null")
    for name, path, takes in (("if", source, reads), ("of", target, writes)):
        if takes and path.startswith("/dev/"):
            raise ValueError(f"dd {name}={path}: devices are not accessed: expected a file")
    if not reads and not writes:
        raise ValueError("dd: expected a file as if= or of=")
    read, written = ({"ibs": 512, "obs": 512, **values}[name] for name in ("ibs", "obs"))
    if "bs" in values:
        read = written = values["bs"]
    if "count" in values:
        total = values["count"] * (1 if "iflag=count_bytes" in values else read)
    elif reads and Path(source).is_file():
        total = Path(source).stat().st_size
    else:
        raise ValueError("dd: expected count=N: the number of blocks")
    request = written if writes and not reads else read
    whole = total // request * request
    if whole < 1:
        raise ValueError(f"dd bs={request}: expected at least one block: {total} bytes are copied")
    if whole < total:
        command.notes.append(f"the last {total - whole} bytes are left out: they fill no block")
    command.directory = os.path.dirname(target if writes else source) or "."
    fields = own
    if (reads and "iflag=direct" in values) or (writes and "oflag=direct" in values):
        fields["io.direct"] = True
    syncs = writes and ("conv=fsync" in values or "conv=fdatasync" in values)
    if reads and writes:
        fields |= {"kind": "pipeline", "input": size_text(whole), "request": size_text(request)}
        return [{**fields, "sync": syncs}]
    phases = ["write"] + ["sync"] * syncs if writes else ["read"]
    sizes = {"block": size_text(whole), "transfer": size_text(request)}
    return [{"kind": "ior", **sizes, "opens": True, "phases": phases, **fields}]


PROGRAMS: dict[str, Callable[[Command, Fields, Fields, Fields], list[Fields]]] = {
    "ior": _ior,
    "mdtest": _mdtest,
    "dd": _dd,
}
"""The workloads of each program, by the command, the values of options, and the fields of a
workload and of the run that they set."""
