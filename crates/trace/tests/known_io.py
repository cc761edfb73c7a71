"""Do file operations of every kind in the first directory, and log them in the second.

Each has one JSON line: [thread, operation, file, offset, size]. Positions are those of the kernel
(/proc). So neither this program's arithmetic nor extra seeks in the trace can hide an error.
"""

import fcntl
import json
import os
import sys
import threading

data, truth = sys.argv[1:]
log: list[list[object]] = []


def position(fd: int) -> int:
    with open(f"/proc/self/fdinfo/{fd}") as info:
        return int(info.readline().split()[1])


def name(fd: int) -> str:
    return os.path.basename(os.readlink(f"/proc/self/fd/{fd}").removesuffix(" (deleted)"))


def note(operation: str, file: str, offset: int = 0, size: int = 0) -> None:
    log.append([threading.get_native_id(), operation, file, offset, size])


def opened(file: str, flags: int) -> int:
    fd = os.open(os.path.join(data, file), flags, 0o644)
    note("create" if flags & os.O_CREAT else "open", file)
    return fd


def close(fd: int) -> None:
    note("close", name(fd))
    os.close(fd)


def read(fd: int, size: int) -> None:
    count = len(os.read(fd, size))
    note("read", name(fd), position(fd) - count, count)


def write(fd: int, size: int) -> None:
    os.write(fd, b'"<)> = 3\\\n' * (size // 10) + b"x" * (size % 10))
    note("write", name(fd), position(fd) - size, size)


def seek(fd: int, offset: int, whence: int) -> None:
    os.lseek(fd, offset, whence)
    note("seek", name(fd), position(fd))


def finish() -> None:
    with open(os.path.join(truth, str(os.getpid())), "w") as file:
        file.writelines(json.dumps(entry) + "\n" for entry in log)


# Positions: read, write, seek in every way.
a = opened('a "<odd>" \\name\n, ü', os.O_RDWR | os.O_CREAT | os.O_TRUNC)
write(a, 10_000)
seek(a, -1000, os.SEEK_END)
read(a, 300)
seek(a, 100, os.SEEK_CUR)
read(a, 4096)
read(a, 4096)
seek(a, 50, os.SEEK_SET)

# Positions given: they move nothing.
note("read", name(a), 20, len(os.pread(a, 10, 20)))
note("write", name(a), 12_000, os.pwrite(a, b"y" * 77, 12_000))
note("read", name(a), 5, os.preadv(a, [bytearray(6), bytearray(7)], 5))
note("write", name(a), 9, os.pwritev(a, [b"1", b"22"], 9, os.RWF_DSYNC))
read(a, 10)
count = os.readv(a, [bytearray(100), bytearray(23)])
note("read", name(a), position(a) - count, count)
count = os.writev(a, [b"abc", b"defg"])
note("write", name(a), position(a) - count, count)

# Descriptors that share one position, and one that does not.
b = os.dup(a)
read(b, 11)
c = fcntl.fcntl(a, fcntl.F_DUPFD_CLOEXEC, 100)
read(c, 12)
d = os.dup2(a, 60)
read(d, 13)
seek(d, 500, os.SEEK_SET)
read(a, 14)
e = opened(name(a), os.O_RDONLY)
read(e, 15)
read(a, 16)
close(b)
read(a, 17)
os.dup2(e, d)
read(d, 18)
read(e, 19)

# Appending: to a new file, a file of known length, through another's end.
f = opened("log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
write(f, 123)
g = opened("log", os.O_RDWR)
seek(g, 1000, os.SEEK_SET)
write(g, 24)
write(f, 5)
note("write", "log", 1029, os.pwrite(f, b"appended all the same", 3))
os.ftruncate(g, 600)
note("truncate", "log", 600)
write(f, 7)
fcntl.fcntl(g, fcntl.F_SETFL, os.O_APPEND)
write(g, 8)
close(g)

# Copies within the kernel.
h = opened("copy", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
seek(a, 1000, os.SEEK_SET)
count = os.copy_file_range(a, h, 200)
note("read", name(a), 1000, count)
note("write", "copy", 0, count)
count = os.copy_file_range(a, h, 50, 30, 4000)
note("read", name(a), 30, count)
note("write", "copy", 4000, count)
count = os.sendfile(h, a, 40, 64)
note("read", name(a), 40, count)
note("write", "copy", 200, count)
count = os.sendfile(h, a, None, 65)
note("read", name(a), 1200, count)
note("write", "copy", 264, count)
pipe = os.pipe()
count = os.splice(a, pipe[1], 66)
note("read", name(a), 1265, count)
count = os.splice(pipe[0], h, 66, offset_dst=7)
note("write", "copy", 7, count)

# Names: relative paths, renamed and removed while open.
os.chdir(data)
os.mkdir("directory")
note("mkdir", "directory")
os.rename("copy", "directory/moved")
note("rename", "copy")
write(h, 9)
os.unlink("directory/moved")
note("unlink", "moved")
write(h, 10)
close(h)
os.rmdir("directory")
note("rmdir", "directory")
try:
    os.open("missing", os.O_RDONLY)
except FileNotFoundError:
    note("open", "missing")
os.stat("./log")
note("stat", "log")
os.symlink("log", "link")
note("symlink", "link")
os.readlink("link")
note("readlink", "link")
os.chmod("log", 0o600)
note("setattr", "log")
os.truncate("log", 10)
note("truncate", "log", 10)
os.fsync(f)
note("sync", "log")
os.posix_fallocate(f, 100, 50)
note("allocate", "log", 100, 50)
write(f, 11)

# A child shares the position of what it inherits, in both directions.
seek(a, 2000, os.SEEK_SET)
before = list(log)
child = os.fork()
if child == 0:
    log.clear()
    read(a, 21)
    i = opened("of child", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    write(i, 22)
    close(a)
    finish()
    os._exit(0)
os.waitpid(child, 0)
read(a, 23)


# Threads share the descriptors: this one is closed and opened by others.
def work(size: int) -> None:
    global e
    read(a, size)
    close(e)
    e = opened("log", os.O_RDONLY)
    read(e, size)


for size in (31, 32, 33):
    thread = threading.Thread(target=work, args=(size,))
    thread.start()
    thread.join()
read(e, 5)
read(a, 34)

# A program that is executed keeps what is not marked close-on-exec.
os.set_inheritable(f, True)
# This falls within strace's own output, where that goes to standard error.
os.write(2, b"a line of the program\nand another\n")
finish()
if os.fork() == 0:
    os.execvp("sh", ["sh", "-c", f"printf 1234567 >&{f}; printf 89 >&{f}"])
os.wait()
