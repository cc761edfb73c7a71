//! `[[calibration]]`: how well a value is known.

use crate::Error;
use crate::declare::{Nature, Place, Section, Shape, section};
use crate::load::DECLARED;
use crate::quantities::Quantity;
use crate::sections::Scenario;
use crate::values::NonEmpty;

section! {
    /// Method of a measured value, and its result in each round. `headrace predict` draws one round
    /// for all values together, so a prediction's spread is that of the machine.
    pub struct Calibration {
        /// The field whose value was measured.
        field: String = required("machine.cpu.system_call"),
        /// Result of each round, in the same number and order for all fields.
        values: Vec<String> as NonEmpty<String> = required(two_times()),
        /// Points of the curve from which it was derived, such as "16 at once: 31 us".
        curve: Option<Vec<String>> as Option<NonEmpty<String>> = optional("it follows from no curve"),
        /// Method of measurement.
        method: String = default("", "nothing is said"),
        /// Date of the measurement.
        date: String = default("", "nothing is said"),
    }
    check is_of_all_rounds;
}

fn two_times() -> crate::tree::Raw {
    let times = ["0.21 us", "0.23 us"].map(|text| crate::tree::Node::plain(text.into()));
    crate::tree::Raw::List(times.to_vec())
}

fn is_of_all_rounds(
    calibration: &Calibration,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    let quantities = quantities_of(&DECLARED, &calibration.field);
    if quantities.is_empty() {
        let message = "expected the path of a field that has a size, a time, a rate or a \
                       number, such as machine.cpu.system_call";
        return Err(at.error("field", message));
    }
    for value in &calibration.values {
        if !quantities.iter().any(|quantity| quantity.reads(value)) {
            let message = format!(
                "expected {} of each round, found {value:?}",
                quantities[0].example()
            );
            return Err(at.error("values", message));
        }
    }
    let named = |it: &&Calibration| it.field == calibration.field;
    if all.calibration.iter().flatten().filter(named).count() > 1 {
        let message = format!(
            "{} has several: expected one, with what every round gave; leave the others out",
            calibration.field
        );
        return Err(at.error("field", message));
    }
    let Some(first) = all.calibration.iter().flatten().next() else {
        return Ok(());
    };
    let (expected, found) = (first.values.len(), calibration.values.len());
    if found != expected {
        let of = &first.field;
        let message = format!(
            "expected one for each round, as many as {of} has: {expected}, found {found}; \
                 calibrate again, or leave one of them out"
        );
        return Err(at.error("values", message));
    }
    Ok(())
}

/// Returns the quantities of a path's field; none if it names no such field.
fn quantities_of(section: &Section, path: &str) -> Vec<Quantity> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let fields = section.fields(None);
    // Kinds may have fields of the same name.
    fields
        .iter()
        .filter(|field| field.name == first)
        .flat_map(|field| match &field.shape {
            Shape::Leaf {
                nature: Nature::Quantity(quantity),
                ..
            } if rest.is_empty() => vec![*quantity],
            Shape::Section(inner) => quantities_of(inner, rest),
            _ => Vec::new(),
        })
        .collect()
}
