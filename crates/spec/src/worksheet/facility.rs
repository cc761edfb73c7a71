//! `[facility]`: where the system is housed.

use crate::declare::section;
use crate::values::{
    Amperes, AtLeastOne, Kilograms, MoreThanZero, Ratio, Share, VoltAmperes, Volts, Watts, choice,
};

choice! {
    /// Place of a system.
    pub enum Housing {
        /// With the customer.
        OnSite = "on-site",
        /// In racks that are rented.
        CoLocation = "co-location",
    }
}

section! {
    /// Where the system is housed (Hindman 2011, section 2.8).
    pub struct Facility {
        /// Is it on the customer's site or in a co-location facility?
        place: Option<Housing> = optional("no rent of racks is counted", "on-site"),
        /// How many racks are free?
        racks: Option<u32> as Option<AtLeastOne> = optional("no design is discarded for its size", 1),
        /// How many units does a rack have?
        rack_units: u32 as AtLeastOne = default(42, "declared: the usual height of a rack") aka ["units"],
        /// How much power is available?
        power: Option<Watts> as Option<MoreThanZero<Watts>> = optional("no design is discarded for its power", "5 kW"),
        /// How many circuits are available?
        circuits: Option<u32> as Option<AtLeastOne> = optional("currents are not checked", 2),
        /// Which voltage do they have?
        voltage: Volts as MoreThanZero<Volts> = default("230 V", "IEC 60038; 120 V in North America"),
        /// Which current can a circuit carry?
        circuit_amperes: Option<Amperes> as Option<MoreThanZero<Amperes>> = optional("currents are not checked", "16 A") aka ["amperes"],
        /// How large is the uninterruptible power supply of the site? "0 VA": there is none.
        ups_va: Option<VoltAmperes> = optional("the report recommends one of its own", "6 kVA") aka ["ups"],
        /// Which power factor does that supply have?
        ups_power_factor: f64 as Share = default(0.9, "Hindman 2011, section 2.8.1: 0.66 to 0.90"),
        /// Is there a backup generator?
        generator: Option<bool> = optional("the supply lasts for a clean shutdown only", false),
        /// How much heat can be taken away? 1 kW is 3412 BTU/h or 0.284 tons.
        cooling: Option<Watts> as Option<MoreThanZero<Watts>> = optional("no design is discarded for its heat", "5 kW"),
        /// How much power do cooling and distribution take for each watt of load (PUE - 1)?
        cooling_overhead: f64 as Ratio = default(0.5, "declared: a little below the average PUE of 1.56 in the survey of the Uptime Institute of 2024") aka ["pue"],
        /// How much may a rack weigh?
        floor_load: Option<Kilograms> as Option<MoreThanZero<Kilograms>> = optional("no design is discarded for its weight", "900 kg"),
    }
}
