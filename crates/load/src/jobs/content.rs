//! Content of what jobs write, and its comparison with what they read.

use crate::jobs::job::JobContent;
use crate::jobs::layout::stamp;
use crate::operation::Content;

/// Key of contents that depend on file and offset: the same for all jobs, so that one verifies what
/// another has written.
const KEY: u64 = 0x0068_7261_6365;

/// Content of blocks.
#[derive(Clone, Debug)]
pub enum BlockContent {
    /// Incompressible, and no two blocks are alike.
    Stamped,
    /// By file and offset, as far as it compresses or repeats, or is compared.
    OfPlace(Content),
    /// The same bytes repeatedly, from the first byte of the file on.
    Pattern(Vec<u8>),
}

impl BlockContent {
    /// The content of a job.
    pub fn new(content: &JobContent) -> BlockContent {
        if !content.pattern.is_empty() {
            return BlockContent::Pattern(content.pattern.clone());
        }
        let verify = content.verify || content.read_back || content.by_place;
        if verify || content.compressible > 0.0 || content.duplicates > 0.0 {
            let (compressible, duplicates) = (content.compressible, content.duplicates);
            return BlockContent::OfPlace(Content::of_shares(
                KEY,
                compressible,
                duplicates,
                verify,
            ));
        }
        BlockContent::Stamped
    }

    /// Fills a block that is about to be written; `number` is to differ from write to write.
    pub fn fill(&self, file: u32, offset: u64, block: &mut [u8], number: u64) {
        match self {
            BlockContent::Stamped => stamp(block, number),
            BlockContent::OfPlace(content) => content.fill(file, offset, block),
            BlockContent::Pattern(pattern) => {
                let first = (offset % pattern.len() as u64) as usize;
                let bytes = pattern.iter().cycle().skip(first);
                for (place, byte) in block.iter_mut().zip(bytes) {
                    *place = *byte;
                }
            }
        }
    }

    /// Compares what was read.
    ///
    /// # Errors
    /// The first byte that is another.
    pub fn check(&self, file: u32, offset: u64, block: &[u8]) -> Result<(), String> {
        match self {
            BlockContent::Stamped => Ok(()),
            BlockContent::OfPlace(content) => content.check(file, offset, block),
            BlockContent::Pattern(pattern) => {
                let first = (offset % pattern.len() as u64) as usize;
                let expected = pattern.iter().cycle().skip(first);
                let wrong = block.iter().zip(expected).enumerate();
                match wrong.into_iter().find(|(_, (byte, other))| byte != other) {
                    None => Ok(()),
                    Some((place, (byte, other))) => Err(format!(
                        "byte {} is {byte:#04x}, and {other:#04x} was written",
                        offset + place as u64,
                    )),
                }
            }
        }
    }
}
