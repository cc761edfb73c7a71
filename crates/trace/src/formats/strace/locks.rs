//! Locks on files: flock, and the record locks of fcntl.

use super::files::OpenObject;
use super::kinds;
use super::operations::Done;
use super::processes::Description;
use super::state::State;
use super::syntax::{self, has_flag};
use crate::Operation;

impl State {
    /// `flock(3, LOCK_EX)`: on the whole file.
    pub(super) fn flock(&mut self, done: &Done<'_>) -> Option<()> {
        let operation = match has_flag(done.arguments.get(1), b"LOCK_UN") {
            true => Operation::Unlock,
            false => Operation::Lock,
        };
        match self.opened(done.arguments.get(0))? {
            OpenObject::File(description) => {
                self.record(operation, Self::file_of(&description), 0, 0);
                Some(())
            }
            OpenObject::Other(kind) => self.left_out(kind, done),
        }
    }

    /// `fcntl(3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0,
    /// l_len=512})`; a length of 0 reaches to the end of the file, however
    /// long it gets.
    pub(super) fn record_lock(&mut self, done: &Done<'_>) -> Option<()> {
        let description = match self.opened(done.arguments.get(0))? {
            OpenObject::File(description) => description,
            OpenObject::Other(kind) => return self.left_out(kind, done),
        };
        let lock = done.arguments.get(2);
        if !lock.starts_with(b"{") {
            return self.left_out(&kinds::HIDDEN_LOCK, done);
        }
        let field = |name| syntax::member(lock, name);
        let operation = match field(b"l_type=")? {
            b"F_UNLCK" => Operation::Unlock,
            _ => Operation::Lock,
        };
        let start = syntax::signed(field(b"l_start=")?)?;
        let length = syntax::signed(field(b"l_len=")?)?;
        let base = self.lock_base(field(b"l_whence=")?, &description);
        // A negative length names the bytes before the start.
        let first = base
            .checked_add_signed(start)?
            .checked_add_signed(length.min(0))?;
        self.record(
            operation,
            Self::file_of(&description),
            first,
            length.unsigned_abs(),
        );
        Some(())
    }

    fn lock_base(&mut self, whence: &[u8], description: &Description) -> u64 {
        match whence {
            b"SEEK_CUR" => self.position(description),
            b"SEEK_END" => self.lengths.get(Self::file_of(description)).end,
            _ => 0,
        }
    }
}
