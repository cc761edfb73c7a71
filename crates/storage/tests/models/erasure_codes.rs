//! Erasure codes: what links, cores and devices have to carry for pieces.

use headrace_storage::Outcome;
use proptest::prelude::*;

use crate::running::{busy, close, latencies, refusal, run, station};

/// One client and six servers with a code of 4 + 2: a stripe is 256 KiB. A byte takes 1 ns on the
/// wire, 1 ps to read and 10 ps to write.
const CODE: &str = r#"
    [clients]
    count = 1
    [clients.rpc]
    size = "64 KiB"
    [servers]
    count = 6
    device = { read_rate = "1 TB/s", write_rate = "100 GB/s" }
    [network]
    bandwidth = "1 GB/s"
    latency = "10 us"
    [layout]
    unit = "1 MiB"
    [replication.code]
    kind = "reed-solomon"
    data = 4
    parity = 2
    unit = "64 KiB"
    [[workload]]
    block = "64 MiB"
    transfer = "64 MiB"
    phases = ["write"]
"#;

const WRITTEN: u64 = 64 << 20;
const PIECE: u64 = 64 << 10;
const STRIPES: u64 = WRITTEN / PIECE / 4;

/// Bytes that the servers read and wrote.
fn served(outcome: &Outcome) -> (u64, u64) {
    let servers = &outcome.report.servers;
    let read = servers.iter().map(|it| it.read_bytes).sum();
    (read, servers.iter().map(|it| it.written_bytes).sum())
}

/// The client sends six pieces for four: its link carries data at k / (k + m) of its rate.
#[test]
fn a_client_that_encodes_sends_data_at_four_sixths_of_its_link() {
    let outcome = run(CODE, &[]);
    close(outcome.report.throughput["write"], 4e9 / 6.0, 0.01);
    assert_eq!(served(&outcome), (0, WRITTEN / 4 * 6));
    close(
        busy(&outcome, "server/device"),
        1.5 * WRITTEN as f64 * 10.0,
        1e-6,
    );
    // Messages of 64 KiB, one for each piece.
    assert_eq!(station(&outcome, "server/device").visits, 6 * STRIPES);
}

/// The primary of the only set receives all data, and sends three data pieces and two of parity
/// of each stripe: five quarters of it.
#[test]
fn a_primary_sends_what_it_does_not_keep() {
    let sets = ["replication.by=primary", "clients.rpc.in_flight=8"];
    let outcome = run(CODE, &sets);
    close(outcome.report.throughput["write"], 4e9 / 5.0, 0.02);
    assert_eq!(served(&outcome), (0, WRITTEN / 4 * 6));
}

/// Picoseconds: a piece on the wire, and on a device.
const DATA: u64 = 65_536_000;
const STORED: u64 = DATA / 100;
/// Two latencies: a question and its answer.
const ASKING: u64 = 20_000_000;
/// The last packet on the second card, and two latencies.
const ARRIVAL: u64 = 1_500_000 + ASKING;

/// One stripe. The client's card sends six pieces. With a primary it sends four of data, and then
/// the primary's card the five that it does not keep. A core that encodes 1 GB/s takes 1 ns for
/// each byte of the four data pieces.
#[test]
fn a_stripe_takes_its_pieces_on_the_wire() {
    let one = ["workload.0.block=256 KiB", "workload.0.transfer=256 KiB"];
    let client = ASKING + 6 * DATA + ARRIVAL + STORED;
    let primary = ASKING + 4 * DATA + ARRIVAL + 5 * DATA + ARRIVAL + STORED;
    for (by, expected) in [("client", client), ("primary", primary)] {
        let by = format!("replication.by={by}");
        let outcome = run(CODE, &[&one[..], &[&by]].concat());
        assert_eq!(latencies(&outcome), [expected]);
        let rate = "replication.code.rate=1 GB/s";
        let outcome = run(CODE, &[&one[..], &[&by, rate]].concat());
        assert_eq!(latencies(&outcome), [expected + 4 * DATA]);
    }
}

/// Pieces written one after the other, to a new stripe of four:
///
/// | piece | there | rest | old data and parity | read | written |
/// | --- | --- | --- | --- | --- | --- |
/// | 0 | 0 | 0 | 0 | 0 | 1 + 2 |
/// | 1 | 1 | 1 | 0 + 2 | 1 | 1 + 2 |
/// | 2 | 2 | 2 | 0 + 2 | 2 | 1 + 2 |
/// | 3 | 3 | 3 | 0 + 2 | 2 | 1 + 2 |
///
/// Written again, each reads the rest, three, or as many by its old data and parity.
#[test]
fn writes_of_single_pieces_read_before_they_write() {
    for by in ["client", "primary"] {
        let by = format!("replication.by={by}");
        let sets = ["workload.0.block=1 MiB", "workload.0.transfer=64 KiB", &by];
        let once = run(CODE, &sets);
        assert_eq!(served(&once), (4 * 5 * PIECE, 4 * 12 * PIECE));
        let twice = run(CODE, &[&sets[..], &["workload.0.repeat=2"]].concat());
        assert_eq!(served(&twice), (4 * 17 * PIECE, 4 * 24 * PIECE));
    }
}

/// Counts of Ceph's document on enhancements of erasure coding, for 4 + 2 and a write to one chunk.
/// Before, four chunks are read and six written; with partial overwrites, three and three. Source:
/// doc/dev/osd_internals/erasure_coding/enhancements.rst, "Current Overwrite Implementation" and
/// "Partial Overwrites".
#[test]
fn small_writes_cost_what_ceph_counts() {
    let sets = [
        "replication.by=primary",
        "replication.code.unit=4 KiB",
        "workload.0.block=16 KiB",
        "workload.0.transfer=4 KiB",
        "workload.0.order=random",
        "workload.0.repeat=2",
    ];
    let of_second = |access: &str| {
        let access = format!("replication.code.access={access}");
        let all = [&sets[..], &[&access]].concat();
        let both = served(&run(CODE, &all));
        let once = served(&run(CODE, &[&all[..], &["workload.0.repeat=1"]].concat()));
        let chunk = |bytes: u64| bytes as f64 / 4096.0 / 4.0;
        (chunk(both.0 - once.0), chunk(both.1 - once.1))
    };
    assert_eq!(of_second("stripes"), (4.0, 6.0));
    assert_eq!(of_second("pieces"), (3.0, 3.0));
}

/// Reads of one piece each ask its server only. With access by stripes, four are read for each.
#[test]
fn reads_of_intact_stripes_need_no_parity() {
    for by in ["client", "primary"] {
        let by = format!("replication.by={by}");
        let sets = [
            "workload.0.transfer=64 KiB",
            "workload.0.phases=[\"read\"]",
            &by,
        ];
        assert_eq!(served(&run(CODE, &sets)), (WRITTEN, 0));
        let whole = [&sets[..], &["replication.code.access=stripes"]].concat();
        assert_eq!(served(&run(CODE, &whole)), (4 * WRITTEN, 0));
    }
    // Four servers send at once, and the client's card is the limit.
    let outcome = run(CODE, &["workload.0.phases=[\"read\"]"]);
    close(outcome.report.throughput["read"], 1e9, 0.01);
}

/// Four stripes are read piece by piece, and server 0 fails at once. The client finds out by its
/// first piece there, and reads k = 4 others for it and for each of the three that follow.
#[test]
fn a_lost_piece_costs_reads_of_k_others() {
    let text = with_failure("server = 0\nat = \"1 us\"");
    let sets = [
        "workload.0.block=1 MiB",
        "workload.0.transfer=64 KiB",
        "workload.0.phases=[\"read\"]",
    ];
    let outcome = run(&text, &sets);
    assert_eq!(served(&outcome), ((12 + 4 * 4) * PIECE, 0));
    assert_eq!(outcome.report.operations["read"].failed, 0);
    // A core decodes the four pieces of each of the four reads.
    let outcome = run(
        &text,
        &[&sets[..], &["replication.code.rate=1 GB/s"]].concat(),
    );
    assert_eq!(station(&outcome, "client/code").visits, 4);
    close(busy(&outcome, "client/code"), (16 * DATA) as f64, 1e-9);
}

/// Without server 5 the second piece of parity is not written. Nothing is read for it.
#[test]
fn writes_go_to_the_servers_that_are_there() {
    let text = with_failure("server = 5\nat = \"1 us\"");
    let outcome = run(&text, &["workload.0.transfer=256 KiB"]);
    // The first stripe may have been sent to the others twice.
    let (read, written) = served(&outcome);
    assert_eq!(read, 0);
    let least = 5 * STRIPES * PIECE;
    assert!((least..=least + 5 * PIECE).contains(&written), "{written}");
    assert_eq!(outcome.report.operations["write"].failed, 0);
}

/// The primary of four stripes fails at once, and server 1 takes its place. It reads three of the
/// four pieces over its link, and sends the lost one to the client:
///
/// - request and answer, client to primary and primary to others: 4 ways of 10 us;
/// - 3 pieces of 65,536 bytes on the primary's link and one on the client's, at 1 ns a byte;
/// - on each link a packet of 1.5 us behind the sender's.
///
/// With `by = "client"` the client reads all four pieces: 2 ways, and 4 pieces on its link.
#[test]
fn a_degraded_read_takes_k_pieces_on_the_links() {
    let text = with_failure("server = 0\nat = \"1 us\"");
    let (way, piece, packet) = (10e-6, 65_536e-9, 1.5e-6);
    for (by, expected) in [
        ("primary", 4.0 * way + 4.0 * piece + 2.0 * packet),
        ("client", 2.0 * way + 4.0 * piece + packet),
    ] {
        let by = format!("replication.by={by}");
        let sets = [
            by.as_str(),
            "workload.0.block=1 MiB",
            "workload.0.transfer=64 KiB",
            "workload.0.phases=[\"read\"]",
        ];
        let outcome = run(&text, &sets);
        assert_eq!(served(&outcome), ((12 + 4 * 4) * PIECE, 0), "{by}");
        assert_eq!(outcome.report.operations["read"].failed, 0);
        let latencies = latencies(&outcome);
        for stripe in [4, 8, 12] {
            close(latencies[stripe] as f64 * 1e-12, expected, 2e-3);
        }
    }
}

/// A write covers the last piece of one stripe and the first two of the next. The primary reads two
/// parts of one piece for it, as two jobs with one number. Both are answered, though servers 2 and 3
/// fail later.
#[test]
fn a_server_answers_two_jobs_with_one_number() {
    let mut text = with_failure("server = 2\nat = \"10 s\"\nuntil = \"11 s\"");
    text.push_str("\n[[failure]]\nserver = 3\nat = \"10 s\"\nuntil = \"11 s\"");
    let sets = [
        "replication.by=primary",
        "replication.code.unit=16 KiB",
        "workload.0.block=192 KiB",
        "workload.0.transfer=48 KiB",
        "workload.0.phases=[\"write\", \"write\"]",
    ];
    let outcome = run(&text, &sets);
    assert_eq!(outcome.report.operations["write"].count, 8);
    let longest = latencies(&outcome).into_iter().max();
    assert!(
        longest.is_some_and(|it| it < 1_000_000_000_000),
        "{longest:?}"
    );
}

/// Three servers of a code of 4 + 2 are away. A read waits until the first of them is back, and
/// until the client's next ping finds that out.
#[test]
fn requests_wait_while_too_many_pieces_are_away() {
    let mut text = with_failure("server = 0\nat = \"1 us\"\nuntil = \"1 s\"");
    for server in [1, 4] {
        text.push_str(&format!(
            "\n[[failure]]\nserver = {server}\nat = \"1 us\"\nuntil = \"2 s\""
        ));
    }
    for by in ["client", "primary"] {
        let by = format!("replication.by={by}");
        let sets = [
            by.as_str(),
            "workload.0.block=256 KiB",
            "workload.0.transfer=256 KiB",
            "workload.0.phases=[\"read\"]",
        ];
        let outcome = run(&text, &sets);
        let seconds = latencies(&outcome)[0] as f64 * 1e-12;
        assert!((1.0..1.02).contains(&seconds), "{by}: {seconds}");
        assert_eq!(outcome.report.operations["read"].failed, 0);
    }
}

fn with_failure(times: &str) -> String {
    format!("{CODE}\n[recovery]\ntimeout = \"10 ms\"\nretry = \"5 ms\"\n[[failure]]\n{times}")
}

/// A server that missed the writes of a while gets its pieces back: each is read from four others.
#[test]
fn self_heal_reads_k_pieces_for_each() {
    let text = with_failure("server = 5\nat = \"1 us\"\nuntil = \"40 ms\"");
    let sets = [
        "workload.0.transfer=256 KiB",
        "replication.repair.kind=self-heal",
    ];
    let outcome = run(&text, &sets);
    let repair = outcome.report.failures[0]
        .repair
        .as_ref()
        .expect("configured");
    // 10 ms pass until the client finds out, and then 262 us a stripe or more.
    let stripes = repair.copied_bytes / PIECE;
    assert!(stripes > 50 && stripes < 110, "{stripes}");
    assert_eq!(repair.copied_bytes % PIECE, 0);
    assert_eq!(repair.read_bytes, 4 * repair.copied_bytes);
    assert!(repair.whole_s.is_some_and(|it| it > 40e-3));
    let (_, written) = served(&outcome);
    assert_devices(&outcome, repair.copied_bytes);
    assert!(written >= 5 * STRIPES * PIECE);
}

/// Devices do what servers answered, with four reads and a write of each rebuilt byte. A byte
/// takes 1 ps to read and 10 ps to write.
fn assert_devices(outcome: &Outcome, rebuilt: u64) {
    let (read, written) = served(outcome);
    assert!(read >= 4 * rebuilt && written >= rebuilt);
    let expected = read as f64 + 10.0 * written as f64;
    close(busy(outcome, "server/device"), expected, 1e-6);
}

/// The pieces of a server that does not return are rebuilt elsewhere, one write for four reads.
#[test]
fn a_rebuild_reads_k_times_what_was_lost() {
    let text = with_failure(
        r#"server = 1
        at = "1.5 s"
        [[workload]]
        block = "1 MiB"
        transfer = "1 MiB"
        think = "3 s"
        phases = ["read"]
        repeat = 2"#,
    );
    let sets = [
        "clients.count=3",
        "servers.count=7",
        "replication.sets=random",
        "replication.repair.kind=re-replication",
        "replication.repair.after=1 s",
        "replication.repair.block=1 MiB",
    ];
    let outcome = run(&text, &sets);
    let repair = outcome.report.failures[0]
        .repair
        .as_ref()
        .expect("configured");
    // A quarter of each file of 64 MiB or 1 MiB whose set has the server.
    let quarters = (16 << 20, 1 << 18);
    let files = repair.copied_bytes / quarters.0;
    assert!((1..=3).contains(&files), "{files}");
    assert!((repair.copied_bytes % quarters.0).is_multiple_of(quarters.1));
    assert_eq!(repair.read_bytes, 4 * repair.copied_bytes);
    assert!(repair.whole_s.is_some_and(|it| it > 2.5));
    assert_devices(&outcome, repair.copied_bytes);
}

#[test]
fn codes_that_cannot_be_are_refused() {
    for (sets, says) in [
        (
            &["replication.code.data=5"][..],
            "5 + 2 pieces need as many servers, and servers.count = 6",
        ),
        (&["servers.count=8"], "sets of 6 neighbours would leave"),
        (
            &["replication.copies=2"],
            "copies of pieces are not modelled",
        ),
        (&["replication.by=chain"], "a chain passes whole copies on"),
        (&["locks.kind=extent"], "locks on replicated data"),
        (
            &["replication.by=primary", "messages.kind=rendezvous"],
            "it is not modelled",
        ),
    ] {
        let error = refusal(CODE, sets);
        assert!(error.contains(says), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// With any stage on the way, all is done, every piece is stored once, and reads return what
    /// they were asked for.
    #[test]
    fn every_piece_is_stored(
        data in 1_u64..5, parity in 1_u64..3, more in 0_u64..3, primary in any::<bool>(),
        random in any::<bool>(), unit in 1_u64..80,
        grain in prop::sample::select(vec!["message", "flow", "packet"]),
        scheduler in prop::sample::select(vec!["none", "sfq", "fifo"]),
        position in prop::sample::select(vec!["client", "server", "gateway"]),
        layout in prop::sample::select(vec!["striped", "crush"]),
        rate in any::<bool>(), messages in prop::sample::select(vec!["whole", "rendezvous", "rdma"]),
        cached in any::<bool>(),
    ) {
        let pieces = data + parity;
        let servers = if random || layout == "crush" { pieces + more } else { pieces * (1 + more) };
        let mut sets = vec![
            format!("replication.code.data={data}"),
            format!("replication.code.parity={parity}"),
            format!("replication.code.unit={unit} KiB"),
            format!("replication.by={}", if primary { "primary" } else { "client" }),
            format!("servers.count={servers}"),
            format!("network.grain={grain}"),
            format!("layout.kind={layout}"),
            "clients.count=3".to_owned(),
            "workload.0.block=1 MiB".to_owned(),
            "workload.0.transfer=256 KiB".to_owned(),
        ];
        if random && layout != "crush" {
            sets.push("replication.sets=random".to_owned());
        }
        if rate {
            sets.push("replication.code.rate=5 GB/s".to_owned());
        }
        if !primary && (scheduler == "none" || position != "gateway") {
            sets.push(format!("messages.kind={messages}"));
        }
        if scheduler != "none" {
            sets.push(format!("scheduler.kind={scheduler}"));
            sets.push(format!("scheduler.position={position}"));
            if scheduler == "sfq" {
                sets.push("scheduler.depth=4".to_owned());
            }
        }
        if cached {
            sets.push("clients.machine.memory.size=64 MiB".to_owned());
            sets.push("workload.0.phases=[\"write\", \"sync\"]".to_owned());
        } else {
            sets.push("workload.0.phases=[\"write\", \"read\"]".to_owned());
        }
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(CODE, &sets);
        let write = &outcome.report.operations["write"];
        prop_assert_eq!((write.bytes, write.failed), (3 << 20, 0));
        let (read, written) = served(&outcome);
        // Data once, and parity for at least its share of the data. Each of the twelve requests and
        // their parts on sets has parity for at most a piece in each of two stripes more.
        prop_assert!(written >= (3 << 20) / data * pieces);
        if !cached {
            let asked = &outcome.report.operations["read"];
            prop_assert_eq!((asked.bytes, asked.failed), (3 << 20, 0));
            prop_assert!(read >= 3 << 20);
        }
        let again = run(CODE, &sets);
        prop_assert_eq!(again.report.events, outcome.report.events);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// After any failures, of the servers that encode too, nothing is lost, each rebuilt byte has
    /// been read k times, and the run ends.
    #[test]
    fn requests_end_after_failures(
        data in 1_u64..4, parity in 1_u64..3,
        repair in prop::sample::select(vec!["none", "self-heal", "re-replication"]),
        layout in prop::sample::select(vec!["striped", "crush"]),
        grain in prop::sample::select(vec!["message", "flow", "packet"]),
        failures in prop::collection::vec((0_u32..6, 0_u32..60, 1_u32..100), 1..4),
        message in 1_u32..300, after in 0_u32..100, unit in 1_u64..80, in_flight in 1_u32..5,
        by in prop::sample::select(vec!["client", "primary"]),
    ) {
        let mut text = CODE.to_owned();
        text.push_str("[recovery]\ntimeout = \"10 ms\"\nretry = \"5 ms\"\n");
        let mut away = [0; 6];
        for (server, at, length) in failures {
            let at = at.max(away[server as usize] + 1);
            away[server as usize] = at + length;
            let until = at + length;
            text.push_str(&format!(
                "[[failure]]\nserver = {server}\nat = \"{at} ms\"\nuntil = \"{until} ms\"\n"
            ));
        }
        let mut sets = vec![
            "clients.count=3".to_owned(),
            "workload.0.block=4 MiB".to_owned(),
            "workload.0.transfer=300 KiB".to_owned(),
            "workload.0.block=6000 KiB".to_owned(),
            "workload.0.phases=[\"write\", \"read\"]".to_owned(),
            format!("layout.kind={layout}"),
            format!("replication.code.data={data}"),
            format!("replication.code.parity={parity}"),
            format!("replication.code.unit={unit} KiB"),
            format!("clients.rpc.in_flight={in_flight}"),
            format!("network.grain={grain}"),
            format!("replication.by={by}"),
            format!("replication.repair.kind={repair}"),
        ];
        if repair != "none" {
            sets.push(format!("replication.repair.after={after} ms"));
            sets.push(format!("replication.repair.message={message} kB"));
        }
        if layout != "crush" {
            sets.push("replication.sets=random".to_owned());
        }
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let outcome = run(&text, &sets);
        for operation in ["write", "read"] {
            let done = &outcome.report.operations[operation];
            prop_assert_eq!((done.count, done.bytes, done.failed), (60, (60 * 300) << 10, 0));
        }
        for failure in &outcome.report.failures {
            if let Some(repair) = &failure.repair {
                prop_assert_eq!(repair.read_bytes, data * repair.copied_bytes);
            }
        }
        let again = run(&text, &sets);
        prop_assert_eq!(again.report.events, outcome.report.events);
    }
}
