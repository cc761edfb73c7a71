"""Requests of fio's job files, as made by fio and by Headrace, compared by file.

python benches/load/fio_requests.py DIR FILE...

Both run below strace with system calls, on small files and without times and rates: these change
the number of requests from run to run. Prints a line for each job file: the same requests, the same
counts and bytes (random offsets that may come again), or the difference.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SIZE = "2m"
MOST_SECONDS = 60
LEFT_OUT = re.compile(
    r"^\s*(runtime|timeout|time_based|ramp_time|startdelay|rate\w*|thinktime\w*|latency_\w+|ss\w*"
    r"|steadystate\w*|write_\w+_log|numa\w+|prio\w*|cpus_\w+|exitall|exit_what|flow\w*|number_ios"
    r"|grace_time|filename_format|fill_device|cmdprio\w*|verify_write_sequence|atomic)\b.*$",
    re.MULTILINE,
)
CALLS = "pread64,pwrite64,fsync,fdatasync"
SYNC = re.compile(r"^\d+ +(?:fsync|fdatasync)\(\d+<([^>]*)>")
Requests = dict[str, tuple[Counter[tuple[str, int, int]], int]]
"""By file: each read and write with its offset and size, and the number of syncs."""


def shortened(text: str) -> str:
    """Return a job file with small files, without times, and with system calls."""
    text = LEFT_OUT.sub("", text)
    text = re.sub(r"(?m)^(\s*)(size|filesize|io_size|io_limit)\s*=.*$", rf"\1\2={SIZE}", text)
    text = re.sub(r"(?m)^(\s*)(zonesize|zoneskip)\s*=.*$", r"\1\2=64k", text)
    text = re.sub(r"(?m)^(\s*)(offset|offset_increment)\s*=.*$", r"\1\2=256k", text)
    text = re.sub(
        r"(?m)^(\s*)(ioengine)\s*=\s*(libaio|io_uring|posixaio|sync).*$", r"\1\2=psync", text
    )
    text = re.sub(r"(?m)^(\s*)filename\s*=\s*/.*/(\w+)\s*$", r"\1filename=\2", text)
    text = re.sub(r"(?m)^(\s*)(directory)\s*=.*$", "", text)
    text = re.sub(r"(?m)^(\s*)(numjobs)\s*=\s*\d+", r"\1\2=2", text)
    text = re.sub(r"(?m)^(\s*)(nrfiles|nr_files)\s*=\s*\d+", r"\1\2=4", text)
    text = re.sub(r"(?m)^(\s*)(loops)\s*=\s*\d+", r"\1\2=2", text)
    text = re.sub(r"(?m)^(\s*)(direct|buffered)\s*=\s*\d+\s*$", "", text)
    if "ioengine" not in text:
        text = f"[global]\nioengine=psync\n{text}"
    return f"[global]\nsize={SIZE}\n{text}"


def traced(command: list[str], directory: Path) -> tuple[Requests, str]:
    """Run a command below strace, and return the requests in files below a directory."""
    with tempfile.NamedTemporaryFile("r", suffix=".strace") as log:
        line = [
            "timeout",
            str(MOST_SECONDS),
            "strace",
            "-f",
            "-y",
            "-s0",
            "-o",
            log.name,
            "-e",
            f"trace={CALLS}",
            *command,
        ]
        # fio writes the state of a verification where it is.
        done = subprocess.run(
            line, capture_output=True, text=True, check=False, cwd=directory.parent
        )
        lines = list(whole(log))
    found: Requests = {}
    # The first process lays the files out.
    first = lines[0].split(" ", 1)[0] if lines else ""
    for text in lines:
        if text.split(" ", 1)[0] == first:
            continue
        if (sync := SYNC.match(text)) is not None:
            path = sync[1]
            if path.startswith(str(directory)):
                requests, syncs = found.get(path, (Counter(), 0))
                found[path] = (requests, syncs + 1)
            continue
        call = re.match(r"^\d+ +p(read|write)64\(\d+<([^>]*)>, .*, (\d+), (\d+) ?\) += (\d+)", text)
        if call is None or not call[2].startswith(str(directory)) or int(call[5]) == 0:
            continue
        requests, syncs = found.get(call[2], (Counter(), 0))
        requests[call[1], int(call[4]), int(call[5])] += 1
        found[call[2]] = (requests, syncs)
    return found, "" if done.returncode == 0 else done.stderr.strip()[-200:] or done.stdout[-200:]


def whole(log: object) -> Iterator[str]:
    """Yield the lines of strace, unfinished calls joined with their ends."""
    begun: dict[str, str] = {}
    for text in log:  # type: ignore[attr-defined]
        process = text.split(" ", 1)[0]
        if "<unfinished ...>" in text:
            begun[process] = text.split("<unfinished")[0].rstrip()
        elif "resumed>" in text:
            yield f"{begun.pop(process, process)} {text.split('resumed>', 1)[1]}"
        else:
            yield text


def compared(file: Path, below: Path) -> str:
    """Return how the requests of a job file by both differ."""
    with tempfile.TemporaryDirectory(dir=below) as name:
        directory = Path(name).resolve()
        short = directory / file.name
        short.write_text(shortened(file.read_text(encoding="utf-8")), encoding="utf-8")
        fio = ["fio", str(short), f"--directory={directory}", "--allow_file_create=1"]
        ours = [sys.executable, "-m", "headrace", "bench", str(short), str(directory)]
        by_fio, error = traced(fio, directory)
        if error:
            return f"fio: {error.splitlines()[0]}"
        for path in directory.iterdir():
            if path != short and path.is_file():
                path.unlink()
        options = ["--file-size", SIZE, "--no-store"]
        by_us, error = traced([*ours, *options], directory)
        if error:
            return f"headrace: {error.splitlines()[-1]}"
    return difference(signatures(by_fio), signatures(by_us))


def signatures(requests: Requests) -> list[tuple[Counter[tuple[str, int, int]], int]]:
    """Return the requests of each file, in an order that does not depend on names."""
    return sorted(requests.values(), key=lambda one: (sorted(one[0].items()), one[1]))


def difference(
    fio: list[tuple[Counter[tuple[str, int, int]], int]],
    ours: list[tuple[Counter[tuple[str, int, int]], int]],
) -> str:
    """Say how far two lists of files' requests are the same."""
    if fio == ours:
        return f"same requests: {sum(sum(one[0].values()) for one in fio)} in {len(fio)} files"
    sums = [totals(files) for files in (fio, ours)]
    if sums[0] == sums[1]:
        return f"same counts, bytes and syncs: {sums[0]} in {len(fio)} and {len(ours)} files"
    if [both(one) for one in sums] == [both(sums[0])] * 2:
        return f"same counts and bytes, reads and writes drawn: {both(sums[0])}"
    return f"fio {sums[0]} in {len(fio)} files, headrace {sums[1]} in {len(ours)}"


def totals(files: list[tuple[Counter[tuple[str, int, int]], int]]) -> dict[str, int]:
    """Return counts and bytes of reads and writes, and the syncs."""
    sums: Counter[str] = Counter()
    for requests, syncs in files:
        sums["syncs"] += syncs
        for (way, _, size), count in requests.items():
            sums[f"{way}s"] += count
            sums[f"bytes of {way}s"] += count * size
    return {name: count for name, count in sorted(sums.items()) if count}


def both(sums: dict[str, int]) -> tuple[int, int]:
    """Return requests and bytes of reads and writes together."""
    ways = ("reads", "writes")
    return (
        sum(sums.get(way, 0) for way in ways),
        sum(sums.get(f"bytes of {way}", 0) for way in ways),
    )


def main() -> None:
    """Compare the job files of the command line."""
    below, *files = map(Path, sys.argv[1:])
    below = below.resolve()
    os.environ.setdefault("HEADRACE_STORE", str(below / "store"))
    for file in files:
        print(f"{file.name}: {compared(file, below)}", flush=True)


if __name__ == "__main__":
    main()
