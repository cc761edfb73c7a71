//! `[budget]`: what the system may cost.

use crate::declare::section;
use crate::values::{Money, Positive};

section! {
    /// Money, in the currency of the catalogue (Hindman 2011, section 2.9).
    pub struct Budget {
        /// How much may the purchase cost?
        initial: Option<f64> as Option<Positive> = optional("no design is discarded for its price", 40_000) aka ["purchase"],
        /// How much may power and cooling cost a month?
        monthly_power: Option<f64> as Option<Positive> = optional("no design is discarded for its power bill", 300),
        /// How much may maintenance cost a year?
        yearly_maintenance: Option<f64> as Option<Money> = optional("no design is discarded for its maintenance", 4000) aka ["maintenance"],
        /// Is a maintenance agreement of the vendor bought?
        vendor_agreement: Option<bool> = optional("maintenance is counted as a part of the purchase", true),
        /// How much may spare parts cost, if there is no agreement?
        spare_parts: Option<f64> as Option<Money> = optional("spare disks are counted as the design needs them", 2000) aka ["spares"],
        /// What does an hour of an engineer cost?
        engineer_hour: Option<f64> as Option<Money> = optional("the engineer's time is not counted", 60),
        /// How many hours a month does an engineer have for the system?
        engineer_hours_month: Option<f64> as Option<Money> = optional("the engineer's time is not checked", 10),
        /// What does a kilowatt-hour cost?
        electricity: Option<f64> as Option<Money> = optional("the cost of power is unknown", 0.25),
        /// What does a rack cost a month at a co-location facility?
        rack_month: Option<f64> as Option<Money> = optional("the cost of co-location is unknown", 800),
    }
}
