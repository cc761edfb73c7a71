//! Sizes of the groups of a system.

use crate::question::{Question, ReadErrorLoss, Redundancy};

/// Sizes of the groups of a system; all are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Disks of a group.
    pub disks: u32,
    /// Failures that a group, or a stripe of a pool, survives.
    pub tolerates: u32,
    /// Groups of the system. The mirrors of a RAID-10 are groups of their own.
    pub groups: u32,
    /// Bytes of data of a group.
    pub usable_bytes: f64,
    /// Bytes of data of a stripe.
    pub stripe_bytes: f64,
}

impl Shape {
    /// Sizes of the groups of a question.
    pub fn of(question: &Question) -> Shape {
        let capacity = question.disk.capacity_bytes;
        match question.redundancy {
            Redundancy::Array {
                disks,
                tolerates,
                stripe_bytes,
            } => Shape {
                disks,
                tolerates,
                groups: question.groups,
                usable_bytes: f64::from(disks - tolerates) * capacity,
                stripe_bytes,
            },
            Redundancy::Mirrors {
                disks,
                copies,
                stripe_bytes,
            } => Shape {
                disks: copies,
                tolerates: copies - 1,
                groups: question.groups * (disks / copies),
                usable_bytes: capacity,
                stripe_bytes,
            },
            Redundancy::Declustered {
                disks,
                data,
                parity,
                chunk_bytes,
                spare_disks,
            } => Shape {
                disks,
                tolerates: parity,
                groups: question.groups,
                usable_bytes: f64::from(disks - spare_disks) * capacity * f64::from(data)
                    / f64::from(data + parity),
                stripe_bytes: f64::from(data) * chunk_bytes,
            },
        }
    }

    /// Bytes that a read error loses.
    pub fn read_error_bytes(&self, loses: ReadErrorLoss) -> f64 {
        match loses {
            ReadErrorLoss::Stripe => self.stripe_bytes.min(self.usable_bytes),
            ReadErrorLoss::Array => self.usable_bytes,
        }
    }

    /// Disks of the system, spares not counted.
    pub fn all_disks(&self) -> u64 {
        u64::from(self.disks) * u64::from(self.groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usable_bytes_of_each_kind() {
        let shape = |redundancy: &str| {
            let text = format!(
                r#"{{"redundancy": {redundancy}, "groups": 2, "disk": {{"capacity_bytes": 10}},
                "lifetime": {{"law": {{"kind": "exponential", "mean": 1}}}},
                "repair": {{"rebuild": {{"kind": "constant", "seconds": 1}}}}}}"#
            );
            Shape::of(&serde_json::from_str(&text).expect("a question"))
        };
        let raid6 = shape(r#"{"kind": "array", "disks": 8, "tolerates": 2}"#);
        assert_eq!((raid6.usable_bytes, raid6.all_disks()), (60.0, 16));
        let raid10 = shape(r#"{"kind": "mirrors", "disks": 8}"#);
        assert_eq!((raid10.groups, raid10.usable_bytes), (8, 10.0));
        let pool = shape(
            r#"{"kind": "declustered", "disks": 21, "data": 8, "parity": 2, "spare_disks": 1}"#,
        );
        assert_eq!(pool.usable_bytes, 160.0);
    }
}
