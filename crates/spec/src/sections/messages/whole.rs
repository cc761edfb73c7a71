//! `kind = "whole"`: one message each way.

use crate::declare::section;

section! {
    /// One message each way for a job: written data goes along with the request, read
    /// data with the answer.
    pub struct Whole {}
}
