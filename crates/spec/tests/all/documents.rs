//! Worksheets and catalogues: valid and refused documents, forms, schemas and pages.

use std::path::Path;

use headrace_spec::worksheet::{DataClass, Distribution, Level};
use headrace_spec::{
    Bytes, DocumentKind, Error, LoadedDocument, Rate, Span, Watts, read_catalogue, read_worksheet,
};
use proptest::prelude::*;

/// A worksheet with an entry of each kind.
const WORKSHEET: &str = r#"
outside = ["cameras"]
[capacity]
usable = "20 TB"
growth = "30 %"
[[client]]
name = "workstations"
count = 20
system = "windows"
[[zone]]
name = "A"
throughput = "high"
distribution = "striped"
share = 0.6
lifetime = "90 d"
[[zone]]
name = "B"
share = "40 %"
[[data]]
name = "films"
class = "large-multimedia"
zone = "A"
size = "8 TB"
[[flow]]
from = "cameras"
to = "A"
rate = "50 MB/s"
[[application]]
name = "rendering"
clients = ["workstations"]
zones = ["A", "B"]
preset = "checkpoint"
throughput = "800 MB/s"
latency = "20 ms"
[recovery]
downtime = "4 h"
loss_probability = "0.1 %"
[facility]
power = "5 kW"
ups_va = "0 VA"
[budget]
initial = 40000
"#;

/// A catalogue with an entry of each kind.
const CATALOGUE: &str = r#"
date = "2026-11-20"
currency = "EUR"
[[disk]]
name = "nearline 16 TB"
class = "nearline"
capacity = "16 TB"
mttf = "2500000 h"
bit_error_rate = 1e-15
read_rate = "250 MB/s"
access_time = "12.7 ms"
power = "9 W"
idle_power = "5 W"
[[node]]
name = "2U12"
slots = 12
rack_units = 2
memory = "64 GiB"
cores = 16
max_power = "800 W"
power = "300 W"
shelves = 1
[[shelf]]
name = "4U60"
slots = 60
rack_units = 4
power = "150 W"
[[network]]
name = "10 GbE"
bandwidth = "10 Gbit/s"
latency = "20 us"
port_power = "4 W"
"#;

fn text(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Worksheet => WORKSHEET,
        DocumentKind::Catalogue => CATALOGUE,
    }
}

fn load(kind: DocumentKind, text: &str) -> Result<LoadedDocument, Error> {
    kind.load(text, Path::new("my.toml"), &[])
}

/// The text with one line in the place of another, and its error.
fn refused(kind: DocumentKind, line: &str, with: &str) -> String {
    let text = text(kind);
    assert!(text.contains(line), "no {line}");
    let text = text.replacen(line, with, 1);
    match load(kind, &text) {
        Ok(_) => panic!("{with} is accepted"),
        Err(error) => error.to_string(),
    }
}

/// The line of the text at which something stands, from 1.
fn line_of(kind: DocumentKind, line: &str) -> usize {
    let before = text(kind).split(line).next().expect("a beginning");
    before.matches('\n').count() + 1
}

#[test]
fn a_worksheet_is_read_in_si_units() -> Result<(), Error> {
    let read = read_worksheet(WORKSHEET, Path::new("my.toml"), &[])?;
    assert_eq!(read.name, "my");
    assert_eq!(read.capacity.usable, Bytes(20_000_000_000_000));
    assert_eq!(read.capacity.growth, Some(0.3));
    assert_eq!(read.capacity.reserve, 0.2);
    let zone = &read.zone.as_deref().expect("zones")[0];
    assert_eq!(zone.throughput, Level::High);
    assert_eq!(zone.distribution, Distribution::Striped);
    assert_eq!(zone.lifetime, Some(Span(7_776_000.0)));
    let data = &read.data.as_deref().expect("data")[0];
    assert_eq!(data.class, DataClass::LargeMultimedia);
    let application = &read.application.as_deref().expect("applications")[0];
    assert_eq!(application.throughput, Some(Rate(8e8)));
    assert_eq!(read.recovery.loss_probability, Some(0.001));
    assert_eq!(read.facility.power, Some(Watts(5000.0)));
    assert_eq!(read.budget.initial, Some(40_000.0));
    Ok(())
}

#[test]
fn a_catalogue_is_read_in_si_units() -> Result<(), Error> {
    let read = read_catalogue(CATALOGUE, Path::new("my.toml"), &[])?;
    let disk = &read.disk[0];
    assert_eq!(disk.mttf, Span(9e9));
    assert_eq!(disk.write_rate, disk.read_rate);
    assert_eq!(disk.price, None);
    assert_eq!(disk.failure_factor, None);
    assert_eq!(read.network[0].bandwidth, Rate(1.25e9));
    Ok(())
}

#[test]
fn a_full_document_loads_to_itself() -> Result<(), Error> {
    for kind in DocumentKind::ALL {
        let loaded = load(kind, text(kind))?;
        let again = kind.load(&loaded.toml, Path::new("elsewhere/other.toml"), &[])?;
        assert_eq!(again.toml, loaded.toml);
        assert_eq!(again.json, loaded.json);
    }
    Ok(())
}

#[test]
fn every_answer_knows_its_origin() -> Result<(), Error> {
    let kind = DocumentKind::Worksheet;
    let sets = ["facility.power=6 kW".to_owned()];
    let loaded = kind.load(WORKSHEET, Path::new("my.toml"), &sets)?;
    let origin = |path: &str| {
        let row = loaded.rows.iter().find(|row| row.path == path);
        row.map(|row| row.origin.as_str()).expect("a row")
    };
    assert_eq!(origin("capacity.usable"), "my.toml:4:10");
    assert_eq!(origin("facility.power"), "--set facility.power=6 kW");
    assert_eq!(origin("capacity.years"), "default");
    assert_eq!(origin("budget.electricity"), "not given");
    let error = loaded
        .error("budget.initial", "it is too little")
        .to_string();
    assert_eq!(
        error,
        "my.toml:42:11: budget.initial = 40000: it is too little"
    );
    Ok(())
}

#[test]
fn what_is_wrong_is_named_with_its_line() {
    let worksheet = [
        ("usable = \"20 TB\"", "usable = \"0 TB\"", "more than 0"),
        (
            "usable = \"20 TB\"",
            "usable = 20",
            "a bare number has no unit",
        ),
        ("usable = \"20 TB\"", "usable = \"-1 TB\"", "negative"),
        ("growth = \"30 %\"", "growth = 30", "from 0 to 10"),
        ("growth = \"30 %\"", "growth = nan", "finite"),
        ("count = 20", "count = 0", "at least 1"),
        (
            "system = \"windows\"",
            "system = \"window\"",
            "did you mean \"windows\"?",
        ),
        (
            "share = \"40 %\"",
            "share = \"41 %\"",
            "add up to 101 %: expected at most 100 %",
        ),
        ("share = 0.6", "share = 60", "did you mean \"60 %\"?"),
        (
            "lifetime = \"90 d\"",
            "lifetime = \"90 dags\"",
            "dags is no unit of it: the units are s, ms",
        ),
        (
            "name = \"B\"",
            "name = \"A\"",
            "another [[zone]] is called \"A\" too",
        ),
        ("name = \"B\"", "name = \"\"", "it is empty"),
        (
            "name = \"B\"",
            "name = \"workstations\"",
            "flows could mean either",
        ),
        (
            "zone = \"A\"",
            "zone = \"C\"",
            "no [[zone]] is called \"C\": expected \"A\" or \"B\"",
        ),
        (
            "class = \"large-multimedia\"",
            "class = \"video\"",
            "expected \"large-multimedia\"",
        ),
        (
            "from = \"cameras\"",
            "from = \"camera\"",
            "did you mean \"cameras\"?",
        ),
        (
            "from = \"cameras\"",
            "from = \"scanner\"",
            "add it: outside = [\"scanner\"]",
        ),
        ("to = \"A\"", "to = \"cameras\"", "one place to another"),
        ("rate = \"50 MB/s\"", "rate = \"0 MB/s\"", "more than 0"),
        (
            "rate = \"50 MB/s\"",
            "rate = \"5000 TB/s\"",
            "more than 1000 TB/s",
        ),
        (
            "clients = [\"workstations\"]",
            "clients = []",
            "at least one",
        ),
        (
            "clients = [\"workstations\"]",
            "clients = [\"workstation\"]",
            "did you mean \"workstations\"?",
        ),
        (
            "zones = [\"A\", \"B\"]",
            "zones = [\"A\", \"A\"]",
            "stands there twice",
        ),
        (
            "preset = \"checkpoint\"",
            "preset = \"checkpiont\"",
            "did you mean \"checkpoint\"?",
        ),
        (
            "preset = \"checkpoint\"",
            "profile = \"x.json\"\npreset = \"checkpoint\"",
            "keep one of them",
        ),
        (
            "preset = \"checkpoint\"",
            "transfer = \"1 GB\"\nfile_size = \"1 MB\"",
            "than a file",
        ),
        (
            "downtime = \"4 h\"",
            "downtime = \"40 d\"",
            "a month has 730 h",
        ),
        (
            "loss_probability = \"0.1 %\"",
            "loss_probability = 0",
            "between 0 and 1",
        ),
        ("power = \"5 kW\"", "power = \"0 W\"", "more than 0"),
        ("power = \"5 kW\"", "voltage = \"230 kV\"", "24 V to 1000 V"),
        ("power = \"5 kW\"", "rack_units = 4200", "100 units at most"),
        (
            "power = \"5 kW\"",
            "power = \"5 kVA\"",
            "the units are W, mW, kW, MW",
        ),
        (
            "initial = 40000",
            "initial = \"40000 EUR\"",
            "a number of more than 0",
        ),
        (
            "initial = 40000",
            "initail = 40000",
            "did you mean \"initial\"?",
        ),
        ("[facility]", "[facilty]", "did you mean [facility]?"),
        (
            "outside = [\"cameras\"]",
            "outside = [\"A\"]",
            "neither client nor zone",
        ),
    ];
    let catalogue = [
        (
            "date = \"2026-11-20\"",
            "date = \"2026-13-20\"",
            "a day such as",
        ),
        (
            "bit_error_rate = 1e-15",
            "bit_error_rate = 0.0",
            "up to 1e-6",
        ),
        (
            "bit_error_rate = 1e-15",
            "bit_error_rate = 1e15",
            "up to 1e-6",
        ),
        ("mttf = \"2500000 h\"", "mttf = \"0 h\"", "more than 0"),
        (
            "mttf = \"2500000 h\"",
            "mttf = \"25 h\"",
            "from 1000 h to 1000000000 h",
        ),
        (
            "capacity = \"16 TB\"",
            "capacity = \"16 MB\"",
            "from 1 GiB to 1 PiB",
        ),
        (
            "access_time = \"12.7 ms\"",
            "access_time = \"12.7 s\"",
            "at most 1 s",
        ),
        ("power = \"9 W\"", "power = \"9 kW\"", "at most 100 W"),
        (
            "slots = 12",
            "slots = 12\nform_factors = [\"3-inch\"]",
            "\"3.5-inch\"",
        ),
        (
            "read_rate = \"250 MB/s\"",
            "read_rate = \"0.1 B/s\"",
            "less than 1 B/s",
        ),
        (
            "idle_power = \"5 W\"",
            "idle_power = \"50 W\"",
            "less power at work",
        ),
        ("idle_power = \"5 W\"", "price = -3", "an amount of money"),
        (
            "power = \"300 W\"",
            "power = \"900 W\"",
            "the label says less",
        ),
        ("slots = 12", "slots = 0", "at least 1"),
        (
            "name = \"10 GbE\"",
            "name = \"10\\nGbE\"",
            "control characters",
        ),
    ];
    let all = worksheet.map(|case| (DocumentKind::Worksheet, case));
    let all = all.into_iter();
    let all = all.chain(catalogue.map(|case| (DocumentKind::Catalogue, case)));
    for (kind, (line, with, expected)) in all {
        let error = refused(kind, line, with);
        assert!(error.contains(expected), "{with}: {error}");
        let shown = with.split('\n').count() - 1;
        let number = line_of(kind, line);
        let lines = number..=number + shown;
        let at = error
            .strip_prefix("my.toml:")
            .and_then(|it| it.split(':').next());
        let at = at.and_then(|at| at.parse::<usize>().ok());
        assert!(at.is_some_and(|at| lines.contains(&at)), "{with}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn what_is_missing_is_named() {
    let of = |text: &str| {
        load(DocumentKind::Worksheet, text)
            .expect_err("missing")
            .to_string()
    };
    assert!(of("").contains("missing section [capacity]"), "{}", of(""));
    let no_zone = "[capacity]\nusable = \"1 TB\"\n[[data]]\nname = \"a\"\nclass = \"small-files\"\nzone = \"A\"";
    assert!(
        of(no_zone).contains("there is no [[zone]]"),
        "{}",
        of(no_zone)
    );
    let no_disk = load(
        DocumentKind::Catalogue,
        "date = \"2026-01-01\"\ncurrency = \"EUR\"",
    );
    let error = no_disk.expect_err("missing").to_string();
    assert!(error.contains("missing section [[disk]]"), "{error}");
    let empty = load(DocumentKind::Catalogue, "").expect_err("missing");
    let error = empty.to_string();
    assert!(
        error.contains("missing field \"date\": write, for example,"),
        "{error}"
    );
}

#[test]
fn a_disk_that_fits_no_slot_is_refused() {
    let text = CATALOGUE
        .replace("idle_power = \"5 W\"", "form_factor = \"3.5-inch\"")
        .replace("slots = 12", "slots = 12\nform_factors = [\"nvme\"]")
        .replace(
            "slots = 60",
            "slots = 60\nform_factors = [\"2.5-inch\", \"nvme\"]",
        );
    let error = load(DocumentKind::Catalogue, &text).expect_err("it fits nowhere");
    let expected = "my.toml:13:15: disk.0.form_factor = \"3.5-inch\": no slot takes it: add it to \
                    form_factors of a node or a shelf";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn more_sections_than_a_person_writes_are_refused_soon() {
    let zones: String = (0..20_000)
        .map(|number| format!("[[zone]]\nname = \"{number}\"\n"))
        .collect();
    let text = format!("[capacity]\nusable = \"1 TB\"\n{zones}");
    let error = load(DocumentKind::Worksheet, &text).expect_err("they are too many");
    let error = error.to_string();
    assert!(
        error.ends_with("these are 20000 sections: expected at most 1000"),
        "{error}"
    );
    assert!(
        error.starts_with("my.toml:3:1: ") && error.len() < 300,
        "{error}"
    );
}

#[test]
fn a_worksheet_without_a_name_has_that_of_its_file() -> Result<(), Error> {
    let text = "[capacity]\nusable = \"1 TB\"";
    for (file, name) in [
        ("a/my lab.toml", "my lab"),
        (" x .toml", "x"),
        ("a\nb.toml", "a b"),
        (" ", "worksheet"),
    ] {
        assert_eq!(read_worksheet(text, Path::new(file), &[])?.name, name);
    }
    let long = format!("{}.toml", "x".repeat(200));
    assert_eq!(read_worksheet(text, Path::new(&long), &[])?.name.len(), 80);
    Ok(())
}

#[test]
fn a_profile_is_found_from_the_worksheets_folder() -> Result<(), Error> {
    let text = WORKSHEET.replace("preset = \"checkpoint\"", "profile = \"a/b.json\"");
    let read = read_worksheet(&text, Path::new("/some/where/my.toml"), &[])?;
    let application = &read.application.as_deref().expect("applications")[0];
    let profile = application.profile.as_deref();
    assert_eq!(profile, Some(Path::new("/some/where/a/b.json")));
    Ok(())
}

#[test]
fn a_form_loads_as_it_is_and_filled_in() -> Result<(), Error> {
    for kind in DocumentKind::ALL {
        let form = kind.form();
        load(kind, &form)?;
        let too_wide = form
            .lines()
            .find(|line| line.starts_with("# ") && line.chars().count() > 96);
        assert_eq!(too_wide, None);
        let lines = form.lines().map(|line| match line.strip_prefix('#') {
            // An application has a profile or a preset, and the places outside are those of flows.
            Some(answer) if answer.starts_with("profile") => line,
            Some("outside = []") => "outside = [\"cameras\"]",
            Some(answer) if !answer.is_empty() && !answer.starts_with(' ') => answer,
            _ => line,
        });
        let filled = lines.collect::<Vec<_>>().join("\n");
        let loaded = load(kind, &filled)?;
        let unknown: Vec<&str> = (loaded.rows.iter())
            .filter(|row| row.origin == "not given" || row.origin == "default")
            .map(|row| row.path.as_str())
            .filter(|path| !path.ends_with(".profile"))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
    Ok(())
}

/// TOML as JSON, for schemas.
fn to_json(item: &toml_edit::Item) -> serde_json::Value {
    if let Some(tables) = item.as_array_of_tables() {
        let tables = tables.iter().cloned();
        return tables
            .map(|it| to_json(&toml_edit::Item::Table(it)))
            .collect();
    }
    if let Some(table) = item.as_table_like() {
        let entries = table.iter();
        let entries = entries.map(|(key, item)| (key.to_owned(), to_json(item)));
        return serde_json::Value::Object(entries.collect());
    }
    match item.as_value() {
        Some(toml_edit::Value::String(text)) => text.value().clone().into(),
        Some(toml_edit::Value::Integer(number)) => (*number.value()).into(),
        Some(toml_edit::Value::Float(number)) => (*number.value()).into(),
        Some(toml_edit::Value::Boolean(truth)) => (*truth.value()).into(),
        Some(toml_edit::Value::Array(list)) => list
            .iter()
            .map(|it| to_json(&toml_edit::Item::Value(it.clone())))
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn is_valid(kind: DocumentKind, text: &str) -> Result<(), String> {
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    let resource = compiler.add_resource("it.json", kind.schema());
    resource.expect("a resource");
    let index = compiler.compile("it.json", &mut schemas);
    let index = index.expect("a valid schema");
    let toml: toml_edit::DocumentMut = text.parse().expect("TOML");
    let json = to_json(toml.as_item());
    let valid = schemas.validate(&json, index);
    valid.map_err(|error| error.to_string())
}

#[test]
fn the_schema_accepts_what_loads_and_refuses_wrong_values() {
    for kind in DocumentKind::ALL {
        is_valid(kind, text(kind)).expect("it loads");
        is_valid(kind, &kind.form()).expect("the form loads");
        let full = load(kind, text(kind)).expect("it loads").toml;
        is_valid(kind, &full).expect("the full document loads");
    }
    for (line, with) in [
        ("count = 20", "count = 0"),
        ("usable = \"20 TB\"", "usable = 20"),
        ("power = \"5 kW\"", "power = \"5 kVA\""),
        ("share = \"40 %\"", "share = \"40\""),
        ("initial = 40000", "initail = 40000"),
        ("class = \"large-multimedia\"", "class = \"video\""),
    ] {
        let text = WORKSHEET.replacen(line, with, 1);
        assert!(is_valid(DocumentKind::Worksheet, &text).is_err(), "{with}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any text gives a document or an error of one line.
    #[test]
    fn any_text_is_read_or_refused_in_one_line(text in "\\PC{0,200}") {
        for kind in DocumentKind::ALL {
            if let Err(error) = load(kind, &text) {
                prop_assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }

    /// So does a document in which a value is replaced by any other.
    #[test]
    fn any_value_is_read_or_refused_in_one_line(
        at in any::<prop::sample::Index>(),
        value in prop_oneof![
            "[0-9]{1,30}( ?(TB|kW|%|y|MB/s|A|VA|us))?".prop_map(|text| format!("{text:?}")),
            "[ -!#-\\[\\]-~]{0,12}".prop_map(|text| format!("{text:?}")),
            any::<f64>().prop_map(|number| format!("{number:?}").to_lowercase()),
            any::<i64>().prop_map(|number| number.to_string()),
            Just("[]".to_owned()),
            Just("{ a = 1 }".to_owned()),
            Just("[[1], { name = 2 }]".to_owned()),
            Just("2026-11-20".to_owned()),
            Just("true".to_owned()),
        ],
    ) {
        for kind in DocumentKind::ALL {
            let lines: Vec<&str> = text(kind).lines().collect();
            let fields: Vec<usize> = (0..lines.len()).filter(|&at| lines[at].contains(" = ")).collect();
            let field = *at.get(&fields);
            let changed: Vec<String> = lines.iter().enumerate().map(|(number, line)| {
                match line.split_once(" = ") {
                    Some((name, _)) if number == field => format!("{name} = {value}"),
                    _ => (*line).to_owned(),
                }
            }).collect();
            match load(kind, &changed.join("\n")) {
                Ok(loaded) => {
                    let again = load(kind, &loaded.toml);
                    prop_assert_eq!(again.map(|it| it.json), Ok(loaded.json));
                }
                Err(error) => {
                    let error = error.to_string();
                    prop_assert!(!error.contains('\n') && error.contains("my.toml"), "{error}");
                }
            }
        }
    }
}
