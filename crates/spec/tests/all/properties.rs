//! Properties of all scenarios, texts and values.

use crate::scenarios;
use std::path::Path;

use headrace_spec::{Bytes, Loaded, Rate, Scenario, Seconds, explain};
use proptest::prelude::*;
use toml_edit::{DocumentMut, Item, TableLike};

fn parallel_of(scenario: &headrace_spec::Scenario) -> &headrace_spec::Parallel {
    scenario.parallel().expect("a parallel file system")
}

fn load(text: &str, sets: &[String]) -> Result<Loaded, headrace_spec::Error> {
    headrace_spec::load(text, Path::new("some/folder/my.toml"), sets)
}

fn loaded(scenario: &Scenario) -> Loaded {
    let text = scenario.to_canonical_toml();
    load(&text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The shortest scenario, which the reference shows.
const SHORTEST: &str = include_str!("../../src/shortest.toml");

/// The same with one value written in the place of another.
fn with(field: &str, value: &str) -> String {
    let lines = SHORTEST.lines().map(|line| match line.split_once(" = ") {
        Some((name, _)) if name == field => format!("{name} = {value:?}"),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

proptest! {
    // A failing case is printed, and not written into the source tree.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sizes_read_back_as_they_were_printed(bytes in 1..=u64::MAX) {
        let text = with("unit", &Bytes(bytes).to_string());
        let kind = parallel_of(&load(&text, &[])?.scenario).layout.kind.clone();
        let headrace_spec::LayoutKind::Striped(striped) = kind else { panic!("it is striped") };
        prop_assert_eq!(striped.unit, Bytes(bytes));
    }

    #[test]
    fn rates_read_back_as_they_were_printed(rate in scenarios::rate()) {
        let text = with("bandwidth", &rate.to_string());
        prop_assert_eq!(parallel_of(&load(&text, &[])?.scenario).network.bandwidth, rate);
    }

    #[test]
    fn times_read_back_as_they_were_printed(time in scenarios::seconds()) {
        let text = with("latency", &time.to_string());
        prop_assert_eq!(parallel_of(&load(&text, &[])?.scenario).network.latency, time);
    }

    #[test]
    fn what_is_written_with_few_digits_is_printed_so(
        number in 1..1000_u32,
        unit in prop::sample::select(vec!["ns", "us", "ms", "s"]),
    ) {
        let written = format!("{number} {unit}");
        let printed = parallel_of(&load(&with("latency", &written), &[])?.scenario).network.latency.to_string();
        let digits = printed.split(' ').next().map_or(0, str::len);
        prop_assert!(digits <= number.to_string().len(), "{} became {}", written, printed);
    }

    #[test]
    fn a_full_scenario_loads_to_itself(scenario in scenarios::scenario()) {
        let loaded = loaded(&scenario);
        prop_assert_eq!(&loaded.scenario, &scenario);
        prop_assert_eq!(loaded.scenario.to_canonical_toml(), scenario.to_canonical_toml());
    }

    #[test]
    fn the_explanation_loads_to_the_same_scenario(scenario in scenarios::scenario()) {
        let text = explain(&loaded(&scenario)).to_toml().to_owned();
        prop_assert_eq!(&load(&text, &[])?.scenario, &scenario);
    }

    #[test]
    fn every_given_value_is_explained_by_its_line(scenario in scenarios::scenario()) {
        for row in explain(&loaded(&scenario)).rows {
            let given = row.origin.starts_with("some/folder/my.toml:");
            prop_assert_eq!(given, row.value.is_some(), "{:?}", row);
        }
    }

    #[test]
    fn groups_share_all_clients_out(scenario in scenarios::scenario()) {
        let clients = &scenario.clients;
        let total: f64 = clients.groups.0.iter().map(|group| group.share).sum();
        let sizes = clients.group_sizes();
        prop_assert_eq!(sizes.iter().map(|(_, size)| size).sum::<u32>(), clients.count);
        for (group, (name, size)) in clients.groups.0.iter().zip(sizes) {
            prop_assert_eq!(&group.name, name);
            let exact = f64::from(clients.count) * group.share / total;
            prop_assert!((f64::from(size) - exact).abs() < 1.0 + 1e-6);
        }
    }

    #[test]
    fn setting_a_value_is_editing_the_file(
        scenario in scenarios::scenario(),
        at in any::<prop::sample::Index>(),
        value in any::<prop::sample::Index>(),
        junk in prop::option::weighted(0.2, "[ -~]{0,12}"),
    ) {
        let rows = explain(&loaded(&scenario)).rows;
        // Another kind drops the old kind's fields when it is set, and nothing
        // when it is edited.
        let fields: Vec<_> = rows.iter().filter(|row| !row.path.ends_with("kind")).collect();
        let path = &at.get(&fields).path;
        let values: Vec<&String> = rows.iter().filter_map(|row| row.value.as_ref()).collect();
        let value = match &junk {
            Some(junk) => format!("{:?}", junk),
            None => (*value.get(&values)).clone(),
        };
        // Text needs no quotes on the command line.
        let text = [
            "name",
            "description",
            "group",
            "file",
            "volume",
            "pool",
            "folder",
            "output_volume",
            "pool",
            "from",
            "to",
            "field",
            "method",
            "date",
        ];
        let is_text = path.starts_with("lab.")
            || path.rsplit('.').next().is_some_and(|name| text.contains(&name));
        prop_assume!(!is_text || value.starts_with('"'));

        let canonical = scenario.to_canonical_toml();
        let set = load(&canonical, &[format!("{path}={value}")]);
        let edited = load(&edit(&canonical, path, &value), &[]);
        match (set, edited) {
            (Ok(set), Ok(edited)) => prop_assert_eq!(set.scenario, edited.scenario),
            (Err(set), Err(edited)) => {
                // A path in a file is relative to its folder: another file may be there, or none.
                let cause = |message: &str| message.split(": cannot read it").next().map(str::to_owned);
                prop_assert_eq!(cause(&set.message), cause(&edited.message));
            }
            (set, edited) => prop_assert!(false, "{path}={value}: {set:?} but {edited:?}"),
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        let _ = load(&text, &[]);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = load(&String::from_utf8_lossy(&bytes), &[]);
    }

    #[test]
    fn no_damage_makes_it_panic(
        scenario in scenarios::scenario(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), "[ -~\n]{0,3}"), 1..4),
    ) {
        let mut letters: Vec<char> = scenario.to_canonical_toml().chars().collect();
        for (at, with) in damage {
            let at = at.index(letters.len());
            letters.splice(at..(at + 1).min(letters.len()), with.chars());
        }
        let text: String = letters.into_iter().collect();
        if let Err(error) = load(&text, &[]) {
            prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
        }
    }

    #[test]
    fn no_set_makes_it_panic(scenario in scenarios::scenario(), set in "[a-z.0-9=\"' \\[\\]{}\n]{0,30}") {
        if let Err(error) = load(&scenario.to_canonical_toml(), &[set]) {
            prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
        }
    }
}

#[test]
fn numbers_are_read_exactly() {
    let latency = |text: &str| {
        load(&with("latency", text), &[])
            .expect(text)
            .scenario
            .parallel()
            .expect("a parallel file system")
            .network
            .latency
    };
    for (text, seconds) in [
        ("0.2 ms", 0.000_2),
        ("5us", 5e-6),
        ("5 µs", 5e-6),
        ("1.5 min", 90.0),
        ("2 h", 7_200.0),
        ("1 d", 86_400.0),
        ("1e-3 s", 0.001),
        ("100 ns", 1e-7),
        (" 3 s ", 3.0),
    ] {
        assert_eq!(latency(text), Seconds(seconds), "{text}");
    }
    let bandwidth = |text: &str| {
        load(&with("bandwidth", text), &[])
            .expect(text)
            .scenario
            .parallel()
            .expect("a parallel file system")
            .network
            .bandwidth
    };
    for (text, rate) in [
        ("1 Gbit/s", 125e6),
        ("10 Gbit/s", 1.25e9),
        ("125 MB/s", 125e6),
        ("60 MiB/s", 62_914_560.0),
        ("0.5 kB/s", 500.0),
        ("8 bit/s", 1.0),
    ] {
        assert_eq!(bandwidth(text), Rate(rate), "{text}");
    }
    let unit = |text: &str| match load(&with("unit", text), &[])
        .expect(text)
        .scenario
        .parallel()
        .expect("a parallel file system")
        .layout
        .kind
        .clone()
    {
        headrace_spec::LayoutKind::Striped(striped) => striped.unit,
        other => panic!("it is {other:?}"),
    };
    for (text, bytes) in [
        ("1 MB", 1_000_000),
        ("1 MiB", 1_048_576),
        ("1.5 GiB", 1_610_612_736),
        ("0.5kB", 500),
        ("1e3 B", 1_000),
        ("18446744073709551615 B", u64::MAX),
    ] {
        assert_eq!(unit(text), Bytes(bytes), "{text}");
    }
}

#[test]
fn values_are_printed_as_one_would_write_them() {
    assert_eq!(Bytes(65_536).to_string(), "64 KiB");
    assert_eq!(Bytes(900_000_000).to_string(), "900 MB");
    assert_eq!(Bytes(1_500).to_string(), "1500 B");
    assert_eq!(Bytes(0).to_string(), "0 B");
    assert_eq!(Rate(125e6).to_string(), "1 Gbit/s");
    assert_eq!(Rate(60e6).to_string(), "60 MB/s");
    assert_eq!(Seconds(0.000_2).to_string(), "0.2 ms");
    assert_eq!(Seconds(2.5).to_string(), "2.5 s");
    assert_eq!(Seconds(0.0).to_string(), "0 s");
}

/// The text with the value at a path replaced or added.
fn edit(text: &str, path: &str, value: &str) -> String {
    let mut document: DocumentMut = text.parse().expect("canonical TOML");
    let value: toml_edit::Value = value.parse().expect("a TOML value");
    let keys = toml_edit::Key::parse(path).expect("a path");
    let parts: Vec<&str> = keys.iter().map(toml_edit::Key::get).collect();
    put(document.as_table_mut(), &parts, value);
    document.to_string()
}

fn put(table: &mut dyn TableLike, parts: &[&str], value: toml_edit::Value) {
    let (first, rest) = parts.split_first().expect("a path");
    if rest.is_empty() {
        table.insert(first, Item::Value(value));
        return;
    }
    if table.get(first).is_none() {
        table.insert(first, Item::Table(toml_edit::Table::new()));
    }
    let item = table.get_mut(first).expect("just made");
    if let Some(tables) = item.as_array_of_tables_mut() {
        let index: usize = rest[0].parse().expect("a number");
        put(tables.get_mut(index).expect("an entry"), &rest[1..], value);
    } else {
        put(item.as_table_like_mut().expect("a table"), rest, value);
    }
}
