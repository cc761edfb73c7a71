use std::io;

/// Why a trace could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The operating system refused.
    #[error("{file}: {source}")]
    System {
        /// The trace's name.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The whole is not what it should be.
    #[error("{file}: {found}: expected {expected}")]
    File {
        /// The trace's name.
        file: String,
        /// What is wrong.
        found: String,
        /// What would have been right.
        expected: String,
    },
    /// One line is not what it should be.
    #[error("{file}:{line}: {found}: expected {expected}")]
    Line {
        /// The trace's name.
        file: String,
        /// The line's number; the first is 1.
        line: u64,
        /// What is wrong.
        found: String,
        /// What would have been right.
        expected: String,
    },
    /// A pattern or table given by the caller makes no sense.
    #[error("{name} = {found}: expected {expected}")]
    Value {
        /// What the value is called.
        name: &'static str,
        /// What was given.
        found: String,
        /// What would have been right.
        expected: String,
    },
}
