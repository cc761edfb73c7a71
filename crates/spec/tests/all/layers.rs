//! Layers over each other: defaults, presets, the file, the command line.

use std::path::Path;

use headrace_spec::{
    Bytes, Device, Explanation, LayoutKind, Loaded, Rate, Row, SchedulerKind, Seconds, ServerKind,
    ServersPerFile, WorkloadKind, explain, presets,
};

const FILE: &str = r#"
system = "pvfs2"
[clients]
count = 7
groups = ["G1", "G2"]
[servers]
count = 4
device = { read_rate = "60 MB/s", write_rate = "60 MB/s" }
[network]
bandwidth = "1 Gbit/s"
latency = "0.2 ms"
[scheduler]
kind = "sfq"
depth = 4
weights = { G1 = 2 }
position = "gateway"
[[workload]]
block = "1 MiB"
[[workload]]
kind = "trace"
file = "traces/a.csv"
"#;

fn parallel_of(scenario: &headrace_spec::Scenario) -> &headrace_spec::Parallel {
    scenario.parallel().expect("a parallel file system")
}

fn load(text: &str, sets: &[&str]) -> Loaded {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    match headrace_spec::load(text, Path::new("some/folder/my.toml"), &sets) {
        Ok(loaded) => loaded,
        Err(error) => panic!("{error}"),
    }
}

fn row(loaded: &Loaded, path: &str) -> Row {
    let Explanation { rows, .. } = explain(loaded);
    let found: Vec<&Row> = rows.iter().filter(|row| row.path == path).collect();
    assert_eq!(found.len(), 1, "rows of {path}");
    found[0].clone()
}

#[test]
fn a_value_comes_from_the_highest_layer_that_gives_it() {
    let loaded = load(FILE, &["layout.servers=2", "network.header=20 B"]);
    let LayoutKind::Striped(striped) = &parallel_of(&loaded.scenario).layout.kind else {
        panic!("it is striped")
    };
    assert_eq!(striped.unit, Bytes(65_536));
    assert_eq!(striped.servers, ServersPerFile::Count(2));
    assert_eq!(parallel_of(&loaded.scenario).network.header, Bytes(20));
    assert_eq!(parallel_of(&loaded.scenario).network.framing, Bytes(38));
    assert_eq!(parallel_of(&loaded.scenario).network.bandwidth, Rate(125e6));
    assert_eq!(
        parallel_of(&loaded.scenario).network.latency,
        Seconds(0.000_2)
    );

    assert_eq!(row(&loaded, "layout.unit").origin, "preset pvfs2");
    assert!(row(&loaded, "layout.unit").source.contains("Nguyen 2011"));
    assert_eq!(
        row(&loaded, "layout.servers").origin,
        "--set layout.servers=2"
    );
    assert_eq!(row(&loaded, "network.framing").origin, "default");
    assert!(
        row(&loaded, "network.framing")
            .source
            .contains("IEEE 802.3")
    );
    assert_eq!(
        row(&loaded, "clients.count").origin,
        "some/folder/my.toml:4:9"
    );
    assert_eq!(row(&loaded, "clients.card.bandwidth").origin, "not given");
    assert_eq!(row(&loaded, "clients.card.bandwidth").value, None);
    assert_eq!(
        row(&loaded, "workload.0.transfer").value.as_deref(),
        Some("\"1 MiB\"")
    );
    assert_eq!(
        row(&loaded, "workload.0.transfer").source,
        "the value of block"
    );
}

#[test]
fn nothing_costs_anything_under_the_default_preset() {
    let text = FILE.replace("system = \"pvfs2\"", "layout.unit = \"1 MiB\"");
    let scenario = load(&text, &[]).scenario;
    assert_eq!(scenario.system, "ideal");
    let network = &parallel_of(&scenario).network;
    let sizes = [network.header, network.framing, network.message];
    assert_eq!(sizes, [Bytes(0); 3]);
    assert_eq!(
        parallel_of(&scenario).servers.daemon.time_per_job,
        Seconds(0.0)
    );
    assert_eq!(
        parallel_of(&scenario).metadata.time_per_operation,
        Seconds(0.0)
    );
    let ServerKind::SimpleServer(server) = &parallel_of(&scenario).servers.kind else {
        panic!("the default kind")
    };
    let Device::SimpleDevice(device) = &server.device else {
        panic!("the default kind")
    };
    assert_eq!(device.time_per_request, Seconds(0.0));
}

#[test]
fn the_command_line_can_choose_the_preset() {
    let loaded = load(FILE, &["system=ideal", "layout.unit=1 MiB"]);
    assert_eq!(loaded.scenario.system, "ideal");
    assert_eq!(parallel_of(&loaded.scenario).network.header, Bytes(0));
}

#[test]
fn a_table_entry_can_be_set_alone() {
    let loaded = load(FILE, &["scheduler.weights.G2=4"]);
    let SchedulerKind::Sfq(sfq) = &parallel_of(&loaded.scenario).scheduler[0].kind else {
        panic!("{:?}", parallel_of(&loaded.scenario).scheduler[0]);
    };
    assert_eq!(
        (
            sfq.weights.of("G1"),
            sfq.weights.of("G2"),
            sfq.weights.of("?")
        ),
        (2.0, 4.0, 1.0)
    );
    assert_eq!(
        row(&loaded, "scheduler.weights.G2").origin,
        "--set scheduler.weights.G2=4"
    );
    assert_eq!(
        row(&loaded, "scheduler.weights.G1").origin,
        "some/folder/my.toml:15:18"
    );
}

/// As in a file, a section may be given by the name of its kind alone.
#[test]
fn a_whole_table_may_be_set() {
    let table =
        r#"{ block = "4 MiB", transfer = "1 MiB", access = "shared", collective = "two-phase" }"#;
    for set in [format!("workload=[{table}]"), format!("workload.0={table}")] {
        let loaded = load(FILE, &[&set]);
        let workload = &loaded.scenario.workload[0];
        assert!(workload.collective.two_phase().is_some(), "{set}");
    }
}

/// An optional field may be set to none.
#[test]
fn no_tables_may_be_set() {
    let file = FILE.replace("position = \"gateway\"", "");
    let text = format!("{file}\n[[failure]]\nserver = 0\nat = \"1 s\"\nuntil = \"2 s\"\n");
    assert_eq!(parallel_of(&load(&text, &[]).scenario).failures().len(), 1);
    let none = load(&text, &["failure=[]"]);
    assert!(parallel_of(&none.scenario).failures().is_empty());
}

#[test]
fn the_only_entry_of_a_list_needs_no_number() {
    let one = "[[workload]]\nblock = \"4 MiB\"\ntransfer = \"1 MiB\"\n";
    let device = "[machine]\ndevice = { read_rate = \"1 MB/s\", write_rate = \"1 MB/s\" }\n";
    let text = format!("system = \"ext4\"\n{device}{one}");
    let sets = ["workload.transfer=2 MiB".to_owned()];
    let path = Path::new("one.toml");
    let loaded = headrace_spec::load(&text, path, &sets).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        row(&loaded, "workload.0.transfer").value.as_deref(),
        Some("\"2 MiB\"")
    );
    let error = headrace_spec::load(&format!("{text}{one}"), path, &sets).expect_err("two");
    assert!(error.to_string().contains("workload.0.transfer"), "{error}");
}

#[test]
fn another_kind_drops_what_only_the_old_kind_has() {
    let scenario = load(FILE, &["scheduler.kind=none"]).scenario;
    assert_eq!(parallel_of(&scenario).scheduler[0].kind.kind(), "none");
    assert_eq!(
        parallel_of(&scenario).scheduler[0].position,
        headrace_spec::Position::Gateway
    );
    let scenario = load(FILE, &["scheduler.kind=fifo"]).scenario;
    let SchedulerKind::Fifo(fifo) = &parallel_of(&scenario).scheduler[0].kind else {
        panic!("{scenario:?}")
    };
    assert_eq!(fifo.depth, Some(4));
}

#[test]
fn files_are_relative_to_the_scenario() {
    let file = |loaded: &Loaded| match &loaded.scenario.workload[1].kind {
        WorkloadKind::TraceReplay(trace) => trace.file.clone(),
        other => panic!("{other:?}"),
    };
    let here = std::env::current_dir().expect("tests run somewhere");
    let folder = here.join("some/folder");
    assert_eq!(file(&load(FILE, &[])), folder.join("traces/a.csv"));
    assert_eq!(
        file(&load(FILE, &["workload.1.file=b.csv"])),
        folder.join("b.csv")
    );
    assert_eq!(
        file(&load(FILE, &["workload.1.file=/b.csv"])),
        Path::new("/b.csv")
    );
}

#[test]
fn the_name_is_the_file_unless_given() {
    assert_eq!(load(FILE, &[]).scenario.name, "my");
    assert_eq!(load(FILE, &["name=12"]).scenario.name, "12");
}

#[test]
fn groups_are_parts_of_the_clients() {
    let sizes = |sets: &[&str]| -> Vec<(String, u32)> {
        let scenario = load(FILE, sets).scenario;
        let sizes = scenario.clients.group_sizes();
        sizes
            .into_iter()
            .map(|(name, size)| (name.to_owned(), size))
            .collect()
    };
    let expected = |sizes: &[(&str, u32)]| -> Vec<(String, u32)> {
        sizes
            .iter()
            .map(|(name, size)| ((*name).to_owned(), *size))
            .collect()
    };
    assert_eq!(sizes(&[]), expected(&[("G1", 4), ("G2", 3)]));
    assert_eq!(
        sizes(&["clients.groups={ G1 = 1, G2 = 3 }", "clients.count=8"]),
        expected(&[("G1", 2), ("G2", 6)])
    );
    // 1.33 and 2.67: the larger remainder is rounded up.
    assert_eq!(
        sizes(&["clients.groups={ G1 = 1, G2 = 2 }", "clients.count=4"]),
        expected(&[("G1", 1), ("G2", 3)])
    );
    // 3.33, 3.33 and 3.33: the first gets the odd one.
    assert_eq!(
        sizes(&["clients.groups=[\"G1\", \"x\", \"y\"]", "clients.count=10"]),
        expected(&[("G1", 4), ("x", 3), ("y", 3)])
    );
}

#[test]
fn the_explanation_is_a_scenario_itself() {
    let loaded = load(
        FILE,
        &[
            "scheduler.weights.G2=4",
            "description=two\nlines # \"and\" more",
        ],
    );
    let explanation = explain(&loaded);
    let again = headrace_spec::load(explanation.to_toml(), Path::new("other.toml"), &[]);
    assert_eq!(again.expect("it loads").scenario, loaded.scenario);
    // Every row's value stands in it, and every row says what the field means.
    for row in &explanation.rows {
        assert!(!row.doc.is_empty(), "{} has no documentation", row.path);
        let given = row
            .value
            .as_ref()
            .is_none_or(|value| explanation.to_toml().contains(value));
        assert!(given, "{} is not in the text", row.path);
    }
}

#[test]
fn every_preset_value_has_a_source_and_none_is_optional() {
    for (name, description) in presets() {
        assert!(!description.is_empty());
        let local = format!(
            "system = {name:?}\n[machine]\ndevice = {{ read_rate = \"60 MB/s\", write_rate = \"60 \
             MB/s\" }}\n[[workload]]\nblock = \"1 MiB\"\n"
        );
        let loaded = match name {
            "poweredge-1850" | "atlantis" => {
                let small = "[[workload]]\nblock = \"1 MiB\"\ntransfer = \"1 MiB\"\n";
                load(&format!("system = {name:?}\n{small}"), &[])
            }
            "ideal" | "pvfs" | "pvfs2" | "lustre" | "glusterfs" | "hdfs" | "nfs" | "pnfs"
            | "cifs" | "mpfs" | "cephfs" | "beegfs" | "daos" | "spectrum-scale" | "wekafs"
            | "vast" | "s3-gateway" => {
                let system = format!("system={name}");
                load(
                    FILE,
                    &[&system, "layout.unit=1 MiB", "scheduler.position=server"],
                )
            }
            "lustre-2.15" => {
                let small = "[[workload]]\nblock = \"1 MiB\"\n";
                let servers = "[servers]\ncount = 4\ndevice = { read_rate = \"1 GB/s\", \
                               write_rate = \"1 GB/s\" }\n[network]\nbandwidth = \"1 GB/s\"\n\
                               latency = \"1 us\"\n[clients]\ncount = 4\n";
                load(&format!("system = {name:?}\n{servers}{small}"), &[])
            }
            _ => load(&local, &[]),
        };
        for row in explain(&loaded).rows {
            if row.origin.starts_with("preset") {
                assert!(!row.source.is_empty(), "{name}: {} has no source", row.path);
            }
        }
        // An optional value of a preset could not be taken back, so that a full
        // scenario without it would not load to itself.
        let text = loaded.scenario.to_canonical_toml();
        assert_eq!(load(&text, &[]).scenario, loaded.scenario);
    }
}

#[test]
fn the_scenario_in_json_has_the_names_of_the_file_and_si_units() {
    let json = serde_json::to_value(load(FILE, &[]).scenario).expect("plain data");
    assert_eq!(json["network"]["bandwidth"], 125e6);
    assert_eq!(json["network"]["latency"], 0.000_2);
    assert_eq!(json["layout"]["kind"], "striped");
    assert_eq!(json["layout"]["unit"], 65_536);
    assert_eq!(json["layout"]["servers"], "all");
    assert_eq!(json["scheduler"]["depth"], 4);
    assert_eq!(json["scheduler"]["position"], "gateway");
    assert_eq!(json["workload"][0]["kind"], "ior");
    assert_eq!(json["workload"][0]["repeat"], 1);
}

#[test]
fn weights_keep_their_order() {
    let loaded = load(FILE, &["scheduler.weights={ G2 = 2, G1 = 3 }"]);
    let text = loaded.scenario.to_canonical_toml();
    let weights = text.lines().find(|line| line.starts_with("weights"));
    assert_eq!(weights, Some("weights = { G2 = 2.0, G1 = 3.0 }"));
}
