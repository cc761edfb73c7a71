//! `[device.data_sheet]`: the figures of a drive's data sheet, and the fields that follow from them.

use crate::Error;
use crate::declare::{Leaf, section};
use crate::syntax::{self, Layer};
use crate::tree::{Node, Raw, Table};
use crate::values::{AtLeastOne, Bytes, Positive, Rate, Seconds};

section! {
    /// Figures of a drive's data sheet. Each gives a field of the drive that is not given beside it.
    pub struct DataSheet {
        /// Sequential reads; gives `interface_rate`.
        read_rate: Option<Rate> = optional("the drive's interface_rate", "6.8 GB/s") aka ["sequential_read"],
        /// Sequential writes; gives `program_time`.
        write_rate: Option<Rate> = optional("the drive's program_time", "5.6 GB/s") aka ["sequential_write"],
        /// Latency of a random read of 4 KiB at queue depth 1; gives `read_time`.
        read_latency: Option<Seconds> = optional("the drive's read_time", "80 us"),
        /// Latency of a write of 4 KiB at queue depth 1; gives `overhead`.
        write_latency: Option<Seconds> = optional("the drive's overhead", "15 us"),
        /// Random reads of 4 KiB a second at a high queue depth; gives `command_time`.
        read_operations: Option<f64> as Option<Positive> = optional("the drive's command_time", 1e6) aka ["read_iops"],
        /// Random writes of 4 KiB a second in the steady state; with `write_rate` gives
        /// `over_provisioning`.
        write_operations: Option<f64> as Option<Positive> = optional("the drive's over_provisioning", 180e3) aka ["write_iops"],
    }
}

/// Name of the section.
pub(crate) const NAME: &str = "data_sheet";

/// Field that follows from a figure, or is usual if the sheet lacks it.
const SPARE: &str = "over_provisioning";

/// Fields and figures that data sheets lack.
const OF_THE_CLASS: &str = include_str!("data_sheet.toml");

/// Bytes of a small request on data sheets.
const SMALL: f64 = 4096.0;

/// The least amplification of random writes: below it the spare share would have no bound.
const LEAST_AMPLIFICATION: f64 = 1.02;

/// Adds to a drive with a data sheet the fields that follow from it and are not given.
///
/// The latency of a write is `overhead` and the time of the interface. A read takes `read_time` and
/// the channel besides. Sequential writes keep all dies programming. The spare share follows from
/// the amplification of random writes ([`spare_for`]).
///
/// # Errors
/// A latency of reads is shorter than what they pass besides the flash.
pub(crate) fn complete(drive: &mut Table) -> Result<(), Error> {
    let Some(mut sheet) = drive.get(NAME).and_then(Node::table).cloned() else {
        return Ok(());
    };
    // Explanations print the section without any figure.
    if sheet.entries.is_empty() {
        return Ok(());
    }
    let class = syntax::read(OF_THE_CLASS, &Layer::Preset(NAME))?;
    if let Some(usual) = class.find(NAME) {
        add_all(&mut sheet, usual, "");
    }
    add_all(drive, &class, SPARE);
    let interface_rate = follows(&sheet, "read_rate", |rate| Some(rate.raw.clone()));
    add(drive, "interface_rate", interface_rate);
    let interface = transfer(drive, "interface_rate", SMALL);
    let overhead = follows(&sheet, "write_latency", |latency| {
        Some(time(read::<Seconds>(latency)?.0 - interface?))
    });
    add(drive, "overhead", overhead);
    read_time(drive, &sheet)?;
    let command_time = follows(&sheet, "read_operations", |rate| {
        Some(time(1.0 / read::<Positive>(rate)?))
    });
    add(drive, "command_time", command_time);
    let program_time = follows(&sheet, "write_rate", |rate| {
        let channels = f64::from(field::<AtLeastOne>(drive, "channels")?);
        let dies = channels * f64::from(field::<AtLeastOne>(drive, "dies")?);
        let page = field::<Bytes>(drive, "page").map(float)?;
        let channel = transfer(drive, "channel_rate", page)?;
        Some(time(dies * page / read::<Rate>(rate)?.0 - channel))
    });
    add(drive, "program_time", program_time);
    let spare = follows(&sheet, "write_operations", |operations| {
        let unit = field::<Bytes>(drive, "mapping_unit").map_or(SMALL, float);
        let random = read::<Positive>(operations)? * unit;
        Some(spare_for(field::<Rate>(&sheet, "write_rate")?.0 / random).into())
    });
    add(drive, SPARE, spare);
    add_all(drive, &class, NAME);
    Ok(())
}

fn read_time(drive: &mut Table, sheet: &Table) -> Result<(), Error> {
    let passes = || {
        let overhead = field::<Seconds>(drive, "overhead")?.0;
        let interface = transfer(drive, "interface_rate", SMALL)?;
        Some(overhead + interface + transfer(drive, "channel_rate", SMALL)?)
    };
    let passed = passes();
    if drive.get("read_time").is_none()
        && let Some(latency) = sheet.get("read_latency")
        && let (Some(passed), Some(Seconds(all))) = (passed, read::<Seconds>(latency))
    {
        if all < passed {
            let least = Seconds((passed * 1e9 - 1e-6).ceil() / 1e9);
            let message = format!(
                "a read_latency of {} leaves no time for the flash: expected at least {least}, or \
                 a shorter write_latency",
                Seconds(all)
            );
            return Err(Error::at(&latency.origin, message));
        }
        let rest = follows(sheet, "read_latency", |_| Some(time(all - passed)));
        add(drive, "read_time", rest);
    }
    Ok(())
}

/// A field that follows from a figure, with the figure's origin.
fn follows(sheet: &Table, figure: &str, value: impl Fn(&Node) -> Option<Raw>) -> Option<Node> {
    let node = sheet.get(figure)?;
    Some(Node {
        raw: value(node)?,
        origin: node.origin.clone(),
    })
}

/// Seconds that bytes take at the rate of a field.
fn transfer(drive: &Table, rate: &str, bytes: f64) -> Option<f64> {
    field::<Rate>(drive, rate).map(|rate| bytes / rate.0)
}

/// The spare share at which uniformly random writes are amplified A times, to four digits. It is
/// α − 1, with A = α / (α + W(−α·e^−α)), thus α = A·ln(A / (A − 1)). The formula is from Desnoyers
/// 2012, "Analytic modeling of SSD write performance", SYSTOR.
fn spare_for(amplification: f64) -> f64 {
    let amplification = amplification.max(LEAST_AMPLIFICATION);
    let alpha = amplification * (amplification / (amplification - 1.0)).ln();
    ((alpha - 1.0) * 1e4).round() / 1e4
}

/// Adds a field that is not given.
fn add(drive: &mut Table, name: &str, value: Option<Node>) {
    if let Some(node) = value
        && drive.get(name).is_none()
    {
        drive.push(name, node);
    }
}

/// Adds all entries of a table but one that are not given.
fn add_all(table: &mut Table, usual: &Node, except: &str) {
    let entries = usual.table().into_iter().flat_map(|usual| &usual.entries);
    for entry in entries.filter(|entry| entry.key != except) {
        add(table, &entry.key, Some(entry.node.clone()));
    }
}

/// The value of a field; none if it is absent or no such value, which its reader reports.
fn field<T: Leaf>(table: &Table, name: &str) -> Option<T::Value> {
    read::<T>(table.get(name)?)
}

fn read<T: Leaf>(node: &Node) -> Option<T::Value> {
    T::parse(node).ok()
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn float(bytes: Bytes) -> f64 {
    bytes.0 as f64
}

/// A time of at least 0, to the picosecond.
fn time(seconds: f64) -> Raw {
    Seconds::format(&Seconds((seconds.max(0.0) * 1e12).round() / 1e12))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    fn canonical(drive: &str) -> Result<String, crate::Error> {
        let text = format!(
            "clients.count = 1\nservers.count = 1\nlayout.unit = \"1 MiB\"\n\
             network = {{ bandwidth = \"1 Gbit/s\", latency = \"1 ms\" }}\n\
             [[workload]]\nblock = \"1 MiB\"\n[servers.device]\nkind = \"solid-state\"\n\
             capacity = \"8 TB\"\nchannel_rate = \"4.096 GB/s\"\n{drive}"
        );
        let loaded = crate::load(&text, Path::new("drive.toml"), &[])?;
        Ok(loaded.scenario.to_canonical_toml())
    }

    const SHEET: &str = "data_sheet = { read_rate = \"4.096 GB/s\", write_rate = \"1.6777216 GB/s\", \
         read_latency = \"72 us\", write_latency = \"11 us\", read_operations = 1e6, \
         write_operations = 204_800 }\n";

    /// 4 KiB pass interface and channel in a microsecond each, and 1024 dies program 16 MiB in
    /// 10 ms. An amplification of 2 needs 2·ln 2 of the capacity.
    #[test]
    fn fields_follow_from_the_figures_unless_they_are_given() {
        let drive = canonical(SHEET).expect("good");
        for line in [
            "interface_rate = \"4096 MB/s\"",
            "overhead = \"10 us\"",
            "read_time = \"60 us\"",
            "command_time = \"1 us\"",
            "program_time = \"9996 us\"",
            "over_provisioning = 0.3863",
            "queue_depth = 1024",
        ] {
            assert!(drive.contains(line), "{line} is not in {drive}");
        }
        let given = format!("read_time = \"50 us\"\noverhead = \"3 us\"\n{SHEET}");
        let drive = canonical(&given).expect("good");
        assert!(drive.contains("read_time = \"50 us\"") && drive.contains("overhead = \"3 us\""));
    }

    #[test]
    fn a_latency_that_leaves_nothing_for_the_flash_is_rejected() {
        let error = canonical(&SHEET.replace("72 us", "11.5 us")).expect_err("too short");
        let error = error.to_string();
        assert!(error.starts_with("drive.toml:11:"), "{error}");
        assert!(error.contains("expected at least 12 us"), "{error}");
    }
}
