//! Monitors as a document has them.

use super::{Table, Text, fault, read_text};
use crate::error::{Fault, did_you_mean};
use crate::source::Value;

/// A monitor's table.
#[derive(Clone, Debug)]
pub struct MonitorText {
    /// Its place in the document.
    pub path: Vec<String>,
    /// Its kind.
    pub kind: Text,
    /// The transition.
    pub transition: Option<Text>,
    /// Condition.
    pub when: Option<Text>,
    /// The figure.
    pub value: Option<Text>,
    /// Columns of a collector.
    pub columns: Vec<(String, Text)>,
    /// The most rows of a collector.
    pub limit: Option<u64>,
    /// The number of times until a breakpoint ends the run.
    pub count: Option<u64>,
}

/// Kinds of monitors, each with the keys that it needs and those that it may have.
const KINDS: [(&str, &[&str], &[&str]); 5] = [
    ("counter", &["transition"], &["when"]),
    ("marking", &["value"], &[]),
    ("observation", &["transition", "value"], &["when"]),
    ("collector", &["transition", "columns"], &["when", "limit"]),
    ("breakpoint", &[], &["transition", "when", "count"]),
];

/// The most rows of a collector.
const MOST_ROWS: i64 = 100_000_000;

/// Reads a monitor.
pub fn read(value: &Value, path: Vec<String>, faults: &mut Vec<Fault>) -> Option<MonitorText> {
    let mut table = Table::new(value, path.clone(), faults);
    let kind = table.needed("kind");
    table.text("description");
    let text = MonitorText {
        path: path.clone(),
        kind,
        transition: table.text("transition"),
        when: table.expression("when"),
        value: table.expression("value"),
        columns: table.entries("columns", read_text),
        limit: table.whole("limit", 1, MOST_ROWS).map(|it| it as u64),
        count: table.whole("count", 1, i64::MAX).map(|it| it as u64),
    };
    table.finish();
    let kind = &*text.kind.text;
    let Some((_, needed, possible)) = KINDS.iter().find(|(name, _, _)| *name == kind) else {
        let names = KINDS.map(|(name, _, _)| name);
        let near = did_you_mean(kind, names);
        let known = names.join(", ");
        // A missing kind has been reported.
        if !kind.is_empty() {
            let message = format!("no monitor is called {kind:?}: expected one of {known}{near}");
            fault(faults, &text.kind.path, message);
        }
        return None;
    };
    let before = faults.len();
    for key in needed.iter().filter(|key| value.get(key).is_none()) {
        fault(faults, &path, format!("a {kind} needs {key}"));
    }
    for key in ["transition", "when", "value", "columns", "limit", "count"] {
        if value.get(key).is_some() && !needed.contains(&key) && !possible.contains(&key) {
            let key_path = [path.clone(), vec![key.to_owned()]].concat();
            fault(faults, &key_path, format!("a {kind} has no {key}"));
        }
    }
    if kind == "breakpoint" && text.transition.is_none() && text.when.is_none() {
        fault(
            faults,
            &path,
            "a breakpoint needs transition, when, or both",
        );
    }
    (faults.len() == before).then_some(text)
}
