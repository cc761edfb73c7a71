//! The JSON Schema accepts what loads and refuses what does not.

use std::path::Path;

use serde_json::{Value, json};

/// The shortest scenario, which the reference shows.
const SHORTEST: &str = include_str!("../../src/shortest.toml");

/// The exported schema, compiled once for a test: that takes longer than all its questions.
struct Schema {
    schemas: boon::Schemas,
    index: boon::SchemaIndex,
}

impl Schema {
    fn new() -> Self {
        let mut schemas = boon::Schemas::new();
        let mut compiler = boon::Compiler::new();
        compiler
            .add_resource("scenario.json", headrace_spec::schema())
            .expect("a resource");
        let index = compiler
            .compile("scenario.json", &mut schemas)
            .expect("a valid schema");
        Self { schemas, index }
    }

    fn valid(&self, scenario: &Value) -> Result<(), String> {
        self.schemas
            .validate(scenario, self.index)
            .map_err(|error| error.to_string())
    }
}

/// The smallest scenario that loads with the `pvfs2` preset.
fn smallest() -> Value {
    json!({
        "system": "pvfs2",
        "clients": { "count": 4 },
        "servers": { "count": 4, "device": { "read_rate": "60 MB/s", "write_rate": "60 MB/s" } },
        "network": { "bandwidth": "1 Gbit/s", "latency": "0.2 ms" },
        "workload": [{ "block": "1 MiB" }],
    })
}

fn changed(path: &str, value: Value) -> Value {
    let mut scenario = smallest();
    let (parent, key) = path.rsplit_once('/').expect("a pointer");
    let parent = scenario.pointer_mut(parent).expect("a section");
    parent[key] = value;
    scenario
}

#[test]
fn what_loads_is_valid() {
    let schema = Schema::new();
    schema.valid(&smallest()).expect("the smallest scenario");
    for (path, value) in [
        ("/clients/groups", json!(["G1", "G2"])),
        ("/clients/groups", json!({ "G1": 1, "G2": 2.5 })),
        ("/network/latency", json!("5 µs")),
        ("/network/latency", json!("1,000 hours")),
        ("/network/latency", json!(0)),
        ("/network/bandwidth", json!("1.5e3 KiB/s")),
        ("/layout", json!({ "unit": ".5 KiB", "servers": 3 })),
        (
            "/scheduler",
            json!({ "kind": "sfq", "depth": 4, "weights": { "all": 2 } }),
        ),
        ("/scheduler", json!({ "position": "gateway" })),
        ("/workload", json!([{ "kind": "trace", "file": "a.csv" }])),
        (
            "/workload",
            json!([{ "kind": "ior", "block": "1 MB", "repeat": "forever" }]),
        ),
    ] {
        schema.valid(&changed(path, value)).expect(path);
    }
}

#[test]
fn what_does_not_load_is_invalid() {
    let schema = Schema::new();
    for (path, value) in [
        ("/clients/count", json!(0)),
        ("/clients/count", json!("4")),
        ("/clients/cuont", json!(4)),
        ("/clients/groups", json!([])),
        ("/network/bandwidth", json!("1 furlong")),
        ("/network/bandwidth", json!("1 Gbps")),
        ("/network/latency", json!("-1 ms")),
        ("/network/latency", json!(1)),
        ("/network/topology", json!("ring")),
        ("/layout", json!({ "unit": "64 KB" })),
        ("/scheduler", json!({ "kind": "sfq" })),
        ("/scheduler", json!({ "depth": 4 })),
        ("/scheduler", json!({ "kind": "lottery" })),
        ("/workload", json!([])),
        ("/workload", json!([{ "kind": "trace", "block": "1 MB" }])),
        ("/system", json!("gpfs")),
        ("/run", json!({ "stop": { "precision": 1.5 } })),
    ] {
        assert!(
            schema.valid(&changed(path, value.clone())).is_err(),
            "{path} = {value} is valid"
        );
    }
    for section in ["clients", "servers", "network", "workload"] {
        let mut scenario = smallest();
        scenario.as_object_mut().expect("an object").remove(section);
        assert!(schema.valid(&scenario).is_err(), "valid without {section}");
    }
}

#[test]
fn every_field_of_a_full_scenario_is_in_the_schema() {
    let text = format!(
        "{SHORTEST}\n[scheduler]\nkind = \"sfq\"\ndepth = 3\n\
         [[workload]]\nkind = \"trace\"\nfile = \"x\"\n"
    );
    let loaded = headrace_spec::load(&text, Path::new("x.toml"), &[]).expect("a good scenario");
    let canonical = loaded.scenario.to_canonical_toml();
    let toml: toml_edit::DocumentMut = canonical.parse().expect("TOML");
    Schema::new()
        .valid(&to_json(toml.as_item()))
        .expect("the full scenario");
}

fn to_json(item: &toml_edit::Item) -> Value {
    if let Some(table) = item.as_table_like() {
        return Value::Object(
            table
                .iter()
                .map(|(key, item)| (key.to_owned(), to_json(item)))
                .collect(),
        );
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables
            .iter()
            .map(|table| to_json(&toml_edit::Item::Table(table.clone())))
            .collect();
    }
    match item.as_value() {
        Some(toml_edit::Value::String(text)) => json!(text.value()),
        Some(toml_edit::Value::Integer(number)) => json!(number.value()),
        Some(toml_edit::Value::Float(number)) => json!(number.value()),
        Some(toml_edit::Value::Boolean(truth)) => json!(truth.value()),
        Some(toml_edit::Value::Array(list)) => list
            .iter()
            .map(|value| to_json(&toml_edit::Item::Value(value.clone())))
            .collect(),
        other => panic!("{other:?}"),
    }
}
