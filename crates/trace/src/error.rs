use std::io;

/// Why a trace could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{file}: {source}")]
    System {
        /// The trace's name.
        file: String,
        /// System error.
        source: io::Error,
    },
    /// The whole is invalid.
    #[error("{file}: {found}: expected {expected}")]
    File {
        /// The trace's name.
        file: String,
        /// Description of the error.
        found: String,
        /// Expected value.
        expected: String,
    },
    /// One line is invalid.
    #[error("{file}:{line}: {found}: expected {expected}")]
    Line {
        /// The trace's name.
        file: String,
        /// The line's number; the first is 1.
        line: u64,
        /// Description of the error.
        found: String,
        /// Expected value.
        expected: String,
    },
    /// A pattern or table given by the caller makes no sense.
    #[error("{name} = {found}: expected {expected}")]
    Value {
        /// Name of the value.
        name: &'static str,
        /// Actual value.
        found: String,
        /// Expected value.
        expected: String,
    },
}
