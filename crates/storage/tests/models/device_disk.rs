//! The disk drive, against closed forms and what its data say.

use crate::devices::{Ask, device, drive, end, mean, random, rate, read, sync, write};
use crate::running::close;
use proptest::prelude::*;

/// 10,000 rpm: a revolution takes 6 ms. One zone, so that addresses are as
/// uniform as tracks.
const DRIVE: &str = r#"
    kind = "disk"
    capacity = "100 GB"
    rpm = 10000
    track_to_track_seek = "0.3 ms"
    average_seek = "4.7 ms"
    full_stroke_seek = "10 ms"
    outer_rate = "80 MB/s"
    interface_rate = "320 MB/s"
    overhead = "0.1 ms"
"#;
const TURN: u64 = 6_000_000_000;
const CAPACITY: u64 = 100_000_000_000;

fn with(more: &str) -> headrace_spec::Device {
    device(&format!("{DRIVE}\n{more}"))
}

fn sequential(ask: fn(u64, u64) -> Ask, size: u64, number: u64, from: u64) -> Vec<Ask> {
    (0..number).map(|n| ask(from + n * size, size)).collect()
}

/// Uniformly distributed 8 KiB blocks.
fn scattered(ask: fn(u64, u64) -> Ask, number: u64) -> Vec<Ask> {
    let mut random = random(1);
    let blocks = CAPACITY / 8192 - 1;
    (0..number)
        .map(|_| ask(random(blocks) * 8192, 8192))
        .collect()
}

/// Overhead, the mean seek, half a revolution, and the transfer.
#[test]
fn random_reads_take_seek_and_half_a_revolution() {
    let log = drive(&with(""), &scattered(read, 40_000), 1);
    // On average a transfer crosses less than a hundredth of a track border.
    let expected = 0.1e-3 + 4.7e-3 + 3e-3 + 8192.0 / 84e6;
    close(mean(&log), expected, 0.005);
}

#[test]
fn sequential_reads_reach_the_rate_of_the_medium() {
    for (size, buffer) in [(65_536, "8 MiB"), (4096, "8 MiB"), (1 << 20, "2 MiB")] {
        let script = sequential(read, size, (256 << 20) / size, 12_345 * 512);
        let log = drive(&with(&format!("buffer = \"{buffer}\"")), &script, 1);
        // Small ones come from the buffer as fast as the controller takes them.
        let each = (size as f64 / 80e6).max(0.1e-3 + size as f64 / 320e6);
        // A sector more or less on a track, and the way to the first.
        close(rate(&script, &log), size as f64 / each, 0.005);
    }
    // Large ones need no buffer: each lacks a revolution.
    let script = sequential(read, 48 << 20, 4, 0);
    let log = drive(&with(""), &script, 1);
    close(rate(&script, &log), 80e6, 0.02);
}

#[test]
fn outer_tracks_are_faster() {
    let drive_of = with("buffer = \"8 MiB\"\ninner_rate = \"40 MB/s\"\nzones = 20");
    for (from, expected) in [(0, 80e6), (CAPACITY - (100 << 20), 40e6)] {
        let script = sequential(read, 65_536, 1000, from);
        let log = drive(&drive_of, &script, 1);
        // The way to the first is part of it.
        close(rate(&script, &log), expected, 0.015);
    }
}

/// The next write comes when its sector has just passed: it waits for all of a
/// revolution but its own transfer.
#[test]
fn synchronous_sequential_writes_lose_a_revolution_each() {
    let script = sequential(write, 8192, 50, 0);
    let log = drive(&with(""), &script, 1);
    for took in &log[1..] {
        let lost = took.time() as f64 - TURN as f64;
        // Its own transfer: 16 of about 960 sectors.
        close(lost, TURN as f64 * 16.0 / 960.0, 0.05);
    }
    // A forced write does so even with a write cache.
    let forced: Vec<Ask> = script.iter().map(|ask| ask.forced()).collect();
    let cached = with("buffer = \"8 MiB\"\nwrite_cache = true");
    let log = drive(&cached, &forced, 1);
    assert!(log[1..].iter().all(|took| took.time() > TURN));
    // Else the cache takes them at the rate of the medium.
    let script = sequential(write, 65_536, 3000, 0);
    let log = drive(&cached, &script, 1);
    assert!(log[1..100].iter().all(|took| took.time() < TURN / 10));
    let script: Vec<Ask> = script.into_iter().chain([sync()]).collect();
    let log = drive(&cached, &script, 1);
    close(rate(&script, &log), 80e6, 0.02);
}

#[test]
fn synchronising_waits_for_the_medium() {
    let cached = with("buffer = \"8 MiB\"\nwrite_cache = true");
    let script = [write(0, 4096), write(50_000_000_000, 4096), sync(), sync()];
    let log = drive(&cached, &script, 1);
    assert!(log[0].time() < TURN / 10 && log[1].time() < TURN / 10);
    assert!(log[2].time() > TURN / 2, "{log:?}");
    assert_eq!(log[3].time(), 100_000_000);
}

/// Shortest positioning time first over many commands.
#[test]
fn a_queue_makes_random_reads_faster() {
    let script = scattered(read, 10_000);
    let times: Vec<f64> = [1_u32, 4, 32]
        .iter()
        .map(|&depth| {
            let disk = with(&format!("queue_depth = {depth}"));
            end(&drive(&disk, &script, depth as usize)) as f64
        })
        .collect();
    assert!(times[1] < times[0] * 0.85, "{times:?}");
    assert!(times[2] < times[0] * 0.6, "{times:?}");
}

/// No request waits longer than the bound and the ones that passed it before.
#[test]
fn the_age_limit_bounds_waiting() {
    let script = scattered(read, 5000);
    let bounded = with("queue_depth = 32\nage_limit = \"0.1 s\"");
    let log = drive(&bounded, &script, 32);
    let longest = log.iter().map(|took| took.time()).max().unwrap();
    assert!(longest < 100_000_000_000 + 32 * 17_000_000_000, "{longest}");
    let free = with("queue_depth = 32\nage_limit = \"1 h\"");
    let free = drive(&free, &script, 32);
    assert!(free.iter().map(|took| took.time()).max().unwrap() > longest);
}

/// Read again, from the buffer: overhead and interface only.
#[test]
fn the_buffer_answers_what_it_holds() {
    let disk = with("buffer = \"8 MiB\"");
    let log = drive(&disk, &[read(0, 65_536), read(0, 65_536)], 1);
    let expected = 100_000_000 + 65_536 * 3125;
    assert_eq!(log[1].time(), expected);
    // Sectors written since are read from the medium.
    let log = drive(
        &disk,
        &[read(0, 65_536), write(4096, 512), read(0, 65_536)],
        1,
    );
    assert!(log[2].time() > TURN / 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    /// Every transfer comes back once, whatever is asked of whatever drive.
    #[test]
    fn every_transfer_comes_back(
        asks in prop::collection::vec((0_u8..6, 0_u64..CAPACITY * 2, 0_u64..4_000_000, any::<bool>()), 1..150),
        near in any::<bool>(),
        depth in 1_usize..40, queue in 1_u32..34, zones in 1_u32..20,
        buffer in prop::sample::select(vec![0_u64, 4096, 1 << 20, 8 << 20]),
        cache in any::<bool>(), ahead in any::<bool>(),
    ) {
        let disk = with(&format!(
            "queue_depth = {queue}\nzones = {zones}\ninner_rate = \"35 MB/s\"\nbuffer = \"{buffer} B\"\n\
             write_cache = {}\nread_ahead = {ahead}", cache && buffer > 0,
        ));
        let script: Vec<Ask> = asks.into_iter().map(|(kind, address, size, forced)| {
            let address = if near { address % 20_000_000 } else { address };
            let ask = match kind { 0..3 => read(address, size), 3..5 => write(address, size), _ => sync() };
            Ask { forced, ..ask }
        }).collect();
        drive(&disk, &script, depth);
    }
}

/// Seconds that the medium needs for bytes: zones are equally wide, and their
/// rates count the ways between tracks.
fn on_the_medium(from: u64, size: u64, rates: &[f64]) -> f64 {
    let (from, size) = (from as f64, size as f64);
    let across: f64 = rates.iter().sum();
    let (mut begins, mut time) = (0.0, 0.0);
    for rate in rates {
        let ends = begins + CAPACITY as f64 * rate / across;
        time += (ends.min(from + size) - begins.max(from)).max(0.0) / rate;
        begins = ends;
    }
    time
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    /// For any number of outstanding commands of one sequential stream, and any buffer, the medium
    /// passes under the head once without a pause.
    #[test]
    fn a_stream_in_order_runs_at_the_rate_of_the_medium(
        sectors in 16_u64..8192, depth in 1_usize..40, queue in 1_u32..34,
        room in prop::sample::select(vec![256_u64 << 10, 1 << 20, 8 << 20, 64 << 20]),
        segments in 1_u32..33, zones in 1_usize..8, from in 0_u64..CAPACITY / 2,
    ) {
        let disk = with(&format!(
            "queue_depth = {queue}\nzones = {zones}\ninner_rate = \"40 MB/s\"\n\
             buffer = \"{room} B\"\nsegments = {segments}",
        ));
        let (size, from) = (sectors * 512, from / 512 * 512);
        let script = sequential(read, size, (128 << 20) / size, from);
        let log = drive(&disk, &script, depth);
        let inwards = |zone: usize| 80e6 - 40e6 * zone as f64 / (zones.max(2) - 1) as f64;
        let rates: Vec<f64> = (0..zones).map(inwards).collect();
        let bytes: u64 = script.iter().map(|ask| ask.size).sum();
        let medium = on_the_medium(from, bytes, &rates);
        // The way to the first, at most a long stroke and a revolution.
        let took = end(&log) as f64 * 1e-12;
        // A sector more or less on a track.
        prop_assert!(took > medium * 0.998, "{took} s, medium {medium} s");
        // Where the commands in progress do not fit a segment of the buffer, the drive loses
        // revolutions that a real one would not. Where each takes longer than its bytes, it stops
        // for want of room in the buffer.
        let at_once = depth.min(queue as usize) as u64;
        let command = 0.1e-3 / at_once as f64 + size as f64 / 320e6;
        let slowest = medium.max(script.len() as f64 * command);
        let fits = 2 * size * at_once <= room / u64::from(segments) && slowest <= medium;
        let least = if fits { 0.95 } else { 0.5 };
        prop_assert!(took < slowest / least + 0.02, "{took} s, medium {medium} s");
    }

    /// Several streams, each in order: the data of each comes off the medium too.
    #[test]
    fn no_streams_in_order_outrun_the_medium(
        sectors in 16_u64..4096, depth in 1_usize..40, queue in 1_u32..34, streams in 1_u64..9,
        room in prop::sample::select(vec![256_u64 << 10, 1 << 20, 8 << 20, 64 << 20]),
        segments in 1_u32..33, pause in prop::sample::select(vec![0_u64, 30_000_000_000]),
    ) {
        let disk = with(&format!(
            "queue_depth = {queue}\nbuffer = \"{room} B\"\nsegments = {segments}",
        ));
        let size = sectors * 512;
        let script: Vec<Ask> = (0..(64 << 20) / size)
            .map(|n| read(n % streams * 10_000_000_000 + n / streams * size, size))
            .enumerate()
            .map(|(n, ask)| if pause > 0 { ask.at(n as u64 / 20 * pause) } else { ask })
            .collect();
        let log = drive(&disk, &script, depth);
        // At any time: nothing is read twice.
        let mut done: Vec<u64> = log.iter().map(|took| took.done).collect();
        done.sort_unstable();
        for (n, done) in done.into_iter().enumerate() {
            let so_far = (n as u64 + 1) * size;
            prop_assert!(done as f64 * 1e-12 > so_far as f64 / 80e6 * 0.998, "{n} at {done} ps");
        }
    }

    /// Four in an array give no more than four times that.
    #[test]
    fn no_array_outruns_its_members(
        sectors in 1024_u64..16_384, depth in 4_usize..40, queue in 1_u32..34,
        chunk in prop::sample::select(vec![64_u64, 256, 1024]),
        room in prop::sample::select(vec![1_u64 << 20, 16 << 20, 64 << 20]),
    ) {
        let array = device(&format!(
            "kind = \"raid\"\nlevel = 0\ndisks = 4\nchunk = \"{chunk} KiB\"\n\
             [servers.device.member]\n{DRIVE}\nqueue_depth = {queue}\nbuffer = \"{room} B\"",
        ));
        let size = sectors * 512;
        let script = sequential(read, size, (256 << 20) / size, 0);
        let log = drive(&array, &script, depth);
        prop_assert!(rate(&script, &log) < 4.0 * 80e6 * 1.002, "{}", rate(&script, &log));
    }
}
