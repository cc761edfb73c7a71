//! The grain of packets: where it agrees with the others, and where it does not.

use headrace_storage::Outcome;
use proptest::prelude::*;

use crate::running::{
    MICROSECOND, NANOSECOND, SMALLEST, close, last, latencies, refusal, run, station,
};

const PACKET: &str = "network.grain=packet";
const FRAMES: [&str; 3] = [
    "network.header=40 B",
    "network.framing=38 B",
    "network.message=156 B",
];
/// Windows that hold nothing back.
const WIDE: [&str; 2] = [
    "network.tcp.initial_window=1000000",
    "network.tcp.window=1 GB",
];
/// Queues that lose nothing.
const DEEP: &str = "network.queue=1 GB";
/// A device that takes no time worth speaking of.
const NO_DEVICE: [&str; 2] = [
    "servers.device.read_rate=1000000 TB/s",
    "servers.device.write_rate=1000000 TB/s",
];

fn with<'a>(parts: &[&[&'a str]]) -> Vec<&'a str> {
    parts.concat()
}

/// With windows and queues that do not limit it, a message alone takes as long as by cut-through: a
/// full frame after the sender.
#[test]
fn one_message_alone_takes_as_long_as_at_the_grain_of_messages() {
    for phase in ["read", "write"] {
        let phases = format!("workload.0.phases=[\"{phase}\"]");
        let sets = with(&[&FRAMES, &WIDE, &[DEEP, &phases]]);
        let messages = latencies(&run(SMALLEST, &sets));
        let packets = latencies(&run(SMALLEST, &with(&[&sets, &[PACKET]])));
        // Two messages leave behind an acknowledgement: the metadata server's answer, and
        // what the client asks when it has that.
        let expected = messages[0] + 2 * 78 * NANOSECOND;
        assert!(
            expected.abs_diff(packets[0]) < 10,
            "{messages:?} {packets:?}"
        );
    }
}

#[test]
fn slow_start_takes_a_round_trip_for_each_doubling() {
    // 100 segments of 1,500 B over a long way: 10, 20, 40 and 30 of them.
    let sets = [
        PACKET,
        "workload.0.block=150 kB",
        "workload.0.phases=[\"write\"]",
        "network.latency=10 ms",
        "metadata.client_cache=true",
    ];
    let outcome = run(SMALLEST, &with(&[&sets, &NO_DEVICE]));
    let time = latencies(&outcome)[0];
    // The metadata's round trip, three windows' round trips, the last one way, and the answer.
    let ways = 2 + 3 * 2 + 1 + 1;
    let latency = 10_000 * MICROSECOND;
    assert!(time > ways * latency, "{time}");
    // Transmission adds a little to the latency.
    assert!(time < ways * latency + 200 * MICROSECOND, "{time}");
}

/// Transfers that begin together at one port take the same total time at every grain.
#[test]
fn equal_transfers_through_one_port_share_it_at_every_grain() {
    // 64 KiB windows of eight: nothing is lost in 1 MB.
    let base = [
        "servers.count=8",
        "layout.servers=1",
        "layout.unit=100 MB",
        "workload.0.block=4 MB",
        "workload.0.transfer=4 MB",
        "clients.processes=8",
        "network.queue=1 MB",
        "network.tcp.window=64 KiB",
    ];
    let mut ends = Vec::new();
    for grain in ["network.grain=message", "network.grain=flow", PACKET] {
        let outcome = run(SMALLEST, &with(&[&base, &FRAMES, &NO_DEVICE, &[grain]]));
        assert_eq!(outcome.requests.len(), 8);
        ends.push(last(&outcome).as_seconds());
        if grain != "network.grain=message" {
            // Each got the same of the port: they end together.
            let times = latencies(&outcome);
            let (first, last) = (times.iter().min(), times.iter().max());
            close(*first.unwrap() as f64, *last.unwrap() as f64, 0.02);
        }
    }
    // 32 MB with headers and framing at 1 ns a byte.
    let wire = 32e6 * 1538.0 / 1460.0 * 1e-9;
    for end in ends {
        close(end, wire, 0.01);
    }
}

/// A client reads blocks that are striped over servers, each block when it has the one before.
/// Every server sends 256 KiB through a port with room for 64 KiB. Source: Phanishayee et al., FAST
/// 2008, §3: SRU of 256 KB, 1 Gbit/s, 100 us round trip.
fn incast(servers: u32, timeout: &str) -> f64 {
    let text = r#"
        [clients]
        count = 1
        [servers]
        count = 4
        device = { read_rate = "1000 TB/s", write_rate = "1000 TB/s" }
        [network]
        grain = "packet"
        bandwidth = "1 Gbit/s"
        latency = "50 us"
        queue = "64 KiB"
        [layout]
        unit = "256 KiB"
        [[workload]]
        block = "64 MiB"
        phases = ["read"]
    "#;
    let transfer = 256 * servers;
    let sets = [
        format!("servers.count={servers}"),
        format!("workload.transfer={transfer} KiB"),
        format!("workload.block={} KiB", 20 * transfer),
        format!("network.tcp.minimum_timeout={timeout}"),
    ];
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    goodput(&run(text, &sets))
}

fn goodput(outcome: &Outcome) -> f64 {
    outcome.report.throughput["read"]
}

#[test]
fn many_servers_that_answer_at_once_make_throughput_collapse() {
    let most = 125e6 * 1460.0 / 1538.0;
    // One server has the port to itself.
    close(incast(1, "200 ms"), most, 0.05);
    // With many, whole windows are lost at the ends of blocks, and the port idles until a timer
    // runs out. Throughput falls by an order of magnitude.
    let collapsed = incast(32, "200 ms");
    assert!(collapsed < 0.15 * most, "{collapsed}");
    // With timers of the order of a round trip it does not (Vasudevan et al.,
    // SIGCOMM 2009).
    let fine = incast(32, "1 ms");
    assert!(fine > 0.9 * most, "{fine}");
}

/// Servers that answer a segment each at once, over links as fast as the client's port with room
/// for four of them. Four arrive and the others are lost. The same happens when their timers run
/// out together, after 200 ms, 400 ms more and 800 ms more.
#[test]
fn answers_that_collide_wait_for_timers_that_double() {
    for (servers, timeouts, lost) in [
        (4, 0, 0),
        (8, 200, 4),
        (12, 600, 8 + 4),
        (16, 1400, 12 + 8 + 4),
    ] {
        let size = format!("{servers} kB");
        let sets = [
            PACKET.to_owned(),
            format!("servers.count={servers}"),
            "layout.unit=1 kB".to_owned(),
            "network.mtu=1200 B".to_owned(),
            "network.header=0 B".to_owned(),
            "network.framing=0 B".to_owned(),
            "network.message=0 B".to_owned(),
            "network.queue=4800 B".to_owned(),
            format!("workload.0.block={size}"),
            format!("workload.0.transfer={size}"),
            "workload.0.phases=[\"read\"]".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(SMALLEST, &with(&[&sets, &NO_DEVICE]));
        let time = latencies(&outcome)[0];
        assert!(
            (timeouts * 1000 * MICROSECOND..(timeouts * 1000 + 200) * MICROSECOND).contains(&time),
            "{servers} {time}"
        );
        let packets = outcome.report.packets.unwrap();
        assert_eq!((packets.lost, packets.sent_again), (lost, lost));
        assert_eq!(packets.timeouts, lost);
        let port = station(&outcome, "network/client card receiving");
        assert_eq!(port.lost, Some(lost));
    }
}

/// A long transfer passes a port that has room for nothing but the packet being sent. Its window
/// swings between half a round trip's bytes and all of them: three quarters of the rate. With room
/// for a round trip's, the port is never idle (Appenzeller, Keslassy and McKeown, SIGCOMM 2004).
#[test]
fn a_long_transfer_fills_a_port_that_has_room_for_a_round_trip() {
    // 100 MB/s and 4 ms: 400 kB are a round trip's.
    let seconds = |queue: &str, bytes: &str| {
        let sets = [
            PACKET,
            &format!("network.queue={queue}"),
            "network.mtu=1000 B",
            "network.header=0 B",
            "network.framing=0 B",
            "network.latency=2 ms",
            "network.bandwidth=100 MB/s",
            "clients.card.bandwidth=1 GB/s",
            "network.tcp.window=1 GB",
            &format!("workload.0.block={bytes}"),
            &format!("workload.0.transfer={bytes}"),
            "layout.unit=10 GB",
            "workload.0.phases=[\"write\"]",
        ];
        last(&run(SMALLEST, &with(&[&sets, &NO_DEVICE]))).as_seconds()
    };
    // Slow start loses a whole window, and ends a segment a round trip later.
    let throughput = |queue| 1e9 / (seconds(queue, "1.5 GB") - seconds(queue, "0.5 GB"));
    close(throughput("2000 B"), 75e6, 0.03);
    close(throughput("400 kB"), 100e6, 0.005);
}

/// Throughput of TCP is MSS/RTT · C/√p where a packet is lost with probability p. C is 1.31 for
/// losses at random and an acknowledgement for each segment. Source: Mathis, Semke, Mahdavi and
/// Ott, "The macroscopic behavior of the TCP congestion avoidance algorithm", CCR 27(3), 1997,
/// table 1.
#[test]
fn random_losses_limit_tcp_by_the_square_root_law() {
    for (error_rate, megabytes) in [(1e-3_f64, 200), (2.5e-4, 400)] {
        let error = format!("network.error_rate={error_rate}");
        let block = format!("workload.0.block={megabytes} MB");
        let transfer = format!("workload.0.transfer={megabytes} MB");
        let sets = [
            PACKET,
            DEEP,
            "network.mtu=1500 B",
            "network.header=40 B",
            "network.latency=10 ms",
            "network.tcp.minimum_timeout=1 ms",
            "layout.unit=10 GB",
            "workload.0.phases=[\"write\"]",
            &error,
            &block,
            &transfer,
        ];
        let outcome = run(SMALLEST, &with(&[&sets, &NO_DEVICE]));
        let rate = f64::from(megabytes) * 1e6 / last(&outcome).as_seconds();
        // A segment passes two links.
        let lost = 1.0 - (1.0 - error_rate).powi(2);
        close(rate, 1460.0 / 20e-3 * 1.31 / lost.sqrt(), 0.1);
        let packets = outcome.report.packets.unwrap();
        assert_eq!(packets.lost, 0);
        // Four standard deviations.
        let expected = packets.sent as f64 * lost;
        let deviation = (packets.corrupted as f64 - expected).abs();
        assert!(deviation < 4.0 * expected.sqrt(), "{packets:?} {expected}");
    }
}

#[test]
fn errors_are_drawn_by_the_seed() {
    let of = |seed: &str| {
        let sets = [
            PACKET,
            "network.error_rate=2 %",
            "network.tcp.minimum_timeout=1 ms",
            seed,
        ];
        latencies(&run(SMALLEST, &with(&[&sets, &NO_DEVICE])))
    };
    assert_eq!(of("run.seed=1"), of("run.seed=1"));
    assert_ne!(of("run.seed=1"), of("run.seed=2"));
    for grain in ["network.grain=flow", "network.grain=message"] {
        let message = refusal(SMALLEST, &[grain, "network.error_rate=1 %"]);
        assert!(
            message.contains("expected network.grain = \"packet\""),
            "{message}"
        );
    }
}

#[test]
fn what_is_no_packet_is_refused() {
    for (sets, names) in [
        (vec![PACKET, "network.queue=1 kB"], "network.queue"),
        (vec![PACKET, "network.mtu=1 MB"], "network.mtu"),
        (
            vec![PACKET, "network.header=40 B", "network.tcp.window=1459 B"],
            "network.tcp.window=1459 B: expected at least a segment, 1460 B",
        ),
        (vec!["clients.card.burst=64 KiB"], "clients.card.burst"),
        (
            vec![
                "network.grain=flow",
                "clients.card.burst=64 KiB",
                "clients.card.bandwidth=1 MB/s",
            ],
            "clients.card.burst",
        ),
    ] {
        let message = refusal(SMALLEST, &sets);
        assert!(message.contains(names), "{message}");
    }
}

/// Requests of 16 KiB one after the other through a card of 59.5 MB/s. A bucket of 64 KiB makes up
/// for the time in which nothing is sent. So the bytes take as long as without any gap, less the
/// bucket that was full at the start.
#[test]
fn a_bucket_hides_the_latency_of_synchronous_requests() {
    let base = [
        "clients.card.bandwidth=59.5 MB/s",
        "workload.0.block=16 MiB",
        "workload.0.transfer=16 KiB",
        "workload.0.phases=[\"write\"]",
        "network.latency=20 us",
    ];
    for grain in ["network.grain=message", PACKET] {
        let sets = with(&[&base, &NO_DEVICE, &WIDE, &[grain, DEEP]]);
        let line = last(&run(SMALLEST, &sets)).as_seconds();
        let bucket = "clients.card.burst=64 KiB";
        let hidden = last(&run(SMALLEST, &with(&[&sets, &[bucket]]))).as_seconds();
        let bytes = f64::from(16 << 20);
        // Without it, every request's round trip is lost.
        assert!(line > bytes / 59.5e6 + 1024.0 * 40e-6, "{line}");
        let saved_up = f64::from(64 << 10);
        close(hidden, (bytes - saved_up) / 59.5e6, 0.002);
    }
}

/// Four processes write through a card of 59.5 MB/s on a link of 1 GB/s. Its bucket is empty soon,
/// and the card is the limit, for any speed of the link.
#[test]
fn a_card_with_a_bucket_is_the_bottleneck_at_each_grain() {
    let base = [
        "clients.card.bandwidth=59.5 MB/s",
        "clients.card.burst=64 KiB",
        "clients.processes=4",
        "workload.0.block=8 MiB",
        "workload.0.transfer=64 KiB",
        "workload.0.phases=[\"write\"]",
    ];
    let credits = [PACKET, "network.flow_control=credits"];
    for (grain, card) in [
        (&["network.grain=message"][..], "system/client/card sending"),
        (&[PACKET, DEEP][..], "system/network/client card sending"),
        (&credits[..], "system/network/client card sending"),
    ] {
        for warm_up in ["run.warm_up=0 s", "run.warm_up=200 ms"] {
            let sets = with(&[&base, &NO_DEVICE, grain, &[warm_up]]);
            let report = run(SMALLEST, &sets).report;
            let bottleneck = report.bottleneck;
            assert_eq!(bottleneck.station.as_deref(), Some(card), "{sets:?}");
            assert!(bottleneck.saturated, "{sets:?} {}", bottleneck.sentence);
        }
        // A card that does little is little busy: each request's bytes take their time.
        let few = [
            "clients.processes=1",
            "workload.0.think=10 ms",
            "workload.0.block=1 MiB",
        ];
        let sets = with(&[&base, &NO_DEVICE, grain, &few]);
        let outcome = run(SMALLEST, &sets);
        let busy = station(&outcome, card).utilisation;
        let sent = f64::from(1 << 20) / 1e9 / last(&outcome).as_seconds();
        assert!(
            busy > 0.9 * sent && busy < 2.0 * sent,
            "{sets:?} {busy} {sent}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Lost packets are sent again: every request ends, and no faster than the slowest card lets
    /// its bytes pass.
    #[test]
    fn all_bytes_come(
        clients in 1..5_u32,
        servers in 1..9_u32,
        queue in 2..40_u64,
        segments in 1..100_u64,
        window in 1..64_u64,
        write in any::<bool>(),
        shape in 0..3_usize,
    ) {
        let topology = [
            "star",
            "{ kind = \"leaf-spine\", hosts = 2, spines = 2 }",
            "{ kind = \"fat-tree\", arity = 4 }",
        ][shape];
        let phase = if write { "write" } else { "read" };
        let block = segments * 1000;
        let sets = [
            PACKET.to_owned(),
            format!("clients.count={clients}"),
            format!("servers.count={servers}"),
            format!("network.queue={} B", queue * 1500),
            format!("network.tcp.window={} B", window * 1500),
            "network.tcp.minimum_timeout=1 ms".to_owned(),
            format!("network.topology={topology}"),
            "layout.unit=5 kB".to_owned(),
            format!("workload.0.block={block} B"),
            format!("workload.0.phases=[\"{phase}\"]"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(SMALLEST, &with(&[&sets, &NO_DEVICE]));
        prop_assert_eq!(outcome.requests.len(), clients as usize);
        let moved: u64 = outcome.report.operations.values().map(|it| it.bytes).sum();
        prop_assert_eq!(moved, block * u64::from(clients));
        for time in latencies(&outcome) {
            prop_assert!(time >= block * NANOSECOND);
        }
    }
}
