//! Colours of tokens, and messages of disciplines.

/// A colour: what tokens are made of. Any plain `Copy` type of at most 64
/// bytes is one.
pub trait Token: Copy + Send + 'static {}

impl<T: Copy + Send + 'static> Token for T {}

/// The most bytes a token may have: bigger state belongs in a store.
pub const TOKEN_BYTES: usize = 64;

/// A message between the disciplines of two copies of one station: four words
/// of the sender's own meaning.
pub type Message = [u64; 4];

/// News for the disciplines of a station's copies: what all of them may read and none changes.
pub type News = std::sync::Arc<dyn std::any::Any + Send + Sync>;
