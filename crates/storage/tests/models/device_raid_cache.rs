//! A controller's cache of 1 GB/s before disks that take 1 ms and move 100 MB/s.

use crate::devices::{Ask, device, drive, drive_net, end, random, read, sync, write};
use crate::running::close;
use headrace_storage::device;

const MILLISECOND: u64 = 1_000_000_000;
/// 4 KiB through the cache, and on a disk.
const FAST: u64 = 4096 * 1000;
const SLOW: u64 = MILLISECOND + 4096 * 10_000;

fn raid(level: u32, disks: u32, cache: &str) -> headrace_spec::Device {
    device(&format!(
        "kind = \"raid\"\nlevel = {level}\ndisks = {disks}\nchunk = \"64 KiB\"\n\
         [servers.device.cache]\nrate = \"1 GB/s\"\n{cache}\n\
         [servers.device.member]\nread_rate = \"100 MB/s\"\nwrite_rate = \"100 MB/s\"\n\
         time_per_request = \"1 ms\""
    ))
}

/// Transfers that the members did.
fn members(raid: &headrace_spec::Device, script: &[Ask]) -> u64 {
    let (_, net) = drive_net(script, 1, |page| device::build(page, raid));
    let reports = net.reports();
    let disks = reports.iter().filter(|it| it.path.ends_with("disk/device"));
    disks.map(|it| it.arrivals).sum()
}

/// 8 MB are 1953 writes; then each has to wait for four transfers of eight disks.
#[test]
fn writes_are_as_fast_as_the_cache_until_it_is_full() {
    let mut random = random(7);
    let script: Vec<Ask> = (0..12_000)
        .map(|_| write(random(1 << 24) * 4096, 4096))
        .collect();
    let log = drive(&raid(5, 8, "size = \"8 MB\""), &script, 1);
    assert!(log[..1953].iter().all(|took| took.time() == FAST));
    assert!(log[1953..3000].iter().any(|took| took.time() > 10 * FAST));
    let late = (log[11_999].done - log[3999].done) as f64 * 1e-12;
    close(8000.0 / late, 8.0 / (4.0 * SLOW as f64 * 1e-12), 0.15);
}

/// Rows of 256 KiB, written 4 KiB at a time: five members are written once for
/// each, and nothing is read.
#[test]
fn stripes_are_gathered() {
    for (level, disks, transfers) in [(5, 5, 5), (6, 6, 6), (10, 8, 8), (0, 4, 4)] {
        let script: Vec<Ask> = (0..3 * 64).map(|n| write(n * 4096, 4096)).collect();
        let it = raid(level, disks, "size = \"64 MB\"");
        assert_eq!(members(&it, &script), 3 * transfers, "level {level}");
        // A full cache gathers as well.
        let it = raid(level, disks, "size = \"600 kB\"");
        assert_eq!(members(&it, &script), 3 * transfers, "level {level}");
    }
}

#[test]
fn what_is_held_is_read_from_the_cache() {
    let script = [
        read(0, 4096),
        read(0, 4096),
        write(1 << 20, 4096),
        read(1 << 20, 2048),
        read(1 << 20, 4097),
    ];
    let log = drive(&raid(5, 5, "size = \"1 MB\""), &script, 1);
    let times: Vec<u64> = log.iter().map(|took| took.time()).collect();
    assert_eq!(times[..4], [SLOW + FAST, FAST, FAST, FAST / 2]);
    assert!(times[4] > MILLISECOND);
    // More than it holds leaves it.
    let mut script: Vec<Ask> = (0..300).map(|n| read(n * 4096, 4096)).collect();
    script.extend([read(0, 4096), read(299 * 4096, 4096)]);
    let log = drive(&raid(5, 5, "size = \"1 MB\""), &script, 1);
    assert_eq!((log[300].time(), log[301].time()), (SLOW + FAST, FAST));
}

/// With a battery to synchronise costs nothing; without, writes go through.
#[test]
fn a_battery_makes_writes_fast() {
    let script = [write(0, 4096), sync(), write(0, 4096).forced()];
    let log = drive(&raid(5, 5, "size = \"1 MB\""), &script, 1);
    let times: Vec<u64> = log.iter().map(|took| took.time()).collect();
    assert_eq!(times, [FAST, 0, FAST]);
    for through in ["battery = false", "write_back = false"] {
        let it = raid(5, 5, &format!("size = \"1 MB\"\n{through}"));
        let log = drive(&it, &script, 1);
        assert_eq!(log[0].time(), FAST + 2 * SLOW, "{through}");
        assert_eq!(log[1].time(), MILLISECOND, "{through}");
        let log = drive(&it, &[write(0, 4096), read(0, 4096)], 1);
        assert_eq!(log[1].time(), FAST, "{through}");
    }
    // More than the cache holds goes through it.
    let log = drive(&raid(0, 4, "size = \"100 kB\""), &[write(0, 262_144)], 1);
    assert_eq!(log[0].time(), 262_144_000 + MILLISECOND + 65_536 * 10_000);
}

/// Dirty data stays until the low mark or until nothing has come for a while.
#[test]
fn an_idle_array_is_written() {
    let script: Vec<Ask> = (0..10).map(|n| write(n << 20, 4096)).collect();
    let it = raid(0, 4, "size = \"1 GB\"");
    assert_eq!(members(&it, &script), 10);
    let (log, net) = drive_net(&script, 1, |page| device::build(page, &it));
    // All on the first disk, a tenth of a second after the last.
    let last = end(&log) - FAST;
    assert_eq!(net.now().0, last + 100 * MILLISECOND + 10 * SLOW);
}
