//! `[replication.code]`: an erasure code in place of copies.

use crate::Error;
use crate::declare::{Place, kinds, section};
use crate::sections::{Parallel, ReplicatedBy, Replication};
use crate::values::{AtLeastOne, Bytes, Rate, choice};

/// The most pieces of a stripe: the number of values of a byte.
const MOST_PIECES: u32 = 256;

kinds! {
    /// Erasure codes of stripes.
    pub enum Code default "none", "copies are what most systems begin with" {
        NoCode = "none",
        ReedSolomon = "reed-solomon",
    }
}

choice! {
    /// Part of a stripe that a request accesses at least.
    pub enum StripeAccess {
        /// The pieces that it touches. A partial write reads what the new parity needs: the old data
        /// and parity, or the rest of the stripe, whichever are fewer pieces.
        Pieces = "pieces",
        /// All data pieces, whole. A partial write reads them, and writes all pieces with parity:
        /// Ceph before its pools had allow_ec_optimizations, and GlusterFS' dispersed volumes.
        Stripes = "stripes",
    }
}

section! {
    /// No code: files are stored as they are, in `copies`.
    pub struct NoCode {}
}

section! {
    /// Stripes of `data` pieces and `parity` pieces, each on a server of its own; any `data` of them
    /// give the stripe back. `replication.by` says who encodes, and `replication.sets` where the
    /// pieces are.
    pub struct ReedSolomon {
        /// Data pieces of a stripe.
        data: u32 as AtLeastOne = default(2, "k=2 of the default profile: Ceph documentation, Erasure code") aka ["k", "data_pieces"],
        /// Parity pieces of a stripe: failed servers that lose no data.
        parity: u32 as AtLeastOne = default(2, "m=2 of the default profile: Ceph documentation, Erasure code") aka ["m", "parity_pieces"],
        /// Size of a piece.
        unit: Bytes = default("4 KiB", "osd_pool_erasure_code_stripe_unit: Ceph documentation, Erasure code profiles") aka ["stripe_unit", "cell", "cell_size", "chunk_size", "piece"],
        /// Part of a stripe that a request accesses at least.
        access: StripeAccess = default("pieces", "as DAOS, and Ceph with allow_ec_optimizations") aka ["reads"],
        /// Bytes per second that a core encodes or decodes: those that enter the computation.
        rate: Option<Rate> = optional("the computation takes no time: measure it, for example with erasure_code_perf of ISA-L") aka ["encode_rate"],
    }
}

impl Replication {
    /// The code, if there is one.
    #[must_use]
    pub fn reed_solomon(&self) -> Option<&ReedSolomon> {
        match &self.code {
            Code::NoCode(_) => None,
            Code::ReedSolomon(code) => Some(code),
        }
    }

    /// Servers that hold a part of the same data: those of all copies, or of all pieces.
    #[must_use]
    pub fn pieces(&self) -> u32 {
        let code = self.reed_solomon();
        code.map_or(self.copies, |it| it.data.saturating_add(it.parity))
    }

    /// Failed servers among these that lose no data.
    #[must_use]
    pub fn spare(&self) -> u32 {
        let code = self.reed_solomon();
        code.map_or(self.copies.saturating_sub(1), |it| it.parity)
    }
}

/// Rejects codes that the servers and the rest of the section do not bear.
pub(super) fn fits(
    replication: &Replication,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    let Some(code) = replication.reed_solomon() else {
        return Ok(());
    };
    let at_code = at.field("code");
    let (pieces, servers) = (replication.pieces(), parallel.servers.count);
    if pieces > servers {
        let message = format!(
            "{} + {} pieces need as many servers, and servers.count = {servers}: expected a \
             narrower code, or at least {pieces} servers",
            code.data, code.parity
        );
        return Err(at_code.error("data", message));
    }
    if pieces > MOST_PIECES {
        let message = format!("a stripe has at most {MOST_PIECES} pieces: these are {pieces}");
        return Err(at_code.error("data", message));
    }
    if code.unit.0 == 0 {
        let message = r#"expected a size of more than 0 such as "64 KiB""#;
        return Err(at_code.error("unit", message));
    }
    if parallel
        .block()
        .is_some_and(|block| block.0 < u64::from(code.data))
    {
        let message = "a block has no byte for each data piece: expected a larger layout.unit";
        return Err(at_code.error("data", message));
    }
    if replication.copies > 1 {
        let message = format!(
            "copies of pieces are not modelled: expected copies = 1 with a code, or code = {{ kind \
             = \"none\" }} with {} copies",
            replication.copies
        );
        return Err(at.error("copies", message));
    }
    if replication.by == ReplicatedBy::Chain {
        let message = "a chain passes whole copies on: expected \"client\" or \"primary\"";
        return Err(at.error("by", message));
    }
    Ok(())
}
