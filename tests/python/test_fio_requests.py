"""Requests of fio's job files, beside those that fio makes itself."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benches/load/fio_requests.py"
JOBS = {
    "in order": "[a]\nrw=write\nbs=64k\nend_fsync=1\n[b]\nstonewall\nrw=read\nbs=4k\nnumjobs=2\n",
    "gaps": "[a]\nrw=read:12k\nbs=4k\n",
    "backwards": "[a]\nrw=read:-8k\nbs=4k\n",
    "each block once": "[a]\nrw=randwrite\nbs=8k\nfsync=16\n",
    "loops": "[a]\nrw=randread\nbs=8k\nloops=2\n",
    "files": "[a]\nrw=randread\nnrfiles=5\nfile_service_type=sequential\n",
    "zones": "[a]\nrw=read\nbs=16k\nzonemode=strided\nzonesize=64k\nzoneskip=192k\n",
    "offsets": "[a]\nrw=read\nbs=32k\noffset=256k\nfilename=x\nnumjobs=3\noffset_increment=256k\n",
    "verified": "[a]\nrw=write\nbs=16k\nverify=crc32c\n",
    "more than a file": "[a]\nrw=write\nbs=64k\nio_size=5m\n",
    "together": "[a]\nrw=read\nbs=64k\nfilename=x:y\n[b]\nrw=randread\nfilename=x:y\n",
}


def comparison() -> Any:
    spec = importlib.util.spec_from_file_location("fio_requests", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", JOBS)
def test_files_get_the_requests_that_fio_makes(name: str, tmp_path: Path) -> None:
    for program in ("fio", "strace"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (tools/install-test-programs)")
    file = tmp_path / "job.fio"
    file.write_text(f"[global]\nioengine=psync\nsize=2m\n{JOBS[name]}")
    assert comparison().compared(file, tmp_path).startswith("same requests: ")
