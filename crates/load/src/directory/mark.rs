//! The mark of a directory that a benchmark made.

use serde::{Deserialize, Serialize};

/// How the names of such directories begin.
pub const PREFIX: &str = "headrace-bench-";

/// The name of the mark in it.
pub const MARK: &str = ".headrace-bench";

/// What the mark says.
#[derive(Serialize, Deserialize)]
pub struct Mark {
    made_by: String,
    version: String,
    host: String,
    process: u32,
}

const MAKER: &str = "headrace bench";

/// The text of a mark by this process.
pub fn text() -> String {
    let host = rustix::system::uname();
    let mark = Mark {
        made_by: MAKER.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        host: host.nodename().to_string_lossy().into_owned(),
        process: std::process::id(),
    };
    // Strings and a number become JSON whatever they are.
    serde_json::to_string(&mark).unwrap_or_default()
}

/// Whether a text is a mark.
pub fn is_mark(text: &[u8]) -> bool {
    let mark: Result<Mark, _> = serde_json::from_slice(text);
    mark.is_ok_and(|mark| mark.made_by == MAKER)
}
