//! Lists of names in messages, and the nearest of them.

/// `"a", "b" or "c"`.
pub(crate) fn or(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
        None => "nothing".to_owned(),
    }
}

/// The name that `given` most likely meant, if any is near enough.
pub(crate) fn nearest<'a>(given: &str, names: &[&'a str]) -> Option<&'a str> {
    // A long text is no misspelling, and comparing it would take long.
    if given.len() > 100 {
        return None;
    }
    let lower = given.to_lowercase();
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let (best, name) = names
        .iter()
        .map(|name| (distance(name), *name))
        .min_by_key(|(d, _)| *d)?;
    // One slip in three letters is still the same word.
    let length = given.chars().count().max(name.chars().count());
    (best <= 1 + length / 4 && best < length).then_some(name)
}

/// `: did you mean "name"?`, or nothing.
pub(crate) fn hint(given: &str, names: &[&str]) -> String {
    nearest(given, names).map_or_else(String::new, |name| format!(": did you mean {name:?}?"))
}

/// `did you mean "name"?`, or nothing.
pub(crate) fn guess(given: &str, names: &[&str]) -> String {
    nearest(given, names).map_or_else(String::new, |name| format!("did you mean {name:?}?"))
}

/// Returns true if this can be a name in Python.
pub(crate) fn is_python_name(text: &str) -> bool {
    let starts = |first: char| first.is_alphabetic() || first == '_';
    text.starts_with(starts)
        && text
            .chars()
            .all(|each| each.is_alphanumeric() || each == '_')
}
