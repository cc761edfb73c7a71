//! `kind = "pipeline"`: a program that reads, computes and writes.

use super::{Ior, Phase};
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::{Scenario, volume_exists};
use crate::values::{AtLeastOne, Bytes, Seconds, choice};

/// The most processor time of one request: it is counted in nanoseconds, in 32
/// bits.
const LONGEST_COMPUTATION: f64 = 4.0;

choice! {
    /// Threads of a pipeline's stages.
    pub enum Threads {
        /// One thread: it reads a buffer, computes, writes it, and reads the next.
        One = "one",
        /// A thread for each stage, with a ring of buffers between them.
        Separate = "separate",
    }
}

section! {
    /// Each process reads its own file from beginning to end, computes, and writes another file,
    /// like a filter, a converter or a copy. Sources: the seqprocessor of Hindman 2011, section 5.4
    /// and
    /// appendix E. On a machine with a local file system its processor time contends for the cores;
    /// elsewhere it passes.
    pub struct Pipeline {
        /// Bytes of the file that is read.
        input: Bytes = required("1 GiB") aka ["input_size", "file_size", "size"],
        /// Bytes of the file that is written: every buffer read becomes as large
        /// a part of it.
        output: Bytes = same(input) aka ["output_size"],
        /// Bytes of one call that reads, and with `threads = "separate"` of one
        /// buffer. `"1 B"` with `io.interface = "library"` is fgetc and fputc:
        /// a buffer is then what the C library gathers.
        request: Bytes = required("1 MiB") aka ["request_size", "buffer_size", "transfer"],
        /// Processor time for each byte read, besides reading and writing it.
        compute_per_byte: Seconds = default("0 s", "nothing is done with the data"),
        /// Processor time for each call, or each bufferful of the C library.
        compute_per_request: Seconds = default("0 s", "nothing is done with the data"),
        /// One thread for all stages in turn, or one for each stage.
        threads: Threads = default("one", "a plain loop of read and write"),
        /// Buffers in the ring between the threads. A thread waits while the next buffer is not yet
        /// empty or not yet full. A buffer is held during the call that fills or empties it.
        buffers: u32 as AtLeastOne = default(8, "seqprocessor 3's default: Hindman 2011, appendix E"),
        /// If true, the file written is brought to stable storage at the end (fsync).
        sync: bool = default(false, "closing a file does not") aka ["fsync"],
        /// If true, it writes over the file that it reads, as bonnie++'s rewrite does.
        in_place: bool = default(false, "programs write another file"),
        /// The machine's volume that the file written lies on, by its name.
        output_volume: Option<String> = optional("it lies where the file read does"),
    }
    check stages_have_work;
}

fn stages_have_work(pipeline: &Pipeline, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    for (field, size) in [
        ("input", pipeline.input),
        ("output", pipeline.output),
        ("request", pipeline.request),
    ] {
        if size.0 == 0 {
            let message = r#"expected a size of more than 0 such as "1 MiB""#;
            return Err(at.error(field, message));
        }
    }
    if pipeline.in_place && pipeline.output != pipeline.input {
        let message = "a file that is written over stays as large: leave it out";
        return Err(at.error("output", message));
    }
    if pipeline.in_place && pipeline.output_volume.is_some() {
        let message = "with in_place = true the file lies where it is read: leave it out";
        return Err(at.error("output_volume", message));
    }
    volume_exists(pipeline.output_volume.as_ref(), "output_volume", all, at)?;
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let of_bytes = pipeline.compute_per_byte.0 * pipeline.request.0.min(pipeline.input.0) as f64;
    if of_bytes > LONGEST_COMPUTATION {
        let message = format!("expected at most {LONGEST_COMPUTATION} s for a request's bytes");
        return Err(at.error("compute_per_byte", message));
    }
    if pipeline.compute_per_request.0 + of_bytes > LONGEST_COMPUTATION {
        let message = format!("expected at most {LONGEST_COMPUTATION} s");
        return Err(at.error("compute_per_request", message));
    }
    Ok(())
}

impl Pipeline {
    /// The reads and writes of a process as a pattern of the IOR benchmark, which
    /// makes as many requests as large.
    #[must_use]
    pub fn pattern(&self) -> Ior {
        Ior::in_order(
            2,
            Bytes(self.input.0.max(self.output.0)),
            Bytes(self.request.0.max(self.largest_write())),
            vec![Phase::Read, Phase::Write],
        )
    }

    /// Bytes of the largest request that writes, if none are gathered.
    fn largest_write(&self) -> u64 {
        self.output
            .0
            .div_ceil(self.input.0.div_ceil(self.request.0).max(1))
    }
}
