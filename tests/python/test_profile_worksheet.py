"""MachineFacts of a machine for the worksheet of a profile, from recorded texts."""

import os
from pathlib import Path

import msgspec
import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace.environment import memory_bytes
from headrace.profile import worksheet

CPUINFO = "".join(
    f"""processor\t: {number}
vendor_id\t: GenuineIntel
model name\t: Intel(R) Xeon(TM) CPU 2.60GHz
physical id\t: {3 * (number // 2)}
siblings\t: 2
core id\t\t: 0
cpu cores\t: 1
flags\t\t: fpu vme

"""
    for number in range(4)
)
"""Two sockets of one core each, with two threads a core."""
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\n\nprocessor\t: 1\nBogoMIPS\t: 50.00\n\n"
MDSTAT = """Personalities : [raid0] [raid1] [raid6] [raid5] [raid4]
md127 : active (auto-read-only) raid5 sdd1[3](F) sdc1[1] sdb1[0] sde[4](S)
      976508928 blocks super 1.2 level 5, 512k chunk, algorithm 2 [3/2] [UU_]
      bitmap: 1/8 pages [4KB], 65536KB chunk

md0 : active raid0 nvme0n1p2[0] nvme1n1p2[1]
      71132928 blocks 256k chunks

md3 : active raid1 sdg1[1](W) sdf1[0]
      976630336 blocks super 1.2 [2/2] [UU]
      [=>...................]  resync =  6.1% (60000000/976630336) finish=80.1min

md1 : inactive sdz[0](S)
      1000 blocks super 1.2

unused devices: <none>
"""


def test_threads_of_a_core_count_once() -> None:
    found = worksheet.processors(CPUINFO)
    assert found == worksheet.Processors("Intel(R) Xeon(TM) CPU 2.60GHz", 2, 2, 4)


def test_a_processor_without_topology_has_threads_only() -> None:
    assert worksheet.processors(ARM) == worksheet.Processors(None, None, None, 2)
    assert worksheet.processors("") == worksheet.Processors(None, None, None, 0)


def test_memory_is_in_bytes() -> None:
    assert memory_bytes("MemTotal:        2075608 kB\nMemFree: 1 kB\n") == 2125422592
    assert memory_bytes("MemFree: 1 kB\n") is None


def test_arrays_have_level_chunk_and_members() -> None:
    found = {it.name: it for it in worksheet.arrays(MDSTAT)}
    assert list(found) == ["md0", "md1", "md127", "md3"]
    assert found["md0"] == worksheet.Array(
        "md0", "active", "raid0", 256 * 1024, ["nvme0n1p2", "nvme1n1p2"]
    )
    assert found["md127"] == worksheet.Array(
        *("md127", "active (auto-read-only)", "raid5", 512 * 1024),
        *(["sdb1", "sdc1", "sdd1", "sde"], ["sdd1"], ["sde"]),
    )
    assert found["md1"] == worksheet.Array("md1", "inactive", None, None, ["sdz"], [], ["sdz"])
    # A bitmap's chunk is none of the array's.
    assert found["md3"].level == "raid1" and found["md3"].chunk_bytes is None
    assert found["md3"].members == ["sdf1", "sdg1"]
    assert worksheet.arrays("Personalities : \nunused devices: <none>\n") == []


@given(st.text(alphabet=st.sampled_from("md0 :activerd[1](FS)\n5k,chunk"), max_size=200))
def test_any_text_is_read(text: str) -> None:
    worksheet.arrays(text)
    worksheet.processors(text)
    assert memory_bytes(text) is None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A recorded machine: an array of two disks, one of them behind a partition, and a network."""

    def write(path: str, text: str) -> None:
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    write("proc/cpuinfo", CPUINFO)
    write("proc/meminfo", "MemTotal:        2075608 kB\n")
    write("proc/mdstat", MDSTAT)
    for name, size, rotational in (("sda", 200, 1), ("nvme0n1", 400, 0), ("loop0", 9, 0)):
        write(f"sys/block/{name}/size", f"{size}\n")
        write(f"sys/block/{name}/queue/rotational", f"{rotational}\n")
    write("sys/block/sda/device/model", "ST336753LW éè\n")
    write("sys/block/sdb/size", "0\n")
    write("sys/block/md0/size", "500\n")
    write("sys/block/md0/slaves/sda/x", "")
    write("sys/block/md0/slaves/nvme0n1p2/x", "")
    write("sys/block/dm-0/size", "100\n")
    write("sys/block/dm-0/dm/name", "vg-data\n")
    write("sys/block/dm-0/slaves/md0/x", "")
    write("sys/class/net/lo/type", "772\n")
    for name, speed in (("eth0", "1000\n"), ("eth1", "-1\n")):
        write(f"sys/class/net/{name}/type", "1\n")
        write(f"sys/class/net/{name}/speed", speed)
        write(f"sys/class/net/{name}/duplex", "full\n" if speed[0] != "-" else "unknown\n")
        write(f"sys/class/net/{name}/mtu", "1500\n")
        write(f"sys/class/net/{name}/operstate", "up\n")
    write("sys/bus/drivers/e1000/x", "")
    (tmp_path / "sys/class/net/eth0/device").mkdir()
    os.symlink(tmp_path / "sys/bus/drivers/e1000", tmp_path / "sys/class/net/eth0/device/driver")
    return tmp_path


def test_devices_and_interfaces_are_found(root: Path) -> None:
    found = worksheet.facts(root=root)
    assert found.storage is None
    disks = {it.name: it for it in found.disks}
    assert disks.keys() == {"dm-0", "md0", "nvme0n1", "sda"}
    assert disks["sda"] == worksheet.Disk("sda", "ST336753LW éè", 200 * 512, True, [])
    assert disks["dm-0"].model == "vg-data" and disks["dm-0"].made_of == ["md0"]
    assert disks["nvme0n1"].rotational is False and disks["md0"].rotational is None
    first, second = found.interfaces
    assert first == worksheet.Interface("eth0", 1e9, "full", "e1000", 1500, "up")
    assert second.bits_per_s is None and second.duplex is None
    # As they are stored, and read again.
    assert worksheet.facts_of({"worksheet": msgspec.to_builtins(found)}) == found
    assert worksheet.facts_of({}) == worksheet.MachineFacts()
    with pytest.raises(ValueError, match="disks = 7: expected a list"):
        worksheet.facts_of({"worksheet": {"disks": 7}})


def test_a_volume_is_followed_down_to_its_disks(root: Path) -> None:
    disks = worksheet.block_devices(root / "sys/block")
    assert worksheet.devices_below("dm-0", disks) == ["dm-0", "md0", "nvme0n1", "sda"]
    assert worksheet.devices_below("sda7", disks) == ["sda"]
    assert worksheet.devices_below("nvme0n1p2", disks) == ["nvme0n1"]
    assert worksheet.devices_below("md0p1", disks) == ["md0", "nvme0n1", "sda"]
    assert worksheet.devices_below("other3", disks) == ["other3"]


def test_a_machine_without_any_file_has_unknown_facts(tmp_path: Path) -> None:
    found = worksheet.facts(root=tmp_path)
    assert found.memory_bytes is None
    assert not (found.arrays or found.disks or found.interfaces)


def test_this_machine_agrees_with_the_kernel(tmp_path: Path) -> None:
    found = worksheet.facts(tmp_path)
    assert found.memory_bytes == psutil.virtual_memory().total
    assert found.processors is not None and found.processors.threads == psutil.cpu_count()
    names = {it.name for it in found.interfaces}
    assert names == {name for name in os.listdir("/sys/class/net") if name != "lo"} - {
        name for name in os.listdir("/sys/class/net") if not Path("/sys/class/net", name).is_dir()
    }
    assert found.storage is not None and found.storage.file_system
    assert found.storage.directory == str(tmp_path.resolve())
    with pytest.raises(FileNotFoundError):
        worksheet.facts(tmp_path / "none")
