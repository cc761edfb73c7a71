//! The solid-state drive: its dies, channels, interface and cache as limits.

use crate::devices::{Ask, device, drive, end, random, rate, read, sync, write};
use crate::running::close;
use proptest::prelude::*;

/// 8 channels of 4 dies, pages of 16 KiB; each die has 120 blocks for data and 13 more.
const DRIVE: &str = r#"
    kind = "solid-state"
    capacity = "16 GB"
    channels = 8
    dies = 4
    page = "16 KiB"
    read_time = "50 us"
    program_time = "1 ms"
    channel_rate = "400 MB/s"
    over_provisioning = 0.11
"#;

/// The same drive with another capacity and another spare share.
fn smaller(capacity: &str, spare: &str) -> String {
    DRIVE.replace("16 GB", capacity).replace("0.11", spare)
}

const MICROSECOND: u64 = 1_000_000;

fn with(more: &str) -> headrace_spec::Device {
    device(&format!("{DRIVE}\n{more}"))
}

fn scattered(ask: fn(u64, u64) -> Ask, number: u64, size: u64) -> Vec<Ask> {
    let mut random = random(1);
    let places = 16_000_000_000 / size - 1;
    (0..number)
        .map(|_| ask(random(places) * size, size))
        .collect()
}

fn sequential(ask: fn(u64, u64) -> Ask, number: u64, size: u64) -> Vec<Ask> {
    (0..number).map(|n| ask(n * size, size)).collect()
}

/// A read alone: die, channel, interface, controller.
#[test]
fn a_read_takes_its_way() {
    let drive_of = with("interface_rate = \"500 MB/s\"\noverhead = \"10 us\"");
    let log = drive(&drive_of, &scattered(read, 100, 4096), 1);
    let expected = 60 * MICROSECOND + 4096 * 2500 + 4096 * 2000;
    assert!(log.iter().all(|took| took.time() == expected), "{log:?}");
}

/// Many at once: 32 dies that take 50 µs; with slow channels these; with a slow
/// interface that.
#[test]
fn reads_at_random_are_limited_by_the_scarcest() {
    let script = scattered(read, 60_000, 4096);
    let of = |more: &str| {
        let log = drive(&with(&format!("queue_depth = 1024\n{more}")), &script, 1024);
        script.len() as f64 / (end(&log) as f64 * 1e-12)
    };
    // The busiest of 32 dies has some 5 % more than its part of 60,000 reads.
    close(of("interface_rate = \"20 GB/s\""), 32.0 / 50e-6, 0.07);
    let slow = DRIVE.replace("400 MB/s", "100 MB/s");
    let slow = device(&format!(
        "{slow}\nqueue_depth = 1024\ninterface_rate = \"20 GB/s\""
    ));
    let log = drive(&slow, &script, 1024);
    close(
        script.len() as f64 / (end(&log) as f64 * 1e-12),
        8.0 * 100e6 / 4096.0,
        0.03,
    );
    close(of("interface_rate = \"500 MB/s\""), 500e6 / 4096.0, 0.01);
}

/// 32 dies program 16 KiB in 1 ms and 41 µs of channel.
#[test]
fn writes_in_order_are_limited_by_programming() {
    let script = sequential(write, 4000, 1 << 20);
    let dies = 32.0 * 16_384.0 / 1.041e-3;
    let cached = with("interface_rate = \"2 GB/s\"\nwrite_cache = \"64 MiB\"");
    close(rate(&script, &drive(&cached, &script, 1)), dies, 0.03);
    // Without a cache one command of a page at a time keeps one die busy.
    let script = sequential(write, 500, 16_384);
    let log = drive(&with("interface_rate = \"2 GB/s\""), &script, 1);
    close(rate(&script, &log), 16_384.0 / 1.041e-3, 0.01);
}

/// Sixteen streams write 64 KiB each in turn. All begin at multiples of a row of dies, 512 KiB. They
/// use all dies, and not the same four.
#[test]
fn streams_at_aligned_places_use_all_dies() {
    let script: Vec<Ask> = (0..16_000)
        .map(|n| write((n % 16) * (64 << 20) + n / 16 * 65_536, 65_536))
        .collect();
    let cached = with("interface_rate = \"2 GB/s\"\nwrite_cache = \"64 MiB\"");
    let dies = 32.0 * 16_384.0 / 1.041e-3;
    let reached = rate(&script, &drive(&cached, &script, 16)) / dies;
    // The last 64 MiB of 1 GiB are in the cache.
    assert!(reached > 0.8 && reached < 1.08, "{reached}");
}

/// A full drive that is overwritten in order repeatedly keeps its rate. It does so, too, with a
/// file's own index of a unit skipped after each 4 MiB.
#[test]
fn overwriting_in_order_keeps_its_rate() {
    // As far as no die has to wait for one that is erasing.
    let dies = 32.0 * 16_384.0 / 1.041e-3;
    let more = "interface_rate = \"2 GB/s\"\nwrite_cache = \"64 MiB\"";
    let small = device(&format!("{}\n{more}", smaller("4 GB", "0.44")));
    for index in [0, 4096] {
        let pieces = 4_000_000_000 / ((4 << 20) + index);
        let script: Vec<Ask> = (0..6 * pieces * 4)
            .map(|n| {
                let n = n % (pieces * 4);
                write(n / 4 * ((4 << 20) + index) + ((n % 4) << 20), 1 << 20)
            })
            .collect();
        let log = drive(&small, &script, 1);
        close(rate(&script, &log), dies, 0.03);
        let half = script.len() / 2;
        let later = log[script.len() - 1].done - log[half].done;
        let bytes = (half - 1) as f64 * 1_048_576.0;
        close(bytes / (later as f64 * 1e-12), dies, 0.03);
    }
}

/// Cleaning makes writing at random slower than in order, the less the more
/// is spare.
#[test]
fn random_writes_pay_for_cleaning() {
    let of = |spare: &str, more: &str, ask: &[Ask]| {
        let small = smaller("1 GB", spare);
        let drive_of = device(&format!(
            "{small}\npages_per_block = 32\ninterface_rate = \"2 GB/s\"\nwrite_cache = \"16 MiB\"\n{more}"
        ));
        let log = drive(&drive_of, ask, 32);
        // The second half, in the steady state.
        let half = log.len() / 2;
        let bytes: u64 = ask[half..].iter().map(|ask| ask.size).sum();
        bytes as f64 / ((end(&log) - log[half].done) as f64 * 1e-12)
    };
    let mut random = random(3);
    let at_random: Vec<Ask> = (0..60_000)
        .map(|_| write(random(1_000_000_000 / 65_536) * 65_536, 65_536))
        .collect();
    let in_order: Vec<Ask> = (0..60_000)
        .map(|n| write(n % 15_000 * 65_536, 65_536))
        .collect();
    let little = of("0.22", "", &at_random);
    let much = of("0.5", "", &at_random);
    let order = of("0.22", "", &in_order);
    assert!(
        little < 0.6 * much && much < 0.9 * order,
        "{little} {much} {order}"
    );
    // An empty drive has nothing to clean at first.
    let fresh = of("0.22", "fill = 0", &at_random[..8000]);
    assert!(fresh > order && fresh < 1.2 * order, "{fresh} {order}");
}

#[test]
fn synchronising_waits_for_the_flash_unless_power_is_safe() {
    let script = [write(0, 4096), sync(), sync()];
    let lossy = with("interface_rate = \"2 GB/s\"\nwrite_cache = \"1 MiB\"");
    let log = drive(&lossy, &script, 1);
    assert!(log[0].time() < 10 * MICROSECOND);
    assert!(
        log[1].time() > 1000 * MICROSECOND && log[2].time() == 0,
        "{log:?}"
    );
    let safe =
        with("interface_rate = \"2 GB/s\"\nwrite_cache = \"1 MiB\"\npower_loss_protection = true");
    assert_eq!(drive(&safe, &script, 1)[1].time(), 0);
    let forced = [write(0, 4096).forced()];
    assert!(drive(&lossy, &forced, 1)[0].time() > 1000 * MICROSECOND);
    assert!(drive(&safe, &forced, 1)[0].time() < 10 * MICROSECOND);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Every transfer comes back once, whatever is asked of whatever drive.
    #[test]
    fn every_transfer_comes_back(
        asks in prop::collection::vec((0_u8..8, 0_u64..40_000_000_000, 0_u64..3_000_000, any::<bool>()), 1..200),
        near in any::<bool>(), depth in 1_usize..40, queue in 1_u32..34,
        cache in prop::sample::select(vec![0_u64, 4096, 100_000, 64 << 20]),
        protected in any::<bool>(), fill in 0.0..1.0_f64,
    ) {
        let drive_of = with(&format!(
            "interface_rate = \"1 GB/s\"\nqueue_depth = {queue}\nwrite_cache = \"{cache} B\"\n\
             power_loss_protection = {protected}\nfill = {fill:?}\npages_per_block = 8",
        ));
        let script: Vec<Ask> = asks.into_iter().map(|(kind, address, size, forced)| {
            let address = if near { address % 20_000_000 } else { address };
            let ask = match kind { 0..3 => read(address, size), 3..7 => write(address, size), _ => sync() };
            Ask { forced, ..ask }
        }).collect();
        drive(&drive_of, &script, depth);
    }
}

/// A controller that takes 10 µs for a command does 100,000 in a second, however many wait; a
/// command alone takes no longer.
#[test]
fn the_controller_takes_one_command_after_the_other() {
    let limited =
        with("queue_depth = 1024\ninterface_rate = \"10 GB/s\"\ncommand_time = \"10 us\"");
    let log = drive(&limited, &scattered(read, 20_000, 4096), 1024);
    close(20_000.0 / (end(&log) as f64 * 1e-12), 100_000.0, 0.01);
    let free = with("queue_depth = 1024\ninterface_rate = \"10 GB/s\"");
    let script = scattered(read, 10, 4096);
    let times = |device| -> Vec<u64> {
        drive(device, &script, 1)
            .iter()
            .map(|it| it.time())
            .collect()
    };
    assert_eq!(times(&limited), times(&free));
}
