//! Errors.

/// Why a question has no answer.
#[derive(thiserror::Error, Debug, Clone, PartialEq)]
pub enum Error {
    /// The question cannot be answered: the place, and the expected value.
    #[error("{place}: {message}")]
    Question {
        /// Path of the field: `repair.rebuild.seconds`.
        place: String,
        /// The text given and the text expected.
        message: String,
    },
    /// The question is not JSON of the expected form.
    #[error("question: {0}")]
    Form(String),
    /// An error of the program itself.
    #[error("{0}")]
    Own(String),
    /// The caller broke the simulation off.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    pub(crate) fn at(place: &str, message: impl Into<String>) -> Error {
        Error::Question {
            place: place.to_owned(),
            message: message.into(),
        }
    }
}
