"""The benchmarks that the pages offer: what each answers, and its main parameters."""

import msgspec


class Benchmark(msgspec.Struct, frozen=True):
    """A benchmark in the pages."""

    name: str
    """Last part of its address."""
    command: tuple[str, ...]
    title: str
    question: str
    """The question that it answers."""
    group: str
    main: tuple[str, ...]
    """Parameters that are shown at once, in this order. The others are folded."""
    directory: str | None = "directory"
    """Parameter that takes the directory."""
    composer: bool = False
    """Whether a mix can be composed."""
    scenario: str | None = None
    """Parameter that takes a scenario."""


BENCHMARKS = (
    Benchmark(
        "quick",
        ("bench", "quick"),
        "Quick check",
        "How many IOPS and MB/s does this directory give, and how long does a request take?",
        "First look",
        ("seconds", "file", "queue_depth", "processes"),
        directory="paths",
    ),
    Benchmark(
        "baseline",
        ("baseline",),
        "Baseline",
        "What can this machine and directory do, as a reference for profiles and predictions?",
        "First look",
        ("quick", "file"),
    ),
    Benchmark(
        "mix",
        ("bench", "mix"),
        "Load sweep of a mix",
        "Which load of a mix of file operations does the file system sustain, and how does the"
        " response time grow with the load?",
        "Load",
        ("rates", "clients", "seconds", "warm_up", "processes", "response_limit"),
        composer=True,
    ),
    Benchmark(
        "run",
        ("bench", "run"),
        "Workload of a scenario",
        "How does the real file system do under the workload that a scenario describes?",
        "Load",
        ("seconds", "repeats", "calls"),
        scenario="file",
    ),
    Benchmark(
        "tune",
        ("bench", "tune"),
        "Tune a mix",
        "Which file operations cause a given mix of NFS or CIFS operations?",
        "Load",
        ("profiler", "target", "step", "threshold", "rounds", "amount", "mixed", "files"),
    ),
    Benchmark(
        "sweep",
        ("bench", "sweep"),
        "File size by block size",
        "How does throughput depend on the sizes of files and blocks, as iozone measures it?",
        "Micro-benchmarks",
        ("files", "blocks", "direct", "repeats"),
    ),
    Benchmark(
        "blocks",
        ("bench", "blocks"),
        "Block sizes",
        "From which block size on do stable writes and uncached reads reach full throughput?",
        "Micro-benchmarks",
        ("file", "block_sizes", "processes", "direct", "repeats"),
    ),
    Benchmark(
        "disk",
        ("bench", "disk"),
        "Disk, as bonnie++",
        "How fast are characters, blocks, seeks and names for one process?",
        "Micro-benchmarks",
        ("file", "repeats"),
    ),
    Benchmark(
        "meta",
        ("bench", "meta"),
        "Metadata, as mdtest",
        "How many files a second can be created, looked up and removed?",
        "Micro-benchmarks",
        ("processes", "files", "file", "own", "repeats"),
    ),
    Benchmark(
        "copy",
        ("bench", "copy"),
        "Copy, as cp",
        "How fast is a large file, or a tree of files, copied?",
        "Micro-benchmarks",
        ("file", "block", "tree", "directories", "files", "sizes", "repeats"),
    ),
    Benchmark(
        "clients",
        ("bench", "clients"),
        "Own files and a shared file",
        "What do parallel processes gain with files of their own, and what with a shared file?",
        "Sharing",
        ("processes", "file", "block", "direct", "repeats"),
    ),
    Benchmark(
        "sharing",
        ("bench", "mix"),
        "Sharing tests",
        "How fast do the processes of one client, or several clients, read and write one file at"
        " the same moment?",
        "Sharing",
        ("rates", "clients", "seconds", "warm_up"),
        composer=True,
    ),
    Benchmark(
        "network",
        ("bench", "net", "ask"),
        "Network",
        "How long do messages to another host take, and how many MB/s go through?",
        "Network",
        ("address", "token", "sizes", "seconds"),
        directory=None,
    ),
)
"""In the order of the page; groups in the order of their first benchmark."""


def benchmark(name: str) -> Benchmark | None:
    """Return the benchmark of this name."""
    return next((entry for entry in BENCHMARKS if entry.name == name), None)
