//! `[customer]` and `[background]`: whom the system is for, and which problem it solves.

use crate::declare::{Tables, section};
use crate::values::{Date, choice};

choice! {
    /// Property of a storage system that a statement is about.
    pub enum Concern {
        /// How much it holds.
        Capacity = "capacity",
        /// How fast it is.
        Performance = "performance",
        /// How safe and how available data is.
        Reliability = "reliability",
    }
}

choice! {
    /// Who sees a limitation (Hindman 2011, section 2.2: their concerns differ).
    pub enum Role {
        /// They look at cost and return.
        Management = "management",
        /// They write the applications.
        Developers = "developers",
        /// They run the systems.
        Engineers = "engineers",
        /// They use the applications.
        Users = "users",
    }
}

section! {
    /// The customer.
    pub struct Customer {
        /// Which company or group is it?
        company: String = default("", "unknown"),
        /// Who answers for it?
        contact: String = default("", "unknown"),
        /// When was the worksheet filled in?
        #[serde(skip_serializing_if = "Option::is_none")]
        date: Option<String> as Option<Date> = optional("the report has no date of the requirements", "2026-11-20"),
    }
}

section! {
    /// The problem that the customer wants to solve (Hindman 2011, section 2.2).
    pub struct Background {
        /// Which problem does the customer want to solve?
        problem: String = default("", "unknown"),
        /// Why is a high-performance storage system considered?
        reason: String = default("", "unknown") aka ["why"],
        /// Which storage does the customer have now?
        existing: String = default("", "unknown"),
        /// What limits the storage that exists? The report shows how the design meets each.
        #[serde(rename = "limitations", skip_serializing_if = "Option::is_none")]
        limitation: Option<Vec<Limitation>> as Option<Tables<Limitation>>
            = optional("the report cannot show what the design improves") aka ["limitations"],
        /// What does the customer want? The report shows how the design meets each wish.
        #[serde(rename = "wishes", skip_serializing_if = "Option::is_none")]
        wish: Option<Vec<Wish>> as Option<Tables<Wish>>
            = optional("the report cannot show how the design meets the wishes") aka ["wishes", "want"],
    }
}

section! {
    /// A limitation of the existing storage, real or perceived.
    pub struct Limitation {
        /// Which limitation is it?
        text: String = required("the file server is full twice a year"),
        /// Is it one of capacity, performance or reliability?
        concern: Concern = required("capacity") aka ["kind"],
        /// Who sees it?
        seen_by: Option<Role> = optional("nothing says who sees it", "engineers") aka ["by"],
    }
}

section! {
    /// A wish of the customer.
    pub struct Wish {
        /// What is wanted?
        text: String = required("a render job never waits for the disks"),
        /// Is it about capacity, performance or reliability?
        concern: Concern = required("performance") aka ["kind"],
    }
}
