//! `kind = "none"`: no scheduler.

use crate::declare::section;

section! {
    /// Every job goes on at once; the server's daemon queues it.
    pub struct NoScheduler {}
}
