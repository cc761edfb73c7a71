//! Bad scenarios and their exact errors.

use std::path::Path;

const GOOD: &str = r#"name = "good"
system = "ideal"
[clients]
count = 8
groups = ["G1", "G2"]
[servers]
count = 4
[servers.memory]
cache = "900 MB"
dirty_limit = "400 MB"
[servers.device]
read_rate = "60 MB/s"
write_rate = "50 MB/s"
[network]
bandwidth = "1 Gbit/s"
latency = "0.2 ms"
[layout]
unit = "256 KiB"
[scheduler]
kind = "sfq"
depth = 4
weights = { G1 = 1, G2 = 4 }
[[workload]]
kind = "ior"
group = "G1"
block = "1 MiB"
transfer = "256 KiB"
[[workload]]
kind = "trace"
file = "a.csv"
[run]
seed = 7
"#;

fn load(text: &str, sets: &[&str]) -> Result<headrace_spec::Loaded, headrace_spec::Error> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    headrace_spec::load(text, Path::new("my.toml"), &sets)
}

#[test]
fn the_good_scenario_is_good() {
    if let Err(error) = load(GOOD, &[]) {
        panic!("{error}");
    }
}

/// A line of the good scenario (up to the first `=`, or a heading), its
/// replacement, and the error.
const LINES: &[(&str, &str, &str)] = &[
    // Wrong values.
    (
        "bandwidth",
        r#"bandwidth = "1 furlong""#,
        r#"my.toml:15:13: network.bandwidth = "1 furlong": expected a rate such as "1 Gbit/s" or "125 MB/s""#,
    ),
    (
        "bandwidth",
        r#"bandwidth = "1 Gbps""#,
        r#"my.toml:15:13: network.bandwidth = "1 Gbps": expected a rate such as "1 Gbit/s" or "125 MB/s": write Gbit/s for bits or GB/s for bytes per second"#,
    ),
    (
        "bandwidth",
        r#"bandwidth = "1 GB""#,
        r#"my.toml:15:13: network.bandwidth = "1 GB": expected a rate such as "1 Gbit/s" or "125 MB/s": GB is a size, did you mean GB/s?"#,
    ),
    (
        "bandwidth",
        "bandwidth = 1000",
        r#"my.toml:15:13: network.bandwidth = 1000: expected a rate such as "1 Gbit/s" or "125 MB/s": a bare number has no unit"#,
    ),
    (
        "bandwidth",
        r#"bandwidth = "0 MB/s""#,
        r#"my.toml:15:13: network.bandwidth = "0 MB/s": expected a rate such as "1 Gbit/s" or "125 MB/s": it must be more than 0"#,
    ),
    (
        "bandwidth",
        r#"bandwidth = "1e999 MB/s""#,
        r#"my.toml:15:13: network.bandwidth = "1e999 MB/s": expected a rate such as "1 Gbit/s" or "125 MB/s": it is too large"#,
    ),
    (
        "latency",
        r#"latency = "-1 ms""#,
        r#"my.toml:16:11: network.latency = "-1 ms": expected a time such as "0.2 ms" or "10 s": it must not be negative"#,
    ),
    (
        "latency",
        "latency = 5",
        r#"my.toml:16:11: network.latency = 5: expected a time such as "0.2 ms" or "10 s": a bare number has no unit, write "5 s" or "5 ms""#,
    ),
    (
        "latency",
        "latency = nan",
        r#"my.toml:16:11: network.latency = nan: expected a time such as "0.2 ms" or "10 s": a bare number has no unit"#,
    ),
    (
        "latency",
        r#"latency = "100000 d""#,
        r#"my.toml:16:11: network.latency = "100000 d": expected a time such as "0.2 ms" or "10 s": the longest is 213 d, the most that simulated time can hold"#,
    ),
    (
        "latency",
        r#"latency = "1e999 s""#,
        r#"my.toml:16:11: network.latency = "1e999 s": expected a time such as "0.2 ms" or "10 s": the longest is 213 d, the most that simulated time can hold"#,
    ),
    (
        "unit",
        "unit = \"256 KiB\"\nfirst_servers = [0, 4]",
        "my.toml:19:17: layout.first_servers = [0, 4]: there is no 4: expected numbers from 0 to 3, of servers or of sets of servers with the same data",
    ),
    (
        "unit",
        r#"unit = "256 KB""#,
        r#"my.toml:18:8: layout.unit = "256 KB": expected a size such as "64 KiB" or "1 MB": kB is 1000 bytes and KiB is 1024"#,
    ),
    (
        "unit",
        "unit = 65536",
        r#"my.toml:18:8: layout.unit = 65536: expected a size such as "64 KiB" or "1 MB": a bare number has no unit, write "65536 B" or "65536 KiB""#,
    ),
    (
        "unit",
        r#"unit = "0.1 B""#,
        r#"my.toml:18:8: layout.unit = "0.1 B": expected a size such as "64 KiB" or "1 MB": it must be a whole number of bytes"#,
    ),
    (
        "unit",
        r#"unit = "99999999 PB""#,
        r#"my.toml:18:8: layout.unit = "99999999 PB": expected a size such as "64 KiB" or "1 MB": it is larger than 16 EiB"#,
    ),
    (
        "unit",
        r#"unit = "0 B""#,
        r#"my.toml:18:8: layout.unit = "0 B": expected a size of more than 0 such as "64 KiB""#,
    ),
    (
        "count",
        "count = -8",
        "my.toml:4:9: clients.count = -8: expected a whole number of at least 1",
    ),
    (
        "count",
        "count = 2.5",
        "my.toml:4:9: clients.count = 2.5: expected a whole number of at least 1",
    ),
    (
        "count",
        r#"count = "8""#,
        r#"my.toml:4:9: clients.count = "8": expected a whole number of at least 1: write it without quotes"#,
    ),
    (
        "count",
        "count = 5000000000",
        "my.toml:4:9: clients.count = 5000000000: expected a whole number of at least 1: the largest is 4294967295",
    ),
    (
        "system",
        r#"system = "pvfs3""#,
        r#"my.toml:2:10: system = "pvfs3": expected "ideal", "pvfs", "pvfs2", "lustre", "lustre-2.15", "glusterfs", "hdfs", "cephfs", "beegfs", "daos", "spectrum-scale", "wekafs", "vast", "s3-gateway", "nfs", "pnfs", "cifs", "mpfs", "ext2", "ext3", "ext4", "xfs", "ldiskfs", "zfs", "poweredge-1850", "atlantis" or "measured", or a file such as "machine.toml": did you mean "pvfs"?"#,
    ),
    (
        "kind",
        r#"kind = "sfqd""#,
        r#"my.toml:20:8: scheduler.kind = "sfqd": expected "none", "fifo", "round-robin", "sfq", "sfq-plus", "dsfq", "edf", "two-level", "mclock", "crrn", "orr", "trr", "tbf", "least-loaded" or "python": did you mean "sfq"?"#,
    ),
    (
        "groups",
        "groups = []",
        r#"my.toml:5:10: clients.groups = []: expected a list of names such as ["G1", "G2"] or shares such as { G1 = 1, G2 = 3 }"#,
    ),
    (
        "groups",
        r#"groups = ["G1", "G1"]"#,
        r#"my.toml:5:10: clients.groups = ["G1", "G1"]: expected a list of names such as ["G1", "G2"] or shares such as { G1 = 1, G2 = 3 }: group "G1" is named twice"#,
    ),
    (
        "weights",
        "weights = { G1 = 0 }",
        r#"my.toml:22:11: scheduler.weights = { G1 = 0 }: expected a table of groups and positive numbers such as { G1 = 1, G2 = 4 }: the weight of "G1" must be a number of more than 0"#,
    ),
    // Wrong names.
    (
        "bandwidth",
        r#"bandwith = "1 Gbit/s""#,
        r#"my.toml:15:1: unknown field "bandwith" in [network]: did you mean "bandwidth"?"#,
    ),
    (
        "[network]",
        "[netwrok]",
        r#"my.toml:14:2: unknown section [netwrok]: did you mean [network]?"#,
    ),
    (
        "seed",
        "colour = 7",
        r#"my.toml:32:1: unknown field "colour" in [run]: expected "seed", "warm_up", "replications", "window" or "stop""#,
    ),
    (
        "unit",
        r#"stripe = "64 KiB""#,
        r#"my.toml:18:1: unknown field "stripe" in [layout]: it is called "unit""#,
    ),
    (
        "unit",
        "unit = \"64 KiB\"\nstripe_size = \"64 KiB\"",
        r#"my.toml:19:1: "unit" is given twice in [layout], as "unit" (line 18) and as "stripe_size": keep "unit""#,
    ),
    (
        "depth",
        "depth = 4\nblock = 3",
        r#"my.toml:22:1: unknown field "block" in [scheduler]: expected "kind", "depth", "weights", "position", "message_latency", "view_period" or "view_delay""#,
    ),
    (
        "kind",
        r#"kind = "fifo""#,
        r#"my.toml:22:1: unknown field "weights" in [scheduler] of kind "fifo": it belongs to kind "sfq", "sfq-plus", "dsfq" or "mclock""#,
    ),
    (
        "file",
        "file = \"a.csv\"\nfiles = 3",
        r#"my.toml:31:1: unknown field "files" in [[workload]] of kind "trace": it belongs to kind "ior", "mdtest", "operation-mix", "tree-copy" or "training""#,
    ),
    // Missing ones.
    (
        "latency",
        "",
        r#"my.toml:14:1: missing field "latency" in [network]: write, for example, latency = "0.2 ms""#,
    ),
    (
        "block",
        "",
        r#"my.toml:23:1: missing field "block" in [[workload]]: write, for example, block = "1 MiB""#,
    ),
    // Fields that do not fit each other.
    (
        "transfer",
        r#"transfer = "300 KiB""#,
        r#"my.toml:27:12: workload.0.transfer = "300 KiB": it must divide the block: workload.0.block = "1 MiB""#,
    ),
    (
        "group",
        r#"group = "G3""#,
        r#"my.toml:25:9: workload.0.group = "G3": expected a group of clients.groups, "G1" or "G2": did you mean "G1"?"#,
    ),
    (
        "weights",
        "weights = { g2 = 4 }",
        r#"my.toml:22:18: scheduler.weights.g2 = 4: expected a group of clients.groups, "G1" or "G2": did you mean "G2"?"#,
    ),
    (
        "unit",
        "unit = \"64 KiB\"\nservers = 9",
        "my.toml:19:11: layout.servers = 9: there are fewer servers: servers.count = 4",
    ),
    (
        "dirty_limit",
        r#"dirty_limit = "1 GB""#,
        r#"my.toml:10:15: servers.memory.dirty_limit = "1 GB": expected no more than the cache: servers.memory.cache = "900 MB""#,
    ),
    (
        "dirty_limit",
        r#"page = "0 B""#,
        r#"my.toml:10:8: servers.memory.page = "0 B": expected a size of more than 0 such as "4 KiB""#,
    ),
    (
        "count",
        "count = 1",
        r#"my.toml:5:10: clients.groups = ["G1", "G2"]: group "G2" is left without a client: clients.count = 1"#,
    ),
    (
        "block",
        "block = \"1 MiB\"\nrepeat = \"forever\"",
        r#"my.toml:27:10: workload.0.repeat = "forever": the run would never stop: give run.stop.time, run.stop.requests or run.stop.precision"#,
    ),
    (
        "seed",
        "seed = 1\nstop.precision = 0.1\n[[failure]]\nserver = 0\nat = \"30 s\"\nuntil = \"60 s\"",
        r#"my.toml:36:6: failure.0.at = "30 s": run.stop.precision may end the run before it, and the mean before it says nothing of what comes after: leave the precision out"#,
    ),
    (
        "seed",
        "seed = 1\nstop.precision = 0.1\n[[workload]]\nblock = \"1 MiB\"\nphases = [\"write\", \"read\"]",
        r#"my.toml:36:10: workload.2.phases = ["write", "read"]: run.stop.precision would end the run in the first phase whose mean is known: give one phase, or leave the precision out"#,
    ),
    (
        "seed",
        "warm_up = \"10 s\"\nstop.time = \"10 s\"",
        r#"my.toml:33:13: run.stop.time = "10 s": expected more than the warm-up: run.warm_up = "10 s""#,
    ),
    (
        "latency",
        "latency = \"0.2 ms\"\nmtu = \"40 B\"\nheader = \"40 B\"",
        r#"my.toml:17:7: network.mtu = "40 B": expected more than the header: network.header = "40 B""#,
    ),
    (
        "latency",
        "latency = \"0.2 ms\"\ntopology = \"pairs\"\n[servers.card]\nbandwidth = \"1 GB/s\"",
        r#"my.toml:19:13: servers.card.bandwidth = "1 GB/s": each pair of hosts has a link of its own, and no host one card: network.topology = "pairs""#,
    ),
    // Not TOML.
    (
        "unit",
        "unit = \"64 KiB\"\nunit = \"128 KiB\"",
        "my.toml:19:1: not valid TOML: unit is given twice",
    ),
    (
        "seed",
        "seed = 18446744073709551616",
        "my.toml:32:8: not valid TOML: seed = 18446744073709551616: expected a whole number from \
         -2^63 to 2^63 - 1",
    ),
    (
        "seed",
        "seed = 0x10000000000000000",
        "my.toml:32:8: not valid TOML: seed = 0x10000000000000000: expected a whole number from \
         -2^63 to 2^63 - 1",
    ),
    (
        "seed",
        "seed = 1e400",
        "my.toml:32:8: not valid TOML: seed = 1e400: expected a number of at most 1.8e308",
    ),
    (
        "seed",
        "seed = -1",
        "my.toml:32:8: run.seed = -1: expected a whole number from 0 to 2^63 - 1",
    ),
    (
        "seed",
        "seed = ",
        "my.toml:32:8: not valid TOML: seed has no value",
    ),
    (
        "latency",
        "latency = 0.2 ms",
        r#"my.toml:16:11: not valid TOML: text needs quotes: latency = "0.2 ms""#,
    ),
    (
        "latency",
        "latency = abc",
        r#"my.toml:16:11: not valid TOML: text needs quotes: latency = "abc""#,
    ),
    (
        "latency",
        "latency = \"0.2 ms",
        r#"my.toml:16:18: not valid TOML: invalid basic string, expected `"`"#,
    ),
    (
        "latency",
        "latency",
        r#"my.toml:16:8: not valid TOML: key with no value, expected `=`"#,
    ),
    // The wrong kind of thing.
    (
        "[network]",
        "[[network]]",
        r#"my.toml:14:1: expected [network], in one bracket: there is only one"#,
    ),
    (
        "[[workload]]",
        "[workload]",
        "my.toml:28:3: not valid TOML: workload is given twice",
    ),
];

/// Values that a simulation cannot hold or that would have no effect, the fields that they need,
/// and the error.
const LIMITS: &[(&str, &[&str], &str)] = &[
    (
        "clients.count=3000000",
        &[],
        "these are 3000000 clients: expected at most 2000000",
    ),
    (
        "servers.count=4000000000",
        &[],
        "these are 4000000000 servers: expected at most 2000000",
    ),
    (
        "metadata.servers=4000000000",
        &[],
        "these are 4000000000 metadata servers: expected at most 2000000",
    ),
    (
        "clients.processes=4000000000",
        &[],
        "these are 32000000000 processes on all clients: expected at most 2000000",
    ),
    (
        "network.topology=pairs",
        &["clients.count=100000", "servers.count=1000"],
        "these are 100100000 links between hosts: expected at most 2000000",
    ),
    (
        "network.framing=16000 PB",
        &[],
        "expected at most 4 GiB, the largest packet that IPv6 allows (RFC 2675)",
    ),
    (
        "workload.0.block=576460752303423488 B",
        &[
            "workload.0.transfer=1 MiB",
            "clients.count=64",
            "workload.0.access=shared",
        ],
        "32 blocks of that size make a shared file of more than 16 EiB",
    ),
    (
        "workload.0.files=4294967295",
        &[],
        "these are 17179869180 files in all: expected fewer than 2^32",
    ),
    (
        "layout.packet=64 B",
        &["workload.0.block=1 GiB", "workload.0.transfer=1 GiB"],
        r#"a request makes about 16777220 jobs, and at most 1000000 are possible: expected larger packets or a smaller workload.0.transfer = "1 GiB""#,
    ),
    (
        "workload.0.transfer=16000 PB",
        &[
            "workload.0.block=16000 PB",
            "network.mtu=2 B",
            "network.header=1 B",
        ],
        "with its packets' headers and framing, a request of that size is larger than 16 EiB on the wire: expected a smaller one or a larger network.mtu",
    ),
    (
        "servers.device.write_rate=1e-9 B/s",
        &[],
        "a job or message of 65536 bytes takes longer than 213 days, the most that simulated time can hold: expected a higher rate",
    ),
    (
        "servers.memory.rate=1e-9 B/s",
        &[],
        "a job or message of 65536 bytes takes longer than 213 days, the most that simulated time can hold: expected a higher rate",
    ),
    (
        "network.bandwidth=1e-9 B/s",
        &[],
        "a job or message of 65536 bytes takes longer than 213 days, the most that simulated time can hold: expected a higher rate",
    ),
    (
        "metadata.card.bandwidth=1e-300 B/s",
        &["network.message=1 B"],
        "a job or message of 1 bytes takes longer than 213 days, the most that simulated time can hold: expected a higher rate",
    ),
    (
        "run.window=0.0000001 ns",
        &[],
        "expected at least a picosecond (0.001 ns)",
    ),
    (
        "run.stop.time=0.0000001 ns",
        &[],
        "expected at least a picosecond (0.001 ns) after the warm-up",
    ),
    (
        "servers.memory.rate=1 GB/s",
        &["servers.memory.cache=0 B", "servers.memory.dirty_limit=0 B"],
        "nothing is cached, so nothing is copied: leave it out or give servers.memory.cache",
    ),
    (
        "servers.memory.replacement=arc",
        &["servers.memory.cache=0 B", "servers.memory.dirty_limit=0 B"],
        "nothing is cached, so nothing is evicted: leave it out or give servers.memory.cache",
    ),
    (
        "servers.memory.folder=policies",
        &[],
        "it is of a class in Python: only with servers.memory.replacement = \"python\"",
    ),
    (
        "scheduler.view_period=1 ms",
        &[],
        "schedulers of kind \"sfq\" do not use it: expected kind = \"least-loaded\" or \"python\", or leave it out",
    ),
    (
        "scheduler.view_period=1 ms",
        &[
            "replication.copies=2",
            "scheduler.position=client",
            "scheduler.kind=least-loaded",
        ],
        "its own jobs are all that it compares: expected load = \"view\", or leave it out",
    ),
    (
        "scheduler.message_latency=1 ms",
        &[],
        "schedulers of kind \"sfq\" send each other no messages: expected kind = \"dsfq\" or \"python\", or leave it out",
    ),
];

#[test]
fn what_a_simulation_cannot_hold_is_refused_at_once() {
    for (set, more, expected) in LIMITS {
        let sets: Vec<&str> = more.iter().chain([set]).copied().collect();
        let error = load(GOOD, &sets).expect_err(set);
        assert_eq!(error.to_string(), format!("--set {set}: {expected}"));
    }
    // A value in the file is refused in its line.
    let count = edit("count", "count = 3000000");
    let error = load(&count, &[]).expect_err("too many").to_string();
    let expected = "my.toml:4:9: clients.count = 3000000: these are 3000000 clients: expected at \
                    most 2000000";
    assert_eq!(error, expected);
    let names: Vec<String> = (0..257).map(|name| format!("\"g{name}\"")).collect();
    let groups = format!("clients.groups=[{}]", names.join(","));
    let sets = [groups.as_str(), "clients.count=257", "scheduler.kind=none"];
    let error = load(&GOOD.replace("group = \"G1\"", ""), &sets).expect_err("too many groups");
    assert_eq!(error.message, "these are 257 groups: expected at most 256");
}

#[test]
fn weights_without_effect_are_refused() {
    let error = load(GOOD, &["scheduler.position=client"]).expect_err("unequal weights");
    assert_eq!(
        error.to_string(),
        r#"my.toml:22:11: scheduler.weights = { G1 = 1, G2 = 4 }: each client is of one group, so its scheduler has nothing to weigh: scheduler.position = "client"; expected equal weights, or a scheduler at the "server" or "gateway""#
    );
    for more in [
        "scheduler.weights.G2=1",
        "scheduler.weights={}",
        "scheduler.kind=fifo",
    ] {
        load(GOOD, &["scheduler.position=client", more]).expect(more);
    }
    for position in ["server", "gateway"] {
        load(GOOD, &[&format!("scheduler.position={position}")]).expect(position);
    }
}

#[test]
fn a_wrong_strip_is_refused_in_its_line() {
    let strips = edit("unit", "kind = \"variable-strip\"");
    let strips = strips.replace(
        "kind = \"variable-strip\"",
        "kind = \"variable-strip\"\nstrip = [\n  { server = 0, size = \"1 MiB\" },\n  { server = 99, size = \"1 MiB\" },\n]",
    );
    let strips: Vec<&str> = strips
        .lines()
        .filter(|line| !line.starts_with("servers ="))
        .collect();
    let error = load(&strips.join("\n"), &[])
        .expect_err("no server 99")
        .to_string();
    assert!(
        error.starts_with("my.toml:21:14: layout.strip.1.server = 99: expected a number less than"),
        "{error}"
    );
}

#[test]
fn io_schedulers_have_effect() {
    let of = |sets: &[&str]| load(GOOD, sets).expect_err("no effect").to_string();
    let without = "nothing is queued: leave it out, or give servers.io_scheduler.depth or a kind \
                   other than \"none\"";
    for set in ["requests=64", "largest_request=64 KiB"] {
        let set = format!("servers.io_scheduler.{set}");
        assert_eq!(of(&[&set]), format!("--set {set}: {without}"));
        for more in ["depth=1", "kind=noop"] {
            let more = format!("servers.io_scheduler.{more}");
            load(GOOD, &[&set, &more]).expect("an effect");
        }
    }
    assert_eq!(
        of(&[
            "servers.io_scheduler.kind=cfq",
            "servers.io_scheduler.priorities=[4, 8]"
        ]),
        "--set servers.io_scheduler.priorities=[4, 8]: expected a list of at least one, each a \
         whole number from 0 to 7"
    );
}

/// Replaces the first line that begins with `start`.
fn edit(start: &str, with: &str) -> String {
    let mut done = false;
    let lines = GOOD.lines().filter_map(|line| {
        let name = line.split('=').next().unwrap_or("").trim();
        if done || name != start {
            return Some(line.to_owned());
        }
        done = true;
        (!with.is_empty()).then(|| with.to_owned())
    });
    let text = lines.collect::<Vec<_>>().join("\n");
    assert!(done, "no line {start}");
    text
}

#[test]
fn every_wrong_line_gives_its_one_clear_error() {
    let mut wrong = Vec::new();
    for (start, with, expected) in LINES {
        match load(&edit(start, with), &[]) {
            Ok(_) => wrong.push(format!("{with:?} was accepted")),
            Err(error) if error.to_string() != *expected => {
                wrong.push(format!(
                    "{with:?}\n  gave     {error}\n  expected {expected}"
                ));
            }
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Texts that lack something altogether, and the error.
const TEXTS: &[(&str, &str)] = &[
    (
        "",
        "my.toml: missing section [clients]: write [clients] and below it, for example, count = 4",
    ),
    (
        "[clients]\ncount = 1",
        "my.toml: missing section [servers]: write [servers] and below it, for example, count = 4",
    ),
    (
        "[clients]\ncount = 1\n[servers]\ncount = 1",
        r#"my.toml: missing section [servers.device]: write [servers.device] and below it, for example, read_rate = "60 MB/s""#,
    ),
    (
        "[clients]\ncount = 1\n[servers]\ncount = 1\n[servers.device]\nread_rate = \"1 MB/s\"\nwrite_rate = \"1 MB/s\"",
        r#"my.toml: missing section [network]: write [network] and below it, for example, bandwidth = "1 Gbit/s""#,
    ),
    (
        "[clients]\ncount = 1\n[servers]\ncount = 1\n[servers.device]\nread_rate = \"1 MB/s\"\nwrite_rate = \"1 MB/s\"\n[network]\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n[layout]\nunit = \"1 MB\"",
        r#"my.toml: missing section [[workload]]: write [[workload]] and below it, for example, kind = "ior" and block = "1 MiB""#,
    ),
    (
        "[workload]\nkind = \"ior\"",
        "my.toml:1:1: expected [[workload]], in two brackets: there may be several",
    ),
    (
        "clients = 3",
        "my.toml:1:11: clients = 3: expected a section [clients]",
    ),
    (
        "\u{0}",
        "my.toml:1:2: not valid TOML: key with no value, expected `=`",
    ),
];

#[test]
fn what_is_missing_is_named() {
    let mut wrong = Vec::new();
    for (text, expected) in TEXTS {
        match load(text, &[]) {
            Ok(_) => wrong.push(format!("{text:?} was accepted")),
            Err(error) if error.to_string() != *expected => {
                wrong.push(format!(
                    "{text:?}\n  gave     {error}\n  expected {expected}"
                ));
            }
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Values from the command line, and the error.
const SETS: &[(&str, &str)] = &[
    (
        "network.bandwidth=1 furlong",
        r#"--set network.bandwidth=1 furlong: expected a rate such as "1 Gbit/s" or "125 MB/s""#,
    ),
    (
        "network.bandwith=1 Gbit/s",
        r#"--set network.bandwith=1 Gbit/s: there is no field "network.bandwith": did you mean "network.bandwidth"?"#,
    ),
    (
        "workload.2.files=1",
        "--set workload.2.files=1: the file has 2 [[workload]], numbered from 0",
    ),
    (
        "workload.0.files.1=1",
        r#"--set workload.0.files.1=1: there is no field "workload.0.files.1": did you mean "workload.0.files"?"#,
    ),
    ("=3", r#"--set =3: there is no field """#),
    (
        "clients.count",
        r#"--set clients.count: expected path=value, for example "network.bandwidth=1 Gbit/s""#,
    ),
    (
        "clients.groups.G3=1",
        "--set clients.groups.G3=1: groups is not a table in the file: give it as a whole",
    ),
    (
        "workload.0.transfer=3 MB",
        r#"--set workload.0.transfer=3 MB: it must divide the block: workload.0.block = "1 MiB""#,
    ),
    (
        "scheduler.weights.G3=1",
        r#"--set scheduler.weights.G3=1: expected a group of clients.groups, "G1" or "G2": did you mean "G1"?"#,
    ),
    (
        "system=lustro",
        r#"--set system=lustro: expected "ideal", "pvfs", "pvfs2", "lustre", "lustre-2.15", "glusterfs", "hdfs", "cephfs", "beegfs", "daos", "spectrum-scale", "wekafs", "vast", "s3-gateway", "nfs", "pnfs", "cifs", "mpfs", "ext2", "ext3", "ext4", "xfs", "ldiskfs", "zfs", "poweredge-1850", "atlantis" or "measured", or a file such as "machine.toml": did you mean "lustre"?"#,
    ),
    (
        "workload.0.read_share=1.5",
        "--set workload.0.read_share=1.5: expected a number from 0 to 1, such as 0.5",
    ),
    (
        "workload.0.io.priority=best-efort",
        r#"--set workload.0.io.priority=best-efort: expected a class and a level from 0, the highest, to 7, such as "best-effort 4" or "realtime 0", or "idle": did you mean "best-effort"?"#,
    ),
    (
        "workload.0.io.priority=realtime 8",
        r#"--set workload.0.io.priority=realtime 8: expected a class and a level from 0, the highest, to 7, such as "best-effort 4" or "realtime 0", or "idle": the lowest level is 7"#,
    ),
    (
        "workload.0.io.priority=idle 3",
        r#"--set workload.0.io.priority=idle 3: expected a class and a level from 0, the highest, to 7, such as "best-effort 4" or "realtime 0", or "idle": the idle class has no levels"#,
    ),
    (
        "workload.0.io.priority=idle",
        r#"--set workload.0.io.priority=idle: it has an effect on local file systems only: kind = "parallel"; leave it out"#,
    ),
    (
        "workload.1.kind=ior",
        r#"my.toml:28:1: missing field "block" in [[workload]]: write, for example, block = "1 MiB""#,
    ),
];

#[test]
fn every_wrong_set_gives_its_one_clear_error() {
    let mut wrong = Vec::new();
    for (set, expected) in SETS {
        match load(GOOD, &[set]) {
            Ok(_) => wrong.push(format!("{set:?} was accepted")),
            Err(error) if error.to_string() != *expected => {
                wrong.push(format!(
                    "{set:?}\n  gave     {error}\n  expected {expected}"
                ));
            }
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Values from the command line over heterogeneous hosts, and the error.
const GROUP_SETS: &[(&str, &str)] = &[
    // The field that was meant is named as the hosts are: by number, by name, or as the only ones.
    (
        "servers.group.0.device.red_rate=1 MB/s",
        r#"there is no field "servers.group.0.device.red_rate": did you mean "servers.group.0.device.read_rate"?"#,
    ),
    (
        "servers.group.slow.device.red_rate=1 MB/s",
        r#"there is no field "servers.group.slow.device.red_rate": did you mean "servers.group.slow.device.read_rate"?"#,
    ),
    (
        "servers.group.device.red_rate=1 MB/s",
        r#"there is no field "servers.group.device.red_rate": did you mean "servers.group.device.read_rate"?"#,
    ),
    (
        "servers.group.slwo.count=2",
        r#"there is no field "servers.group.slwo.count": did you mean "servers.group.slow.count"?"#,
    ),
    (
        "servers.group.3.count=2",
        "the file has 1 [[servers.group]], numbered from 0",
    ),
    (
        "clients.group.0.card.bandwidth=1 Gbit/s",
        "the file has no [[clients.group]]: add it there, or give all of them, clients.group=[{ … }]",
    ),
    // If several values are given, the wrong one is named.
    (
        r#"servers.group=[{name="x",count="y"}]"#,
        r#"servers.group.0.count = "y": expected a whole number of at least 1"#,
    ),
    (
        r#"servers.group.0={name="x",count="y"}"#,
        r#"servers.group.0.count = "y": expected a whole number of at least 1"#,
    ),
    (
        r#"servers.group=[{name="x"}]"#,
        r#"missing field "count" in [[servers.group]]: write, for example, count = 1"#,
    ),
    (
        r#"servers.device={read_rate="1 furlong"}"#,
        r#"servers.device.read_rate = "1 furlong": expected a rate such as "1 Gbit/s" or "125 MB/s""#,
    ),
    (
        "workload.0.phases.0=foo",
        r#"workload.0.phases = ["foo"]: expected a list of at least one, each "write", "read", "mixed" or "sync""#,
    ),
    (
        "servers.group.slow.count=x",
        "expected a whole number of at least 1",
    ),
    (
        "servers.group.slow=4",
        "expected a section [[servers.group]]",
    ),
];

#[test]
fn wrong_sets_of_list_members_are_named() {
    let text = GOOD.replace(
        "[[workload]]\nkind = \"ior\"",
        "[[workload]]\nphases = [\"read\"]",
    );
    let text = format!("{text}[[servers.group]]\nname = \"slow\"\ncount = 1\n");
    for (set, expected) in GROUP_SETS {
        let error = load(&text, &[set]).expect_err(set).to_string();
        assert_eq!(error, format!("--set {set}: {expected}"));
    }
}

/// Hosts of two kinds are refused before the fields that one of them would need.
#[test]
fn kinds_of_hosts_are_compared_before_fields_are_asked_for() {
    let group = |text: &str, hosts: &str, lines: &str| {
        let text = format!("{text}[[{hosts}.group]]\nname = \"G1\"\n{lines}\n");
        load(&text, &[]).expect_err(lines).to_string()
    };
    assert_eq!(
        group(
            GOOD,
            "servers",
            "count = 1\nmachine = { cpu = { cores = 2 } }"
        ),
        r#"my.toml:36:11: servers.group.0.machine = { cpu = { cores = 2 } }: all servers are of one kind: servers.kind = "simple"; leave it out, or expected a [servers.machine] of all servers"#
    );
    assert_eq!(
        group(
            GOOD,
            "clients",
            "[clients.group.machine.memory]\nsize = \"1 GiB\""
        ),
        r#"my.toml:35:16: clients.group.0.machine = { memory = { size = "1 GiB" } }: all clients are of one kind: clients.kind = "simple"; leave it out, or expected a [clients.machine] of all clients"#
    );
    let memory = "[servers.memory]\ncache = \"900 MB\"\ndirty_limit = \"400 MB\"\n[servers.device]";
    let machines = GOOD.replace(memory, "[servers.machine.device]");
    assert_eq!(
        group(
            &machines,
            "servers",
            "count = 1\ndevice = { kind = \"disk\" }"
        ),
        r#"my.toml:33:10: servers.group.0.device = { kind = "disk" }: all servers are of one kind: servers.kind = "machine"; expected it in [servers.group.machine]"#
    );
}

#[test]
fn streams_go_in_order() {
    let sets = ["workload.0.order=random", "workload.0.streams=2"];
    let error = load(GOOD, &sets).expect_err("in what order?").to_string();
    assert_eq!(
        error,
        "--set workload.0.streams=2: streams are read in order: leave it out, or give \
         workload.0.order = \"sequential\""
    );
}

#[test]
fn monstrous_texts_give_a_short_error_soon() {
    let deep = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
    let dotted = format!("{} = 1", vec!["a"; 100_000].join("."));
    let wide: String = (0..100_000).map(|key| format!("key{key} = 1\n")).collect();
    let groups: String = (0..100_000).map(|key| format!("g{key} = 1\n")).collect();
    let groups = format!("[clients]\ncount = 3\n[clients.groups]\n{groups}");
    let number = format!("[network]\nbandwidth = \"{} B/s\"", "9".repeat(1_000_000));
    for text in [&deep, &dotted, &wide, &groups, &number] {
        let error = load(text, &[]).expect_err("monstrous").to_string();
        assert!(error.len() < 400, "{error}");
    }
    let error = load(GOOD, &[&dotted])
        .expect_err("no such field")
        .to_string();
    assert!(error.len() < 400, "{error}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = std::env::temp_dir();
    let missing = folder.join("headrace-no-such-scenario.toml");
    let error = headrace_spec::load_file(&missing, &[]).expect_err("there is no such file");
    let text = error.to_string();
    assert!(
        text.starts_with(&format!(
            "{}: cannot read the scenario: ",
            missing.display()
        )),
        "{text}"
    );
    let error = headrace_spec::load_file(&folder, &[]).expect_err("a folder is no scenario");
    assert!(
        error.to_string().contains("cannot read the scenario"),
        "{error}"
    );
}

const LOCAL: &str = r#"system = "ext3"
[clients]
count = 2
processes = 2
[machine.device]
kind = "disk"
model = "ST336753LC"
[[machine.volume]]
name = "small"
[machine.volume.file_system.journal]
mode = "ordered"
size = "1 GiB"
[machine.volume.device]
kind = "raid"
level = 0
disks = 2
[machine.volume.device.member]
kind = "solid-state"
capacity = "10 GB"
channels = 1
dies = 1
page = "16 KiB"
read_time = "50 us"
program_time = "1 ms"
channel_rate = "300 MB/s"
interface_rate = "500 MB/s"
[[workload]]
block = "1 GiB"
transfer = "1 MiB"
"#;

#[test]
fn what_is_larger_than_its_device_is_refused() {
    for sets in [
        &[][..],
        // A new file has only its written bytes.
        &["workload.0.block=1 TiB", "workload.0.requests=100"],
        &[
            "machine.device.kind=simple",
            "machine.device.read_rate=1 MB/s",
            "machine.device.write_rate=1 MB/s",
            "workload.0.block=1 TiB",
        ],
    ] {
        if let Err(error) = load(LOCAL, sets) {
            panic!("{sets:?}: {error}");
        }
    }
    for (sets, expected) in [
        (
            &["machine.file_system.journal.size=40 GB"][..],
            "--set machine.file_system.journal.size=40 GB: expected less than the device holds, \"36700 MB\"",
        ),
        (
            &["machine.volume.0.file_system.journal.size=1 TB"],
            "--set machine.volume.0.file_system.journal.size=1 TB: expected less than the device holds, \"20 GB\"",
        ),
        (
            &["workload.0.block=20 GiB"],
            "--set workload.0.block=20 GiB: a client's files take \"40 GiB\": expected no more than \"36565782272 B\", what its device has room for",
        ),
        (
            &["workload.0.block=9 GiB", "workload.0.io.volume=small"],
            "--set workload.0.block=9 GiB: a client's files take \"18 GiB\": expected no more than \"18482674 KiB\", what its device has room for",
        ),
        (
            &[
                "workload.0.kind=pipeline",
                "workload.0.request=1 MiB",
                "workload.0.input=1 GB",
                "workload.0.output=10 GB",
                "workload.0.output_volume=small",
            ],
            "--set workload.0.output=10 GB: a client's files take \"20 GB\": expected no more than \"18482674 KiB\", what its device has room for",
        ),
    ] {
        let found = load(LOCAL, sets).err().map(|error| error.to_string());
        assert_eq!(found.as_deref(), Some(expected));
    }
}

/// Fields of earlier versions, and what the error says of them in a file and in `--set`.
#[test]
fn a_removed_field_says_what_to_write_instead() {
    for (section, field, value, expected) in [
        ("machine.copying", "l1", "\"32 KiB\"", "take it out"),
        (
            "machine.cpu",
            "between_calls",
            "\"120 ns\"",
            "belongs to its workload",
        ),
        (
            "machine.copying",
            "contention",
            "1.3",
            "take as long as those of one",
        ),
        (
            "machine.copying",
            "read_call",
            "\"31 ns\"",
            "takes \"discontiguous_call\" in [machine.cpu]",
        ),
        (
            "machine.copying",
            "write_l2_share",
            "0.25",
            "take \"write_share\"",
        ),
        (
            "machine.file_system",
            "buffer_head_in_l2",
            "\"3 ns\"",
            "give \"buffer_head\" alone",
        ),
        (
            "machine.file_system",
            "new_folio_order",
            "\"200 ns\"",
            "folios of all sizes take",
        ),
        (
            "machine.device",
            "bulk_service",
            "true",
            "in the section \"hypervisor\"",
        ),
    ] {
        let text = format!(
            "system = \"ext4\"\n[machine.device]\nkind = \"throttled\"\nrate = \"1 GB/s\"\n{}{field} = {value}\n[[workload]]\n",
            match section {
                "machine.device" => String::new(),
                section => format!("[{section}]\n"),
            },
        );
        let error =
            |text: &str, sets: &[&str]| load(text, sets).expect_err("a removed field").to_string();
        let found = error(&text, &[]);
        let told = format!("\"{field}\" in [{section}] was removed: ");
        assert!(found.contains(&told) && found.contains(expected), "{found}");
        let without = text.replace(&format!("{field} = {value}\n"), "");
        let set = format!("{section}.{field}={}", value.trim_matches('"'));
        let found = error(&without, &[&set]);
        let told = format!("--set {set}: \"{field}\" was removed: ");
        assert!(
            found.starts_with(&told) && found.contains(expected),
            "{found}"
        );
    }
}

const EARLIER: &str = r#"
system = "ext4"
[machine.copying]
l1 = "0 B"
l2_share = 0.25
read_call = "0 s"
write_l2_share = 0.25
[machine.file_system]
buffer_head_in_l2 = "0 us"
buffer_head_in_l3 = "0 s"
new_folio_order = "0 s"
[machine.device]
kind = "throttled"
rate = "1 GB/s"
new_block = "0 s"
fresh_page = "0 s"
bulk_service = false
[[workload]]
block = "1 MiB"
[[calibration]]
field = "machine.copying.page_in_l2"
values = ["100 ns", "110 ns"]
[[calibration]]
field = "machine.copying.read_call"
values = ["0 s", "0 ns"]
"#;

/// A result or a machine file of an earlier version has every field.
#[test]
fn removed_fields_without_an_effect_are_ignored() {
    let earlier = load(EARLIER, &[]).expect("no field has an effect");
    let removed = |line: &&str| {
        let name = line.split(' ').next().unwrap_or_default();
        let gone = [
            "l1",
            "read_call",
            "write_l2_share",
            "new_folio_order",
            "new_block",
        ];
        !gone.contains(&name)
            && !name.starts_with("buffer_head_in")
            && !["fresh_page", "bulk_service"].contains(&name)
    };
    let now: Vec<&str> = EARLIER.lines().filter(removed).collect();
    let now = now.join("\n").replace(
        "[[calibration]]\nfield = \"machine.copying.read_call\"\nvalues = [\"0 s\", \"0 ns\"]",
        "",
    );
    let now = load(&now, &[]).expect("no field was removed");
    assert_eq!(earlier.scenario, now.scenario);
    // The kind that had the field is another's.
    let other = load(
        EARLIER,
        &[
            "machine.device=simple",
            "machine.device.read_rate=1 GB/s",
            "machine.device.write_rate=1 GB/s",
        ],
    );
    assert!(other.is_ok(), "{other:?}");
}

#[test]
fn removed_fields_with_an_effect_are_refused_together() {
    let with = |changes: &[(&str, &str)]| {
        let text = changes.iter().fold(EARLIER.to_owned(), |text, (old, new)| {
            assert!(text.contains(old), "{old}");
            text.replace(old, new)
        });
        load(&text, &[])
            .expect_err("a field has an effect")
            .to_string()
    };
    let again =
        "; an earlier version measured this machine: calibrate it again with headrace calibrate";
    assert_eq!(
        with(&[("write_l2_share = 0.25", "write_l2_share = 0.5")]),
        format!(
            "my.toml:7:1: \"write_l2_share\" in [machine.copying] was removed: copies into the page \
             cache take \"write_share\" of those out of it, whatever their size{again}"
        )
    );
    let several = [
        ("l1 = \"0 B\"", "l1 = \"32 KiB\""),
        ("bulk_service = false", "bulk_service = true"),
        ("\"0 s\", \"0 ns\"", "\"30 ns\", \"31 ns\""),
    ];
    assert_eq!(
        with(&several),
        format!(
            "my.toml:4:1: 3 fields were removed: \"l1\" in [machine.copying] (line 4): take it out: \
             \"l3_reach\" alone tells what the processor's caches have; \"bulk_service\" in \
             [machine.device] (line 17): give it in the section \"hypervisor\"; \
             \"machine.copying.read_call\" in [[calibration]] (line 23): take it out: a call that \
             follows no other takes \"discontiguous_call\" in [machine.cpu]{again}"
        )
    );
    // A field is named once, and a scenario without measurements cannot be calibrated.
    let start = EARLIER.split("[[calibration]]").next().expect("a start");
    let error = load(&start.replace("read_call = \"0 s\"", "read_call = 3"), &[]);
    let error = error.expect_err("no time").to_string();
    assert!(error.ends_with("[machine.cpu]"), "{error}");
}

#[test]
fn what_no_machine_has_is_refused_by_its_field() {
    for (set, expected) in [
        (
            "machine.copying.write_share=1e15",
            "expected a number from 0 to 1, such as 0.5",
        ),
        (
            "machine.write_back.interval=1 us",
            "expected at least \"10 ms\", such as \"5 s\"",
        ),
        (
            "machine.file_system.journal.commit_interval=1 us",
            "expected at least \"1 ms\", such as \"5 s\"",
        ),
        (
            "machine.file_system.allocation.group=2 MB",
            "a group has whole blocks of 4096 B: expected a multiple, such as \"2 MiB\"",
        ),
        (
            "machine.file_system.allocation.group=1 MB",
            "expected at least \"1 MiB\"",
        ),
    ] {
        let found = load(LOCAL, &[set]).err().map(|error| error.to_string());
        assert_eq!(found, Some(format!("--set {set}: {expected}")));
    }
}

#[test]
fn drives_that_no_memory_holds_are_refused() {
    let drive = "machine.volume.0.device.member";
    for (field, value, expected) in [
        (
            "over_provisioning",
            "1e9",
            "more than 20 million erase blocks would be spare: expected at most ",
        ),
        (
            "capacity",
            "10000 PB",
            "these are more than 20 million erase blocks: expected more pages_per_block",
        ),
    ] {
        let error = load(LOCAL, &[&format!("{drive}.{field}={value}")])
            .expect_err(field)
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    for (field, expected) in [("segments", "4096"), ("zones", "1000000")] {
        let sets = [
            "machine.device.buffer=1 PB",
            &format!("machine.device.{field}=1000000000"),
        ];
        let error = load(LOCAL, &sets).expect_err(field).to_string();
        let expected = format!("expected at most {expected}");
        assert!(error.ends_with(&expected), "{error}");
    }
}

/// A die of 16 blocks of 1 MiB: with fewer than 13 spare ones, 0.07 and 0.5 would be the same.
#[test]
fn a_drive_with_too_little_spare_is_refused() {
    let drive = "machine.volume.0.device.member";
    let of = |capacity: &str, spare: f64| {
        let sets = [
            format!("{drive}.capacity={capacity}"),
            format!("{drive}.channels=4"),
            format!("{drive}.dies=2"),
            format!("{drive}.pages_per_block=64"),
            format!("{drive}.over_provisioning={spare}"),
            "machine.volume.0.file_system.journal.size=8 MiB".to_owned(),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        load(LOCAL, &sets).err().map(|error| error.to_string())
    };
    for spare in [0.0, 0.07, 0.28, 0.5, 0.8] {
        let error = of("128 MiB", spare).expect("it is refused");
        let expected = "each die has 16 erase blocks for data, of which this leaves fewer than \
                        the 13 spare ones that a die needs: expected at least 0.813, a larger \
                        capacity, or fewer pages_per_block";
        assert!(error.ends_with(expected), "{error}");
    }
    assert_eq!(of("128 MiB", 0.813), None);
    // 128 blocks.
    assert!(of("1 GiB", 0.07).is_some_and(|error| error.contains("at least 0.102")));
    assert_eq!(of("1 GiB", 0.102), None);
    assert_eq!(of("1 GiB", 0.28), None);
}

/// Numbers of 16 bits: the largest is the last that is possible.
#[test]
fn servers_have_as_many_targets_as_have_numbers() {
    let one = ["servers.count=1", "servers.targets=65536"];
    assert!(load(GOOD, &one).is_ok());
    let error = load(GOOD, &["servers.count=1", "servers.targets=65537"]).err();
    assert!(error.is_some_and(|it| it.to_string().ends_with("expected at most 65536")));
}

/// Credits keep packets of InfiniBand and Fibre Channel from being dropped; the model of
/// packets is one of Ethernet.
#[test]
fn links_without_loss_are_cautioned_of_at_the_grain_of_packets() {
    let of = |link: &str, grain: &str| {
        let sets = [
            format!("network.link={link}"),
            format!("network.grain={grain}"),
        ];
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let loaded = load(GOOD, &sets).unwrap_or_else(|error| panic!("{error}"));
        headrace_spec::cautions(&loaded)
    };
    for link in ["InfiniBand-QDR", "16GFC"] {
        let found = of(link, "packet");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].condition, "lossless-link");
        assert!(found[0].message.contains(link), "{}", found[0].message);
        assert!(found[0].message.contains("credits"), "{}", found[0].message);
        assert_eq!(of(link, "message"), []);
        assert_eq!(of(link, "flow"), []);
        let sets = [
            &format!("network.link={link}"),
            "network.grain=packet",
            "network.flow_control=credits",
        ];
        let loaded = load(GOOD, &sets).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(headrace_spec::cautions(&loaded), []);
    }
    assert_eq!(of("10GbE", "packet"), []);
}

/// A default time of 0 that decides the rate is named; an explicit one is not.
#[test]
fn times_that_are_zero_by_default_are_cautioned_of_where_they_decide() {
    let conditions = |sets: &[&str]| {
        let loaded = load(GOOD, sets).unwrap_or_else(|error| panic!("{error}"));
        let all = headrace_spec::cautions(&loaded).into_iter();
        all.map(|it| (it.condition, it.message)).collect::<Vec<_>>()
    };
    let names = |field: &str, sets: &[&str]| {
        let all = conditions(sets);
        assert_eq!(all.len(), 1, "{all:?}");
        assert_eq!(all[0].0, "zero-default");
        assert!(all[0].1.contains(&format!("{field} = \"0 s\"")), "{all:?}");
    };
    let mdtest = "workload=[{ kind = \"mdtest\", files = 10 }]";
    names("metadata.time_per_operation", &[mdtest]);
    for given in [
        "metadata.time_per_operation=0 s",
        "metadata.times.create=1 ms",
    ] {
        assert_eq!(conditions(&[mdtest, given]), [], "{given}");
    }
    let small = [
        "workload.0.transfer=4 KiB",
        "servers.device.read_rate=500 MB/s",
    ];
    names("servers.device.time_per_request", &small);
    let given = [small[0], small[1], "servers.device.time_per_request=0 s"];
    assert_eq!(conditions(&given), []);
    let shared = [
        "clients.count=2",
        "locks.kind=extent",
        "workload.0.access=shared",
        "workload.0.phases=[\"write\"]",
    ];
    names("locks.time_per_lock", &shared);
    let fast = ["system=glusterfs", "network.bandwidth=100 Gbit/s"];
    let of_clients = |sets: &[&str]| {
        let all = conditions(sets).into_iter();
        all.filter(|it| it.1.contains("hosts.cpu.send_rate"))
            .count()
    };
    assert_eq!(of_clients(&fast), 1);
    assert_eq!(of_clients(&fast[..1]), 0);
    assert_eq!(
        of_clients(&[fast[0], fast[1], "hosts.cpu.send_rate=3 GB/s"]),
        0
    );
    assert_eq!(of_clients(&["system=ideal", fast[1]]), 0);
}

#[test]
fn a_stonewall_and_a_shift_of_ranks_suit_their_workload() {
    let error = |sets: &[&str]| load(GOOD, sets).err().map(|it| it.to_string());
    let wrong = |sets: &[&str], expected: &str| {
        let error = error(sets).unwrap_or_default();
        assert!(error.contains(expected), "{error}");
    };
    wrong(
        &["workload.0.stonewall=1 s", "workload.0.order=random"],
        "workload.0.order = \"sequential\"",
    );
    wrong(
        &["workload.0.stonewall=1 s", "workload.0.phases=[\"read\"]"],
        "no phase writes",
    );
    let mdtest =
        "workload=[{ kind = \"mdtest\", files = 10, phases = [\"stat\"], stonewall = \"1 s\" }]";
    wrong(&[mdtest], "no phase creates files");
}

#[test]
fn turns_are_one_for_each_phase() {
    let wrong = |sets: &[&str], expected: &str| {
        let error = load(GOOD, sets).err().map(|it| it.to_string());
        let error = error.unwrap_or_default();
        assert!(error.contains(expected), "{error}");
    };
    let two = "workload.0.phases=[\"write\", \"read\"]";
    wrong(&[two, "workload.0.turns=[1]"], "expected 2 numbers");
    wrong(&[two, "workload.0.turns=[2, 1]"], "that do not decrease");
    wrong(&[two, "workload.0.turns=[1, 2000]"], "from 1 to 1000");
    let repeated = "workload.0.repeat=2";
    wrong(&[two, "workload.0.turns=[1, 2]", repeated], "repeated");
    let copy = "workload=[{ kind = \"tree-copy\", files = 10, turns = [1] }]";
    wrong(&[copy], "no phases of all its processes");
    assert!(load(GOOD, &[two, "workload.0.turns=[1, 1]"]).is_ok());
}

#[test]
fn network_devices_say_what_does_not_fit() {
    let text = "system = \"ext4\"\n[machine.device]\nkind = \"network\"\nbandwidth = \"25 Gbit/s\"\n\
                latency = \"10 us\"\n[machine.device.target]\nread_rate = \"1 GB/s\"\n\
                write_rate = \"1 GB/s\"\n[[workload]]\nblock = \"1 MiB\"\n";
    load(text, &[]).expect("a good device");
    for (sets, expected) in [
        (
            &[
                "machine.device.protocol=nvme-rdma",
                "machine.device.target_cpu.send_rate=1 GB/s",
            ][..],
            "cards move the data of protocol = \"nvme-rdma\" without a processor",
        ),
        (&["machine.device.queues=0"], "expected"),
        (&["machine.device.payload=0 B"], "expected more than 0 B"),
        (&["machine.device.protocol=nvme-fc"], "\"nvme-tcp\""),
        (&["machine.device.target.kind=network"], "\"solid-state\""),
    ] {
        let error = load(text, sets).expect_err("a bad device").to_string();
        assert!(error.contains(expected), "{error}");
    }
    let parallel = GOOD.replace(
        "[servers.device]\n",
        "[servers.device]\nkind = \"network\"\nbandwidth = \"25 Gbit/s\"\nlatency = \"10 us\"\n\
         shared_target = true\n[servers.device.target]\n",
    );
    let error = load(&parallel, &[])
        .expect_err("servers do not share it")
        .to_string();
    assert!(
        error.contains("shared_target") && error.contains("leave it out"),
        "{error}"
    );
}
