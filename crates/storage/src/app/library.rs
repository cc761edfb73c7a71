//! The C library between a process and the system calls: fread and fwrite, fgetc
//! and fputc.
//!
//! Requests smaller than the stream's buffer are gathered in it: one system call a bufferful, and a
//! library call for each request. Requests as large as the buffer or larger bypass it in one system
//! call (glibc, libio/fileops.c: _IO_file_xsgetn, _IO_new_file_xsputn). Requests of a bufferful are
//! reported as one.
//!
//! Not modelled: positions out of order, which empty the buffer; asynchronous calls.

use headrace_net::Span;
use headrace_spec::{Bytes, Interface, Ior, Scenario, Workload};

/// The pattern of system calls that a pattern of library calls makes, and the
/// processor time in the library for each.
pub(super) fn calls(scenario: &Scenario, workload: &Workload, ior: &Ior) -> (Ior, Span) {
    let (Some(request), Some(block)) = (ior.transfer.same(), ior.block.same()) else {
        // Only system calls have sizes by rank.
        return (ior.clone(), Span::ZERO);
    };
    let (request, block) = (request.0, block.0);
    let (transfer, time) = gathered(scenario, workload, request, block);
    if block.is_multiple_of(transfer) {
        let transfer = Bytes(transfer).into();
        return (
            Ior {
                transfer,
                ..ior.clone()
            },
            time,
        );
    }
    // As many whole requests as the buffer holds and the block is made of.
    let requests = (1..=transfer / request)
        .rev()
        .find(|requests| block.is_multiple_of(requests * request))
        .unwrap_or(1);
    let each = time.0 / (transfer / request);
    let transfer = Bytes(request * requests).into();
    (
        Ior {
            transfer,
            ..ior.clone()
        },
        Span(each * requests),
    )
}

/// The size of the system calls for library calls of `request` bytes in a file
/// of `size` bytes, and the library's processor time for each.
pub(super) fn gathered(
    scenario: &Scenario,
    workload: &Workload,
    request: u64,
    size: u64,
) -> (u64, Span) {
    let Some(cpu) = super::processor(scenario) else {
        return (request, Span::ZERO);
    };
    if workload.io.interface != Interface::Library {
        return (request, Span::ZERO);
    }
    let time = Span::from_seconds(cpu.library_call.0);
    let most = workload.io.buffer.0.min(size);
    let requests = (most / request).max(1);
    (request * requests, Span(time.0.saturating_mul(requests)))
}
