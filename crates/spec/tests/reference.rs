//! `docs/scenario.md` is the reference page, up to date.

#[test]
fn the_reference_page_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/scenario.md");
    let expected = headrace_spec::reference();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(page, &expected).expect("docs/scenario.md can be written");
    }
    let found = std::fs::read_to_string(page).unwrap_or_default();
    assert!(
        found == expected,
        "docs/scenario.md is out of date: run `UPDATE=1 cargo test -p headrace-spec --test reference`"
    );
}

#[test]
fn the_example_on_the_page_loads() {
    let page = headrace_spec::reference();
    let example = page
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next());
    let example = example.expect("an example");
    headrace_spec::load(example, "example.toml".as_ref(), &[]).expect("it loads");
}
