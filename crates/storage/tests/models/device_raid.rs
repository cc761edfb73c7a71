//! Arrays of devices that take 1 ms and a byte each 10 ns.

use crate::devices::{Ask, device, drive, end, rate, read, sync, write};
use crate::running::close;
use proptest::prelude::*;

fn raid(level: u32, disks: u32, more: &str) -> headrace_spec::Device {
    device(&format!(
        "kind = \"raid\"\nlevel = {level}\ndisks = {disks}\nchunk = \"64 KiB\"\n{more}\n\
         [servers.device.member]\nread_rate = \"100 MB/s\"\nwrite_rate = \"100 MB/s\"\n\
         time_per_request = \"1 ms\""
    ))
}

const MILLISECOND: u64 = 1_000_000_000;

#[test]
fn striping_multiplies_the_rate() {
    for disks in [1, 2, 7] {
        let size = u64::from(disks) << 23;
        let script: Vec<Ask> = (0..8).map(|n| read(n * size, size)).collect();
        let log = drive(&raid(0, disks, ""), &script, 4);
        let each = 8_388_608.0 / (8_388_608.0 / 100e6 + 1e-3);
        close(rate(&script, &log), f64::from(disks) * each, 1e-6);
    }
}

/// A small write alone: two transfers one after the other with parity, one
/// without.
#[test]
fn small_writes_read_before_they_write() {
    let each = MILLISECOND + 4096 * 10_000;
    for (level, expected) in [(0, 1), (1, 1), (10, 1), (5, 2), (6, 2)] {
        let log = drive(&raid(level, 6, ""), &[write(0, 4096), sync()], 1);
        assert_eq!(log[0].time(), expected * each, "level {level}");
    }
    let log = drive(&raid(5, 6, ""), &[write(0, 5 << 16)], 1);
    assert_eq!(log[0].time(), MILLISECOND + 65_536 * 10_000);
}

/// In the long run four members share four transfers for each small write.
#[test]
fn random_writes_are_limited_by_all_members() {
    let mut random = crate::devices::random(5);
    let script: Vec<Ask> = (0..20_000)
        .map(|_| write(random(1 << 20) * 4096, 4096))
        .collect();
    let each = 1e-3 + 4096.0 / 100e6;
    for (level, disks, transfers) in [(0, 8, 1.0), (10, 8, 2.0), (5, 8, 4.0), (6, 8, 6.0)] {
        let log = drive(&raid(level, disks, ""), &script, 512);
        let seconds = 20_000.0 * transfers * each / f64::from(disks);
        close(end(&log) as f64 * 1e-12, seconds, 0.05);
    }
}

#[test]
fn mirrors_share_reads_and_failed_ones_do_not() {
    let script: Vec<Ask> = (0..100).map(|n| read(n * 4096, 4096)).collect();
    let both = end(&drive(&raid(1, 2, ""), &script, 8));
    let one = end(&drive(&raid(1, 2, "failed = [0]"), &script, 8));
    assert_eq!(2 * both, one);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_transfer_comes_back(
        asks in prop::collection::vec((0_u8..5, 0_u64..1 << 30, 0_u64..2_000_000), 1..80),
        kind in 0_usize..8, depth in 1_usize..20,
    ) {
        let (level, disks, failed) = [
            (0, 3, ""), (1, 3, "failed = [1]"), (5, 4, ""), (5, 4, "failed = [2]"), (6, 6, "failed = [0, 3]"),
            (6, 5, "failed = [4]"), (10, 6, ""), (10, 4, "failed = [0, 3]"),
        ][kind];
        let script: Vec<Ask> = asks.into_iter().map(|(kind, address, size)| match kind {
            0..2 => read(address, size),
            2..4 => write(address, size),
            _ => sync(),
        }).collect();
        drive(&raid(level, disks, failed), &script, depth);
    }
}
