//! `kind = "solid-state"`: a solid-state drive.

use crate::Error;
use crate::declare::{Place, section};
use crate::models::SolidStateModel;
use crate::sections::{DataSheet, Scenario};
use crate::values::{AtLeastOne, Bytes, NonNegative, Portion, Rate, Seconds};

section! {
    /// A solid-state drive: flash dies on channels, a page-mapped translation
    /// layer with greedy cleaning, a write cache. Not modelled: several planes of
    /// a die, suspending a program for a read, wear, read errors, trimming,
    /// cells that hold several bits at different speed.
    pub struct SolidState {
        /// A drive of the catalogue, which gives the values omitted here.
        model: Option<String> as Option<SolidStateModel> = optional("everything is given here"),
        /// The figures of its data sheet, from which the fields follow that are omitted here.
        data_sheet: DataSheet = section(),
        /// Bytes it offers; addresses beyond count round.
        capacity: Bytes = required("480 GB") aka ["size"],
        /// Channels between controller and flash.
        channels: u32 as AtLeastOne = required(8),
        /// Flash dies on each channel.
        dies: u32 as AtLeastOne = required(4) aka ["chips", "ways"],
        /// Unit of reads and programs, over all planes of a die.
        page: Bytes = required("16 KiB") aka ["page_size"],
        /// Mapping unit of the translation layer: smaller writes cost one unit.
        mapping_unit: Bytes = default("4 KiB", "declared default: the usual sector of file systems and of translation layers"),
        /// Pages that are erased together.
        pages_per_block: u32 as AtLeastOne = default(256, "declared default: typical of planar multi-level flash"),
        /// Time to read a page into its die's register.
        read_time: Seconds = required("50 us"),
        /// Time to program a page.
        program_time: Seconds = required("1.3 ms") aka ["write_time"],
        /// Time to erase a block.
        erase_time: Seconds = default("3 ms", "declared default: typical of multi-level flash"),
        /// Rate of a channel.
        channel_rate: Rate = required("333 MB/s"),
        /// Rate of the bus to the host.
        interface_rate: Rate = required("550 MB/s") aka ["bus_rate"],
        /// Time that the drive's controller needs for a command; commands do not
        /// wait for each other's.
        overhead: Seconds = default("0 s", "nothing is assumed: measure it") aka ["controller_overhead"],
        /// Time that a command occupies the controller, which processes one command after the
        /// other. It is the inverse of a data sheet's rate of small random reads.
        command_time: Seconds = default("0 s", "nothing is assumed: data sheets tell"),
        /// Commands that the drive takes at once.
        queue_depth: u32 as AtLeastOne = default(32, "SATA's native command queueing") aka ["depth", "queue"],
        /// Room for written data on its way to the flash; 0: a write is done
        /// when it is programmed.
        write_cache: Bytes = default("0 B", "nothing is assumed about a cache") aka ["cache", "buffer"],
        /// If true, the write cache survives a loss of power, so that synchronising, and writes
        /// that must be on the medium, wait for nothing else.
        power_loss_protection: bool = default(false, "what is synchronised is in the flash"),
        /// Flash beyond the capacity, as a part of the capacity. Each die needs 13 spare
        /// erase blocks to be cleaned.
        over_provisioning: f64 as NonNegative = default(0.07, "a drive of 2^30 bytes to the GB that offers 10^9 has 7 %") aka ["spare"],
        /// Fraction of the capacity that holds sequentially written data at the start.
        fill: f64 as Portion = default(1.0, "a drive in use: nothing was trimmed") aka ["fill_level"],
    }
    check geometry_is_possible;
}

/// Minimum spare erase blocks of a die for cleaning. Four streams need a current and a next block
/// each. Two blocks stay free as cleaning targets, one is written at random, one is cleaned, and
/// one is left over.
pub const LEAST_SPARE_BLOCKS: u64 = 13;

/// Erase blocks of a drive: some 60 bytes each are remembered.
const MOST_BLOCKS: u64 = 20_000_000;

fn geometry_is_possible(drive: &SolidState, _all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    if drive.mapping_unit.0 == 0 {
        let message = r#"expected a size of more than 0 such as "4 KiB""#;
        return Err(at.error("mapping_unit", message));
    }
    if drive.page.0 == 0 || !drive.page.0.is_multiple_of(drive.mapping_unit.0) {
        let message = format!(
            "expected a multiple of mapping_unit = \"{}\"",
            drive.mapping_unit
        );
        return Err(at.error("page", message));
    }
    let units =
        u64::from(drive.pages_per_block).saturating_mul(drive.page.0 / drive.mapping_unit.0);
    if units > u64::from(u16::MAX) {
        let message = "a block would have more than 65535 mapping units: expected fewer pages, or \
                       a larger mapping_unit";
        return Err(at.error("pages_per_block", message));
    }
    // A block that is written, a free one to clean into, and one more.
    let dies = u64::from(drive.channels) * u64::from(drive.dies);
    let block = units * drive.mapping_unit.0;
    let blocks = (drive.capacity.0 / block.max(1)).div_ceil(dies.max(1));
    if blocks == 0 || dies > 65_536 {
        let message = format!(
            "expected at least a block of {} B on each of {dies} dies, and at most 65536 dies",
            block
        );
        return Err(at.error("capacity", message));
    }
    if blocks.saturating_mul(dies) > MOST_BLOCKS {
        let message = format!(
            "these are more than {} million erase blocks: expected more pages_per_block, or less \
             capacity",
            MOST_BLOCKS / 1_000_000
        );
        return Err(at.error("pages_per_block", message));
    }
    // Counted as in the model: at least some are spare on each die.
    #[expect(clippy::cast_precision_loss, reason = "both are far below 2^52")]
    let (all, most) = ((blocks * dies) as f64, MOST_BLOCKS as f64);
    if all * drive.over_provisioning > most {
        let message = format!(
            "more than {} million erase blocks would be spare: expected at most {:.0}",
            MOST_BLOCKS / 1_000_000,
            most / all
        );
        return Err(at.error("over_provisioning", message));
    }
    // As the model deals pages out.
    let capacity = drive.capacity.0 / drive.mapping_unit.0 * drive.mapping_unit.0;
    let pages = capacity.max(1).div_ceil(drive.page.0).div_ceil(dies);
    enough_is_spare(pages.div_ceil(u64::from(drive.pages_per_block)), drive, at)
}

/// A die has the spare blocks that it needs: with fewer, more or
/// less of them would change nothing.
fn enough_is_spare(blocks: u64, drive: &SolidState, at: &Place<'_>) -> Result<(), Error> {
    #[expect(clippy::cast_precision_loss, reason = "both are far below 2^52")]
    let (of_data, least) = (blocks as f64, LEAST_SPARE_BLOCKS as f64);
    if of_data * drive.over_provisioning >= least {
        return Ok(());
    }
    let enough = (least / of_data * 1000.0).ceil() / 1000.0;
    let message = format!(
        "each die has {blocks} erase blocks for data, of which this leaves fewer than the \
         {LEAST_SPARE_BLOCKS} spare ones that a die needs: expected at least {enough}, a larger \
         capacity, or fewer pages_per_block"
    );
    Err(at.error("over_provisioning", message))
}
