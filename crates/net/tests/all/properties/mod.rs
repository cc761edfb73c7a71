//! Properties of any net: tokens are conserved, time never goes back, and the same seed gives the
//! same run. Areas agree with Little's law, and a folded page behaves as its copies. A slow,
//! obviously correct simulator agrees.

mod flows;
mod folding;
mod laws;
mod playback;
mod random_net;
mod reference;
