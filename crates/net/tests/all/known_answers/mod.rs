//! Queues whose answers are known exactly. Each exact value must lie in the 99
//! % confidence interval over independent seeds. The interval must be narrow,
//! so that a wrong discipline cannot hide in it.

mod closed;
mod estimate;
mod load_sharing;
mod open;
mod playback;
mod priority;
mod sharing;
mod source;
