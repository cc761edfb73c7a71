//! `kind = "noop"`: first in, first out, merged.

use crate::declare::section;

section! {
    /// Requests go on in the order they come, and take along those that go on
    /// where they end (Linux 2.6-4.20).
    pub struct Noop {}
}
