//! `docs/reference/scenario/` has the reference pages, up to date.

use std::collections::BTreeSet;
use std::path::Path;

use headrace_spec::DocumentKind;

#[test]
fn the_reference_pages_are_up_to_date() {
    let folder = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/scenario"
    ));
    let pages = headrace_spec::reference();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::remove_dir_all(folder).expect("the folder can be removed");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        for page in &pages {
            std::fs::write(folder.join(&page.file), &page.text).expect("a page can be written");
        }
    }
    let found: BTreeSet<String> = (std::fs::read_dir(folder).expect("the folder is there"))
        .map(|entry| {
            let name = entry.expect("an entry").file_name();
            name.into_string().expect("a name in UTF-8")
        })
        .collect();
    let expected: BTreeSet<String> = pages.iter().map(|page| page.file.clone()).collect();
    let how = "run `UPDATE=1 cargo test -p headrace-spec --test reference`";
    assert_eq!(
        found, expected,
        "docs/reference/scenario has other pages: {how}"
    );
    for page in &pages {
        let text = std::fs::read_to_string(folder.join(&page.file)).expect("a page can be read");
        assert!(
            text == page.text,
            "docs/reference/scenario/{} is out of date: {how}",
            page.file
        );
    }
}

#[test]
fn the_pages_of_worksheets_and_catalogues_are_up_to_date() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference"));
    for kind in DocumentKind::ALL {
        let page = kind.reference();
        let file = folder.join(&page.file);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&file, &page.text).expect("a page can be written");
        }
        let text = std::fs::read_to_string(&file).expect("a page can be read");
        assert!(
            text == page.text,
            "docs/reference/{} is out of date: run `UPDATE=1 cargo test -p headrace-spec --test \
             reference`",
            page.file
        );
    }
}

#[test]
fn a_heading_stands_once_on_a_page() {
    let documents = DocumentKind::ALL.map(DocumentKind::reference);
    for page in headrace_spec::reference().into_iter().chain(documents) {
        let mut seen = BTreeSet::new();
        for line in page.text.lines().filter(|line| line.starts_with('#')) {
            let title = line.trim_start_matches('#').trim();
            assert!(
                seen.insert(title.to_owned()),
                "{}: {title} twice",
                page.file
            );
        }
    }
}

#[test]
fn every_field_of_the_schema_is_on_a_page() {
    let pages = headrace_spec::reference();
    let text: String = pages.iter().map(|page| page.text.as_str()).collect();
    every_field_is_in(&text, &headrace_spec::schema());
    for kind in DocumentKind::ALL {
        every_field_is_in(&kind.reference().text, &kind.schema());
    }
}

fn every_field_is_in(text: &str, schema: &serde_json::Value) {
    let mut missing = BTreeSet::new();
    each_property(schema, &mut |name, schema| {
        let description = schema["description"].as_str().unwrap_or_default();
        // The schema puts the default behind it.
        let doc = description
            .split(" Default: ")
            .next()
            .and_then(|it| it.split(" Without it: ").next())
            .unwrap_or_default()
            .replace('|', "\\|");
        let named = text.contains(&format!("| `{name}` | {doc}"))
            || (text.lines())
                .any(|line| line.starts_with(&format!("- [`{name}`](")) && line.contains(&doc));
        if !named {
            missing.insert(format!("{name}: {doc}"));
        }
    });
    assert!(missing.is_empty(), "{missing:#?}");
}

fn each_property(schema: &serde_json::Value, found: &mut impl FnMut(&str, &serde_json::Value)) {
    match schema {
        serde_json::Value::Object(map) => {
            if let Some(serde_json::Value::Object(properties)) = map.get("properties") {
                for (name, property) in properties {
                    if name != "kind" {
                        found(name, property);
                    }
                }
            }
            map.values().for_each(|value| each_property(value, found));
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| each_property(value, found)),
        _ => {}
    }
}

#[test]
fn the_example_on_the_page_loads() {
    let pages = headrace_spec::reference();
    let page = pages.iter().find(|page| page.file == "index.md");
    let example = page
        .and_then(|page| page.text.split("```toml\n").nth(1))
        .and_then(|rest| rest.split("```").next());
    let example = example.expect("an example");
    headrace_spec::load(example, "example.toml".as_ref(), &[]).expect("it loads");
}
