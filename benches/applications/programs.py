"""Programs whose runs are predicted: each with what makes its input, and its command line."""

import shlex
import sys
from dataclasses import dataclass

PYTHON = shlex.quote(sys.executable)


@dataclass(frozen=True)
class Program:
    """A program that works in its current directory."""

    command: tuple[str, ...]
    prepare: str | None = None
    """Shell command that makes the input in the same directory; not measured."""
    needs: str = ""
    """Command that has to be installed."""


def python(code: str) -> tuple[str, ...]:
    """Return the command that runs Python code."""
    return (sys.executable, "-c", code)


def made_by(code: str) -> str:
    """Return the shell command that runs Python code."""
    return f"{PYTHON} -c {shlex.quote(code)}"


SMALL_FILES = """
import pathlib, random
draw = random.Random(1)
for number in range({count}):
    folder = pathlib.Path("source") / f"d{{number % 40}}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"f{{number}}").write_bytes(draw.randbytes(draw.choice((700, 3000, 9000, 30000))))
"""
INSERTS = """
print("PRAGMA journal_mode=DELETE; PRAGMA synchronous=FULL; CREATE TABLE t (a INTEGER, b TEXT);")
for number in range(300):
    print(f"INSERT INTO t VALUES ({number}, '{'x' * 120}');")
"""
WRITERS = """
import multiprocessing, sqlite3
def write(writer):
    base = sqlite3.connect("base", timeout=60, isolation_level=None)
    base.execute("PRAGMA synchronous=FULL")
    for number in range(100):
        base.execute("INSERT INTO t VALUES (?, ?)", (writer, "x" * 120))
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(4) as pool:
        pool.map(write, range(4), chunksize=1)
"""
BASE = """
import sqlite3
base = sqlite3.connect("base")
base.execute("PRAGMA journal_mode=WAL")
base.execute("CREATE TABLE t (a INTEGER, b TEXT)")
"""
C_FILES = r"""
import pathlib
for number in range(40):
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>"]
    lines += [
        f"int f{number}_{at}(int *v, int n) {{ int s = {at}; for (int i = 0; i < n; i++) "
        f"s += v[i] * {at + 3} ^ (s >> {at % 7}); return s; }}" for at in range(150)
    ]
    pathlib.Path(f"f{number}.c").write_text("\n".join(lines) + "\n")
pathlib.Path("main.c").write_text("int main(void) { return 0; }\n")
objects = " ".join(f"f{number}.o" for number in range(40))
pathlib.Path("Makefile").write_text(f"program: main.o {objects}\n\t$(CC) -o $@ $^\n")
"""
ROWS = """
import random
draw = random.Random(2)
with open("rows.csv", "w") as file:
    file.write("key,value,text\\n")
    for _ in range(600_000):
        file.write(f"{draw.randrange(5000)},{draw.random():.6f},{draw.randrange(10**12):x}\\n")
"""
DATA_JOB = """
import polars as pl
rows = pl.read_csv("rows.csv")
rows.sort("value").write_parquet("sorted.parquet")
rows.group_by("key").agg(pl.col("value").mean(), pl.len()).sort("key").write_csv("means.csv")
"""
MAIL = """
import os
for name in ("tmp", "new", "cur"):
    os.makedirs(f"mail/{name}")
folder = os.open("mail/new", os.O_RDONLY)
for number in range(300):
    mail = os.open(f"mail/tmp/{number}", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.write(mail, b"y" * (2000 + number * 37 % 9000))
    os.fsync(mail)
    os.close(mail)
    os.rename(f"mail/tmp/{number}", f"mail/new/{number}")
    os.fsync(folder)
"""
LOG = """
import os
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_DSYNC)
for number in range(500):
    os.write(log, b"%08d %s\\n" % (number, b"z" * 90))
"""
PICKLE = """
import os, pickle
data = [os.urandom(1 << 20) for _ in range(400)]
with open("data.pickle", "wb") as file:
    pickle.dump(data, file, protocol=pickle.HIGHEST_PROTOCOL)
    file.flush()
    os.fsync(file.fileno())
"""
WORDS = """
import random
draw = random.Random(3)
with open("words", "w") as file:
    for _ in range(1_500_000):
        file.write(f"{draw.getrandbits(60):x}\\n")
"""
HISTORY = f"""
set -e
git init -q origin && cd origin
git config user.email a@example.org && git config user.name a
for part in 1 2 3 4 5; do
    {made_by(SMALL_FILES.format(count=120))}
    for file in source/*/*; do echo $part >> $file; done
    git add . && git commit -qm $part
done
"""

PROGRAMS = {
    "sqlite": Program(
        ("sh", "-c", "sqlite3 base < inserts.sql"), made_by(INSERTS) + " > inserts.sql", "sqlite3"
    ),
    "sqlite by 4 processes": Program(python(WRITERS), made_by(BASE)),
    "tar": Program(
        ("tar", "xf", "files.tar"),
        made_by(SMALL_FILES.format(count=5000)) + " && tar cf files.tar source && rm -r source",
        "tar",
    ),
    "git clone": Program(("git", "clone", "-q", "--no-local", "origin", "copy"), HISTORY, "git"),
    "pickle": Program(python(PICKLE)),
    "build": Program(("make", "-j2"), made_by(C_FILES), "make"),
    "rsync": Program(
        ("rsync", "-a", "source/", "copy/"), made_by(SMALL_FILES.format(count=2000)), "rsync"
    ),
    "video": Program(
        (
            *("ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=size=640x360:rate=25"),
            *("-t", "10", "-c:v", "libx264", "-threads", "2", "out.mp4"),
        ),
        needs="ffmpeg",
    ),
    "data job": Program(python(DATA_JOB), made_by(ROWS)),
    "mail directory": Program(python(MAIL)),
    "log with O_DSYNC": Program(python(LOG)),
    "sort": Program(
        ("sort", "-S", "8M", "-T", ".", "-o", "sorted", "words"), made_by(WORDS), "sort"
    ),
}
"""The programs by name."""
SYNCHRONOUS = ("sqlite", "sqlite by 4 processes", "mail directory", "log with O_DSYNC")
"""Programs that mostly wait for synchronous writes."""
