//! `kind = "none"`: no scheduler.

use crate::declare::section;

section! {
    /// Requests go on in the order they come, as in Linux's multi-queue block
    /// layer without a scheduler; without `depth`, there is no queue at all.
    pub struct NoIoScheduler {}
}
