//! State shared by several pages of a net.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A value that its copies share.
#[derive(Default, Debug)]
pub struct Common<T>(Arc<Mutex<T>>);

impl<T> Clone for Common<T> {
    fn clone(&self) -> Common<T> {
        Common(Arc::clone(&self.0))
    }
}

impl<T> Common<T> {
    /// The value, to look at or change.
    pub fn get(&self) -> MutexGuard<'_, T> {
        // Every change is done in one step, whoever has failed meanwhile.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
