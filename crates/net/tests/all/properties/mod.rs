//! Properties of any net: tokens conserved, time in one direction, the same seed the same run,
//! areas that agree with Little's law, a folded page that behaves as its copies, and agreement with
//! a slow simulator that is obviously right.

mod flows;
mod folding;
mod laws;
mod playback;
mod random_net;
mod reference;
