//! Cases that users wanted to express, run from the text as they write it.

use std::path::{Path, PathBuf};

use headrace_trace::Operation;

use crate::running::{close, run, station};

/// A trace in a file of its own.
fn trace(name: &str, text: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&file, text).unwrap();
    file
}

/// Requests of libaio, as a database makes them. strace prints file, place and size of each, and
/// the simulation moves as many bytes at the same places.
#[test]
fn requests_of_libaio_are_replayed() {
    let file = trace(
        "libaio.strace",
        concat!(
            "700 1600000000.000100 openat(AT_FDCWD</srv>, \"/srv/ib.dat\", O_RDWR|O_DIRECT) = ",
            "5</srv/ib.dat> <0.000020>\n",
            "700 1600000000.000200 io_submit(0x7f00aa, 2, [{aio_data=0x1, ",
            "aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=5</srv/ib.dat>, aio_buf=\"\\0\\0\"..., ",
            "aio_nbytes=16384, aio_offset=32768}, {aio_data=0x2, aio_lio_opcode=IOCB_CMD_PREAD, ",
            "aio_fildes=5</srv/ib.dat>, aio_buf=0x7f00bb, aio_nbytes=4096, aio_offset=65536}]) = 2 ",
            "<0.000030>\n",
            "700 1600000000.000300 io_getevents(0x7f00aa, 1, 256, [{data=0x1, obj=0x55, res=16384, ",
            "res2=0}, {data=0x2, obj=0x56, res=4096, res2=0}], NULL) = 2 <0.000400>\n",
            "700 1600000000.000800 close(5</srv/ib.dat>) = 0 <0.000010>\n",
        ),
    );
    for system in ["pvfs2", "lustre-2.15"] {
        let text = format!(
            r#"
            system = {system:?}
            [clients]
            count = 1
            kind = "simple"
            [servers]
            count = 2
            device = {{ read_rate = "100 MB/s", write_rate = "100 MB/s" }}
            [network]
            bandwidth = "1 Gbit/s"
            latency = "0.1 ms"
            [[workload]]
            kind = "trace"
            file = {file:?}
            "#
        );
        let outcome = run(&text, &[]);
        let moved = |wanted| {
            let requests = outcome.requests.iter().map(|it| it.request);
            let found = requests.filter(|it| it.operation == wanted);
            found.map(|it| (it.offset, it.size)).collect::<Vec<_>>()
        };
        assert_eq!(moved(Operation::Write), [(32_768, 16_384)]);
        assert_eq!(moved(Operation::Read), [(65_536, 4096)]);
    }
}

/// mdtest of small files over NFS. Each close sends a file's data and has it stored, 5 ms a file on
/// this disk, besides 0.4 ms for names and messages.
#[test]
fn small_files_over_nfs_reach_the_disk_when_they_are_closed() {
    let outcome = run(
        r#"
        system = "nfs"
        [clients]
        count = 1
        [servers]
        count = 1
        device = { read_rate = "100 MB/s", write_rate = "100 MB/s", time_per_request = "5 ms" }
        [metadata]
        time_per_operation = "0.2 ms"
        [network]
        bandwidth = "1 Gbit/s"
        latency = "100 us"
        [[workload]]
        kind = "mdtest"
        files = 1000
        bytes = "4 KiB"
        phases = ["create"]
        "#,
        &[],
    );
    assert!(station(&outcome, "device").visits >= 1000);
    let seconds = outcome.report.simulated_seconds;
    assert!((5.4..12.0).contains(&seconds), "{seconds}");
}

/// A log that is written and synced twice takes as long as the same calls of IOR.
#[test]
fn a_replayed_fsync_reaches_the_disk() {
    let file = trace(
        "replayed-fsync.csv",
        "time,process,operation,file,offset,size,duration\n\
         0.0,a,create,/log,0,0,0\n\
         0.0,a,write,/log,0,4096,0\n\
         0.0,a,sync,/log,0,0,0\n\
         0.0,a,write,/log,4096,4096,0\n\
         0.0,a,sync,/log,0,0,0\n\
         0.0,a,close,/log,0,0,0\n",
    );
    let machine = r#"
        kind = "local"
        system = "ext4"
        [clients]
        count = 1
        [machine.device]
        kind = "simple"
        read_rate = "100 MB/s"
        write_rate = "100 MB/s"
        time_per_request = "8 ms"
        [[workload]]
    "#;
    let replayed = run(
        &format!("{machine}kind = \"trace\"\nfile = {file:?}\n"),
        &[],
    );
    let calls =
        "block = \"8 KiB\"\ntransfer = \"4 KiB\"\nsync_per_write = true\nphases = [\"write\"]\n";
    let made = run(&format!("{machine}{calls}"), &[]);
    let [replayed, made] = [replayed, made].map(|it| {
        let visits = station(&it, "device").visits;
        (it.report.simulated_seconds, visits)
    });
    assert_eq!(replayed.1, made.1);
    // The trace makes the file, which changes blocks of 4 KiB more.
    close(replayed.0, made.0, 0.01);
    close(made.0, 0.0645, 0.01);
}
