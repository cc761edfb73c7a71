//! Network measurement between two hosts with round-trip messages, like NetPIPE (Snell, Mikler and
//! Gustafson, 1996).
//!
//! One side answers ([`answer`]), the other asks ([`ask`]). A connection begins with a
//! greeting and a token. A size and a count N follow, then N messages of that size each way. All
//! messages go over TCP, without delay of small segments.

mod echo;
mod sender;
mod wire;

pub use echo::{Answering, answer};
pub use sender::{RoundTrips, ask};
pub use wire::{LARGEST_MESSAGE, NetworkError};

#[cfg(test)]
mod tests;
