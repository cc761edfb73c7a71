"""The measured cases as scenarios."""

from typing import Any

from calibration import Parameters

DISKS = {
    "seq60": 'read_rate = "60 MB/s"\nwrite_rate = "60 MB/s"',
    "hdd150": 'read_rate = "150 MB/s"\nwrite_rate = "150 MB/s"\n'
    "read_operations = 400\nwrite_operations = 400",
}

MACHINE = """\
name = "linux-local"
system = "{fs}"

[machine.cpu]
cores = 2
# Measured with glibc on a like machine: a loop of getc and putc, less the system calls.
library_call = "2.5 ns"

[machine.copying]
l2 = "2 MiB"
# The largest calibrated block, 1 MiB, is copied at the speed of the smallest.
l2_share = 0.5
l3 = "105 MiB"

[machine.memory]
size = "24 GiB"
# ext4 has folios of up to 1 MiB since Linux 6.16; data=journal has none.
largest_folio = "{folio}"

[machine.write_back]
background_bytes = "100 MiB"
bytes = "200 MiB"
# The image of the loop device is dirty too: 28 to 44 MiB of it were seen.
below = "36 MiB"

[machine.read_ahead]
window = "2560 KiB"

[machine.file_system.journal]
mode = "{mode}"
size = "64 MiB"

[machine.device]
kind = "throttled"
rate = "2 GB/s"
largest_request = "1280 KiB"
{disk}
"""


def text(row: dict[str, Any]) -> str:
    """Return the scenario of a measured case."""
    mode = {"-": "log"}.get(row["journal"], row["journal"])
    machine = MACHINE.format(
        fs=row["fs"],
        mode=mode,
        folio="4 KiB" if mode == "journal" else "1 MiB",
        disk=DISKS[row["disk"]],
    )
    return machine + "\n[[workload]]\n" + workload(row)


def workload(row: dict[str, Any]) -> str:
    """Return the workload of the measuring program."""
    case, block, count = row["case"], row["block_bytes"], row["count"]
    if case in ("create", "unlink"):
        names = '["create"]' if case == "create" else '["create", "unlink"]'
        return f'kind = "mdtest"\nfiles = {count}\nphases = {names}\n'
    size = row["file_bytes"] or row["bytes"]
    lines = [f'transfer = "{block} B"']
    if case.startswith("rand") or case == "byte_read":
        requests = count or row["ops"]
        lines += ['order = "uniform"', f"requests = {requests}"]
        size = row["file_bytes"] or 128 << 20
    elif case in ("fgetc", "fread", "seqread"):
        size = row["bytes"]
    lines.append(f'block = "{size} B"')
    writes = any(word in case for word in ("write", "append", "fputc"))
    phases = ["write" if writes else "read"]
    if case.endswith("_fsync") and case != "append_fsync":
        phases.append("sync")
    lines.append(f"phases = {phases}".replace("'", '"'))
    if case == "append_fsync":
        lines.append("sync_per_write = true")
    lines.append("[workload.io]")
    lines.append(f"cached = {str(is_cached(row)).lower()}")
    lines.append(f"existing = {str(row['state'] != 'fresh').lower()}")
    lines.append(f"synchronous = {str(case.endswith('_sync')).lower()}")
    lines.append(f"direct = {str(row['state'] == 'direct').lower()}")
    if case in ("fread", "fwrite", "fgetc", "fputc"):
        lines.append('interface = "library"')
    return "\n".join(lines) + "\n"


def is_cached(row: dict[str, Any]) -> bool:
    """Return True if the file's pages are cached at the start of the case.

    The cases were measured in the order of the table, most on one file. In ordered mode the random
    and synchronous rewrites follow the cold random reads, which had cached only the pages they
    read.
    """
    after_cold = row["journal"] == "ordered" and row["group"] in ("randwritefsync", "syncwrite")
    return row["state"] == "warm" and not after_cold


def sets(parameters: Parameters) -> dict[str, str]:
    """Return the calibrated fields."""
    return parameters.sets()
