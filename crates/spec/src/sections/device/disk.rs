//! `kind = "disk"`: a disk drive.

use crate::Error;
use crate::declare::{Place, section};
use crate::models::DiskModel;
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes, Rate, Seconds};

section! {
    /// A disk drive: an arm that seeks, rotating platters, zones of different
    /// rate, and queued commands. Its buffer reads ahead and may hold writes.
    /// Not modelled: faults, spare sectors, recalibration, power.
    pub struct Disk {
        /// A drive of the catalogue, which gives the values omitted here.
        model: Option<String> as Option<DiskModel> = optional("everything is given here"),
        /// Bytes it holds; addresses beyond count round.
        capacity: Bytes = required("147 GB") aka ["size"],
        /// Revolutions a minute.
        rpm: u32 as AtLeastOne = required(10_000) aka ["rotation", "speed", "rotational_speed"],
        /// The seek from one track to the next.
        track_to_track_seek: Seconds = required("0.2 ms") aka ["minimum_seek", "single_track_seek"],
        /// The mean of seeks between two uniformly distributed tracks.
        average_seek: Seconds = required("4.7 ms") aka ["seek", "seek_time"],
        /// The seek over all tracks.
        full_stroke_seek: Seconds = required("9.7 ms") aka ["maximum_seek", "full_seek"],
        /// Additional seek time before a write: the difference between average write and read seek
        /// in data sheets.
        write_settle: Seconds = default("0 s", "nothing is assumed: data sheets tell"),
        /// Time to go on at the next surface of a cylinder.
        head_switch: Seconds = same(track_to_track_seek),
        /// Surfaces that hold data, each with a head.
        surfaces: u32 as AtLeastOne = default(4, "declared default: two platters") aka ["heads"],
        /// Sustained rate at the outermost tracks, where addresses begin.
        outer_rate: Rate = required("80 MB/s") aka ["rate", "read_rate", "write_rate"],
        /// Sustained rate at the innermost tracks.
        inner_rate: Rate = same(outer_rate),
        /// Zones between them, of equal width and each of one rate.
        zones: u32 as AtLeastOne = default(16, "declared default: the drives of Ruemmler and Wilkes 1994 and later ones have 8 to 32"),
        /// The smallest part that is read or written.
        sector: Bytes = default("512 B", "the usual sector"),
        /// Room for data read ahead and, with a write cache, for data written.
        buffer: Bytes = default("0 B", "nothing is assumed about a buffer") aka ["cache"],
        /// Sequential streams that the buffer can hold at once.
        segments: u32 as AtLeastOne = default(16, "declared default: typical of drives since 2000"),
        /// If true, the disk reads ahead into the buffer while idle.
        read_ahead: bool = default(true, "every drive of the catalogue does; it needs a buffer"),
        /// If true, a write completes when the buffer has it. Synchronising and forced writes wait
        /// for the medium.
        write_cache: bool = default(false, "what is acknowledged is on the medium"),
        /// Rate of the bus to the host.
        interface_rate: Rate = required("320 MB/s") aka ["bus_rate"],
        /// Time that the drive's controller needs for a command.
        overhead: Seconds = default("0 s", "nothing is assumed: measure it") aka ["controller_overhead"],
        /// Commands that the drive takes at once to choose the next from; 1 for
        /// no command queueing.
        queue_depth: u32 as AtLeastOne = default(1, "no command queueing") aka ["depth", "queue"],
        /// Maximum wait of a command while others with less positioning time are preferred.
        age_limit: Seconds = default("0.5 s", "declared default: Jacobson and Wilkes 1991 bound the age of commands, drives do not tell theirs"),
    }
    check geometry_is_possible;
}

/// Segments of a buffer: each command looks through all, and drives have some tens.
const MOST_SEGMENTS: u32 = 4096;

/// Zones: drives have some tens.
const MOST_ZONES: u32 = 1_000_000;

fn geometry_is_possible(disk: &Disk, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    let (least, mean, most) = (
        disk.track_to_track_seek,
        disk.average_seek,
        disk.full_stroke_seek,
    );
    // Where the seek curve rises from the first to the last track.
    let low = least.0 * 115.0 / 135.0 + most.0 * 20.0 / 135.0;
    let high = least.0 / 5.0 + most.0 * 4.0 / 5.0;
    if least > most {
        let message = format!("expected at least track_to_track_seek = \"{least}\"");
        return Err(at.error("full_stroke_seek", message));
    }
    if mean.0 < low * (1.0 - 1e-9) || mean.0 > high * (1.0 + 1e-9) {
        let message = format!(
            "no seek curve between track_to_track_seek = \"{least}\" and full_stroke_seek = \
             \"{most}\" has that mean: expected {:.3} ms to {:.3} ms",
            low * 1e3,
            high * 1e3
        );
        return Err(at.error("average_seek", message));
    }
    if disk.sector.0 == 0 {
        return Err(at.error(
            "sector",
            r#"expected a size of more than 0 such as "512 B""#,
        ));
    }
    for (field, number, most) in [
        ("segments", disk.segments, MOST_SEGMENTS),
        ("zones", disk.zones, MOST_ZONES),
    ] {
        if number > most {
            return Err(at.error(field, format!("expected at most {most}")));
        }
    }
    let turn = 60.0 / f64::from(disk.rpm);
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let (sector, capacity) = (disk.sector.0 as f64, disk.capacity.0 as f64);
    if disk.inner_rate > disk.outer_rate {
        let message = format!("expected at most outer_rate = \"{}\"", disk.outer_rate);
        return Err(at.error("inner_rate", message));
    }
    if disk.inner_rate.0 * turn < sector {
        let message = "at that rate a track holds less than a sector: expected a higher rate";
        return Err(at.error("inner_rate", message));
    }
    let track = disk.outer_rate.0 * (turn + disk.head_switch.0.max(least.0));
    if capacity < track * f64::from(disk.surfaces) * f64::from(disk.zones) {
        let message = format!(
            "expected at least a cylinder for each zone: zones = {}, surfaces = {}, and a track \
             holds {:.0} kB",
            disk.zones,
            disk.surfaces,
            track / 1e3
        );
        return Err(at.error("capacity", message));
    }
    if disk.write_cache && disk.buffer < disk.sector {
        let message = "writes are held in the buffer: give buffer, or leave write_cache out";
        return Err(at.error("write_cache", message));
    }
    Ok(())
}
