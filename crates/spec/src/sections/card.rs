//! `[….card]`: a host's network card.

use crate::declare::section;
use crate::values::Rate;

section! {
    /// A network card.
    pub struct Card {
        /// Bytes per second in each direction.
        bandwidth: Option<Rate> = optional("network.bandwidth"),
    }
}
