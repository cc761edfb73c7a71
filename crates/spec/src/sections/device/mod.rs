//! `[servers.device]`: what the data is stored on.

mod simple;

pub use simple::SimpleDevice;

use crate::declare::kinds;

kinds! {
    /// What kind of storage device it is.
    pub enum Device default "simple", "the least that can be said of a device" {
        SimpleDevice = "simple",
    }
}
