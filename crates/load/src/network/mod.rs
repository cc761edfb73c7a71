//! Network measurement between two hosts with round-trip messages, like NetPIPE (Snell, Mikler and
//! Gustafson, 1996).
//!
//! One side answers ([`answer`]), the other asks ([`ask`]). A connection begins with a
//! greeting and a token, then comes a size, how often, and so many messages of it there and
//! as many back. All over TCP, without delay of small segments.

mod echo;
mod sender;
mod wire;

pub use echo::{Answering, answer};
pub use sender::{RoundTrips, ask};
pub use wire::{LARGEST_MESSAGE, NetworkError};

#[cfg(test)]
mod tests;
