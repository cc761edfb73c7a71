//! Rebuilding a member of an array whose disks move 100 MB/s and take no time
//! besides.

use crate::devices::{Ask, device, drive_net, end, read};
use crate::running::close;
use headrace_storage::device;

const MILLISECOND: u64 = 1_000_000_000;

fn raid(level: u32, disks: u32, failed: &str, rebuild: &str) -> headrace_spec::Device {
    device(&format!(
        "kind = \"raid\"\nlevel = {level}\ndisks = {disks}\nchunk = \"64 KiB\"\n\
         failed = {failed}\n[servers.device.rebuild]\nchunk = \"1 MB\"\n{rebuild}\n\
         [servers.device.member]\nread_rate = \"100 MB/s\"\nwrite_rate = \"100 MB/s\""
    ))
}

/// Returns the end of the members' work, and the transfers of the members and of the station
/// "rebuild".
fn run(raid: &headrace_spec::Device, script: &[Ask]) -> (u64, u64, u64) {
    let (log, net) = drive_net(script, 1, |page| device::build(page, raid));
    let reports = net.reports();
    let of = |name: &str| {
        let all = reports.iter().filter(|it| it.path.ends_with(name));
        all.map(|it| it.arrivals).sum()
    };
    let last = net.now().0.max(if log.is_empty() { 0 } else { end(&log) });
    (last, of("disk/device"), of("array/rebuild"))
}

/// A chunk takes 10 ms to read and 10 ms to write. At 20 MB/s one begins each
/// 50 ms: the last of 200 at 9.95 s.
#[test]
fn an_idle_array_is_rebuilt_at_the_rate() {
    for (level, disks, failed, sources) in [
        (1, 2, "[1]", 1),
        (5, 5, "[3]", 4),
        (6, 6, "[3]", 4),
        (6, 6, "[0, 3]", 4),
        (10, 4, "[3]", 1),
    ] {
        let it = raid(
            level,
            disks,
            failed,
            "disk = 3\nrate = \"20 MB/s\"\nsize = \"200 MB\""
                .replace("disk = 3", if level == 1 { "disk = 1" } else { "disk = 3" })
                .as_str(),
        );
        let (last, transfers, chunks) = run(&it, &[]);
        // Idle buffers are notified at the next times of a buffer's end.
        assert!(last >= 9_970 * MILLISECOND, "level {level}: {last}");
        assert_eq!(transfers, 200 * (sources + 1), "level {level}");
        // Each of the buffers comes once more and finds none.
        assert!(
            (200..=200 + 32).contains(&chunks),
            "level {level}: {chunks}"
        );
        // The same chunk by chunk, as fast as it goes: 200 times 20 ms.
        let it = raid(
            level,
            disks,
            failed,
            &format!(
                "disk = {}\nchunks = 1\nsize = \"200 MB\"",
                if level == 1 { 1 } else { 3 }
            ),
        );
        let (last, _, chunks) = run(&it, &[]);
        assert_eq!(last, 200 * 20 * MILLISECOND, "level {level}");
        assert_eq!(chunks, 201);
    }
}

/// With several in progress the survivors are read while the spare is written:
/// all of a device of a TiB at its own rate.
#[test]
fn chunks_under_way_keep_all_disks_busy() {
    let it = raid(5, 3, "[0]", "disk = 0\nchunks = 4\nsize = \"1 GB\"");
    let (last, ..) = run(&it, &[]);
    assert_eq!(last, 10_000 * MILLISECOND + 10 * MILLISECOND);
    let all = raid(5, 3, "[0]", "disk = 0").clone();
    let headrace_spec::Device::Raid(mut whole) = all else {
        panic!("an array");
    };
    whole.rebuild.chunk = headrace_spec::Bytes(1 << 30);
    let (last, transfers, _) = run(&headrace_spec::Device::Raid(whole), &[]);
    close(
        last as f64 * 1e-12,
        ((1_u64 << 40) + (1 << 30)) as f64 / 100e6,
        1e-9,
    );
    assert_eq!(transfers, 1024 * 3);
}

/// A quarter of the time: 20 ms of work, 60 ms of rest.
#[test]
fn a_share_of_the_time_is_rebuilt_in() {
    let it = raid(
        5,
        3,
        "[0]",
        "disk = 0\nchunks = 1\nshare = 0.25\nsize = \"10 MB\"",
    );
    let (last, ..) = run(&it, &[]);
    assert_eq!(last, 10 * 80 * MILLISECOND);
}

/// Chunk 0 of member 0 is read from the two others until it is rebuilt, 20 ms
/// after the start, and from the spare then.
#[test]
fn what_is_rebuilt_is_read_from_the_spare() {
    let it = raid(
        5,
        3,
        "[0]",
        "disk = 0\nchunks = 1\nrate = \"1 MB/s\"\nsize = \"3 MB\"",
    );
    let (_, before, _) = run(&it, &[]);
    let (_, early, _) = run(&it, &[read(0, 4096).at(MILLISECOND)]);
    let (_, late, _) = run(&it, &[read(0, 4096).at(30 * MILLISECOND)]);
    assert_eq!((before, early, late), (9, 11, 10));
}

/// Rebuilding takes from what others get, and goes on beside them.
#[test]
fn rebuilding_slows_others_and_ends() {
    let script: Vec<Ask> = (0..2000)
        .map(|n| read((n * 7919) % 10_000 * 65_536, 65_536))
        .collect();
    let time = |rebuild: &str| {
        let it = raid(5, 5, "[2]", rebuild);
        let (log, _) = drive_net(&script, 4, |page| device::build(page, &it));
        end(&log) as f64
    };
    let alone = time("");
    let slow = time("disk = 2\nrate = \"20 MB/s\"\nsize = \"1 GB\"");
    let fast = time("disk = 2\nsize = \"1 GB\"");
    assert!(
        alone < 0.95 * slow && slow < 0.95 * fast,
        "{alone} {slow} {fast}"
    );
}
