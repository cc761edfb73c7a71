//! Functions that a document calls and does not contain, such as those of a caller in Python.

use std::fmt;
use std::sync::Arc;

use super::code::Code;
use crate::colour::Kind;

/// A function from outside the document.
pub trait Function: Send + Sync {
    /// Computes a word of the result. Word 0 calls the function; later words are those of the last
    /// call. None if it failed, then or before: the supplier of the function has the reason.
    fn word(&self, kinds: &[Kind], arguments: &[i64], word: usize) -> Option<i64>;
}

/// A function with its name in expressions and the colour of its result.
#[derive(Clone)]
pub struct External {
    /// Its name.
    pub name: String,
    /// The name of its result's colour.
    pub colour: String,
    /// The function.
    pub function: Arc<dyn Function>,
}

impl fmt::Debug for External {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

impl PartialEq for External {
    fn eq(&self, other: &External) -> bool {
        Arc::ptr_eq(&self.function, &other.function)
    }
}

/// A word of the result of a call.
#[derive(Clone, PartialEq, Debug)]
pub struct Call {
    /// The function.
    pub external: External,
    /// Types of the arguments.
    pub kinds: Vec<Kind>,
    /// Their words.
    pub arguments: Vec<Code>,
    /// The word of the result.
    pub word: usize,
}
