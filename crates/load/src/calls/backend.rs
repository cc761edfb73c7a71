//! The ways in which calls can be made.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::{Calls, Null, Posix, Stalling, Uring};
use crate::Error;

/// Backend that makes the calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Backend {
    /// System calls.
    #[default]
    Posix,
    /// Through io_uring, as far as it has them.
    Uring,
    /// Not at all: what remains is what the engine itself costs.
    Null,
    /// System calls, of which some take 20 ms longer: the engine's own figures are tried on
    /// them, so they have no place in [`ALL`](Backend::ALL).
    Stalling,
}

impl Backend {
    /// Every way of measuring a file system.
    pub const ALL: &[Backend] = &[Backend::Posix, Backend::Uring, Backend::Null];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Backend::Posix => "posix",
            Backend::Uring => "io-uring",
            Backend::Null => "null",
            Backend::Stalling => "stalling",
        }
    }

    /// The way with a word.
    ///
    /// # Errors
    /// If there is none; says which there are.
    pub fn with_word(word: &str) -> Result<Backend, Error> {
        let found = Backend::ALL.iter().find(|it| it.word() == word);
        found.copied().ok_or_else(|| {
            let words: Vec<_> = Backend::ALL.iter().map(|it| it.word()).collect();
            let words = words.join(", ");
            Error::Unsuitable(format!("calls {word:?}: expected one of {words}"))
        })
    }

    /// Creates the call backend of a process, with paths below a directory.
    ///
    /// # Errors
    /// If the kernel does not let it.
    pub fn calls(self, root: &Arc<OwnedFd>) -> Result<Box<dyn Calls>, Error> {
        match self {
            Backend::Posix => Ok(Box::new(Posix::new(Arc::clone(root)))),
            Backend::Stalling => Ok(Box::new(Stalling::new(Arc::clone(root)))),
            Backend::Uring => Ok(Box::new(Uring::new(root)?)),
            Backend::Null => {
                let null = Null::new(root);
                let null = null.map_err(|errno| {
                    Error::Own(format!("no descriptor for calls that do nothing: {errno}"))
                })?;
                Ok(Box::new(null))
            }
        }
    }
}
