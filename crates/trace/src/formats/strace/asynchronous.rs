//! Requests that libaio submits: strace prints file, place and size of each.
//!
//! A record stands for a request that was accepted, from the start of the call that submitted it.
//! The bytes moved and the time taken are reported by `io_getevents`, which does not name the
//! request.

use super::files::{OpenObject, Target};
use super::kinds;
use super::operations::Done;
use super::state::State;
use super::syntax::{self, has_flag};
use crate::Operation::{self, Read, Sync, Write};

/// Request names in strace 5.0 and later, and before.
const REQUESTS: [(&[u8], Option<Operation>); 12] = [
    (b"IOCB_CMD_PREAD", Some(Read)),
    (b"IOCB_CMD_PREADV", Some(Read)),
    (b"IOCB_CMD_PWRITE", Some(Write)),
    (b"IOCB_CMD_PWRITEV", Some(Write)),
    (b"IOCB_CMD_FSYNC", Some(Sync)),
    (b"IOCB_CMD_FDSYNC", Some(Sync)),
    (b"pread", Some(Read)),
    (b"preadv", Some(Read)),
    (b"pwrite", Some(Write)),
    (b"pwritev", Some(Write)),
    (b"fsync", Some(Sync)),
    (b"fdsync", Some(Sync)),
];

impl State {
    /// `io_submit(0x7f…, 2, [{aio_lio_opcode=IOCB_CMD_PREAD, aio_fildes=5</f>,
    /// aio_buf=0x…, aio_nbytes=4096, aio_offset=0}, …]) = 2`
    pub(super) fn submit(&mut self, done: &Done<'_>) -> Option<()> {
        if done.failed() {
            return self.left_out(&kinds::FAILED, done);
        }
        let accepted = usize::try_from(done.value).ok()?;
        let list = done.arguments.get(2);
        let mut shown = 0;
        for request in syntax::items(list)
            .filter(|it| it.starts_with(b"{"))
            .take(accepted)
        {
            shown += 1;
            if self.request(request, done).is_none() {
                self.count(&kinds::MALFORMED, request);
            }
        }
        for _ in shown..accepted {
            self.count_call(&kinds::HIDDEN_REQUEST, done.name, done.rest);
        }
        if accepted == 0 {
            self.count_call(&kinds::OTHER_CALL, done.name, done.rest);
        }
        Some(())
    }

    fn request(&mut self, request: &[u8], done: &Done<'_>) -> Option<()> {
        let member = |name: &[u8]| {
            // Before strace 5.0 the names had no prefix.
            syntax::member(request, name)
                .or_else(|| syntax::member(request, name.strip_prefix(b"aio_")?))
        };
        let word = syntax::member(request, b"aio_lio_opcode=").or_else(|| {
            syntax::items(request)
                .find(|it| it.first().is_some_and(u8::is_ascii_lowercase) && !it.contains(&b'='))
        })?;
        let Some((_, Some(operation))) = REQUESTS.iter().find(|it| it.0 == word) else {
            self.count(&kinds::OTHER_REQUEST, request);
            return Some(());
        };
        let description = match self.opened(member(b"aio_fildes=")?)? {
            OpenObject::File(description) => description,
            OpenObject::Other(kind) => return self.left_out(kind, done),
        };
        if *operation == Sync {
            return self.record_at(Sync, &Target::File(Self::file_of(&description)), done);
        }
        let offset = u64::try_from(syntax::signed(member(b"aio_offset=")?)?).ok()?;
        let size = match member(b"aio_nbytes=") {
            Some(size) => syntax::unsigned(size)?,
            None => vector_size(member(b"aio_buf=").or_else(|| member(b"iovec="))?)?,
        };
        let flags = member(b"aio_rw_flags=").unwrap_or_default();
        let append = has_flag(flags, b"RWF_APPEND");
        if syntax::writes_through(flags) {
            self.count(&kinds::SYNCHRONOUS_WRITE, request);
        }
        self.count(&kinds::SUBMITTED, request);
        self.move_bytes(*operation, &description, Some(offset), size, append);
        Some(())
    }
}

/// The bytes of `[{iov_base=0x…, iov_len=4096}, …]`.
fn vector_size(list: &[u8]) -> Option<u64> {
    let mut parts = syntax::items(list).peekable();
    parts.peek()?;
    parts.try_fold(0_u64, |sum, part| {
        sum.checked_add(syntax::unsigned(syntax::member(part, b"iov_len=")?)?)
    })
}
