//! `kind = "training"`: accelerators that learn from samples which loaders read.

use super::ior::SECTOR;
use super::{Access, InputOutput, Ior, Phase};
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes, Count, Seconds, choice};

/// The most processor time of one sample: it is counted in nanoseconds, in 32 bits.
const LONGEST_LOADING: f64 = 4.0;

choice! {
    /// Work that the loaders of an accelerator divide among them.
    pub enum Loading {
        /// Each loader makes a whole batch, as the workers of PyTorch's DataLoader do: it opens, reads
        /// and closes one file after the other.
        Batch = "batch",
        /// Each loader reads a file from beginning to end, and a batch has samples of all these
        /// files, as with tf.data.
        Sample = "sample",
    }
}

section! {
    /// Training of a model: each process is an accelerator. It takes a batch, computes, meets all
    /// other accelerators, and takes the next batch; its loaders read ahead. Source: DLIO 2.0.0
    /// (dlio_benchmark/main.py, data_loader), which MLPerf Storage runs. `clients.processes` is the
    /// number of accelerators of a client.
    pub struct Training {
        /// Number of files in the dataset, which all accelerators share.
        files: u32 as AtLeastOne = required(168) aka ["num_files_train", "file_count"],
        /// Bytes of a sample: the mean, where they differ by file.
        sample: Bytes = required("146600628 B") aka ["record_length", "record_length_bytes", "sample_size"],
        /// Standard deviation of the bytes of a sample, as DLIO counts it: the size is the product of
        /// two normally distributed lengths.
        sample_deviation: Bytes = default("0 B", "all samples have one size") aka ["record_length_stdev", "record_length_bytes_stdev"],
        /// Number of samples in each file.
        samples_per_file: u32 as AtLeastOne = default(1, "DLIO's num_samples_per_file") aka ["num_samples_per_file"],
        /// Bytes of one call that reads.
        transfer: Bytes = default("256 KiB", "DLIO's transfer_size, and the piece that numpy reads") aka ["transfer_size", "request"],
        /// Samples that an accelerator takes for one step.
        batch: u32 as AtLeastOne = required(7) aka ["batch_size"],
        /// Time for which an accelerator computes on a batch.
        computation: Seconds = required("0.323 s") aka ["computation_time", "compute"],
        /// Loader processes of each accelerator.
        loaders: u32 as AtLeastOne = default(4, "MLPerf Storage: reader.read_threads of unet3d") aka ["read_threads", "num_workers"],
        /// Work that the loaders of an accelerator divide among them.
        loading: Loading = default("batch", "PyTorch's DataLoader"),
        /// Batches that the loaders of an accelerator read ahead of it. With `loading = "batch"`
        /// each loader has at least one.
        prefetch: u32 as AtLeastOne = default(2, "DLIO's reader.prefetch_size") aka ["prefetch_size"],
        /// Processor time of a loader for each byte of a sample, besides reading it.
        time_per_byte: Seconds = default("0 s", "samples are not decoded") aka ["processor_time_per_byte"],
        /// Processor time of a loader for each sample.
        time_per_sample: Seconds = default("0 s", "samples are not decoded") aka ["processor_time_per_sample", "preprocess_time"],
        /// If true, the samples are read in another order in each epoch.
        shuffle: bool = default(true, "MLPerf Storage: file_shuffle and sample_shuffle are seed") aka ["file_shuffle"],
        /// Number of times the dataset is gone through.
        epochs: u32 as AtLeastOne = default(1, "one pass gives the figures") aka ["epoch_count"],
        /// The most steps of an epoch. 0 is as many as the samples give.
        steps: u32 as Count = default(0, "an epoch goes through the dataset") aka ["total_training_steps"],
        /// First steps of each epoch that the utilisation leaves out.
        skipped_steps: u32 as Count = default(1, "DLIO leaves out the first") aka ["metric_exclude_start_steps"],
        /// Bytes of a checkpoint, of which each accelerator writes an equal part to a file of its
        /// own. 0 is no checkpoint.
        checkpoint: Bytes = default("0 B", "no checkpoint is written") aka ["model_size", "checkpoint_size"],
        /// Steps from one checkpoint to the next. 0 is one at the end of each epoch.
        checkpoint_steps: u32 as Count = default(0, "DLIO's steps_between_checkpoints = -1") aka ["steps_between_checkpoints"],
        /// If true, each part of a checkpoint is brought to stable storage (fsync).
        checkpoint_sync: bool = default(true, "MLPerf Storage: checkpoint.fsync") aka ["checkpoint_fsync"],
    }
    check accelerators_have_work;
}

fn accelerators_have_work(
    training: &Training,
    all: &Scenario,
    at: &Place<'_>,
) -> Result<(), Error> {
    for (field, size) in [("sample", training.sample), ("transfer", training.transfer)] {
        if size.0 == 0 {
            let message = r#"expected a size of more than 0 such as "1 MiB""#;
            return Err(at.error(field, message));
        }
    }
    if training.sample_deviation.0 > training.sample.0 {
        let message = format!("expected at most the mean, \"{}\"", training.sample);
        return Err(at.error("sample_deviation", message));
    }
    if training.file_size().is_none() {
        return Err(at.error("samples_per_file", "a file would have more than 16 EiB"));
    }
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    let of_bytes = training.time_per_byte.0 * training.sample.0 as f64;
    if of_bytes + training.time_per_sample.0 > LONGEST_LOADING {
        let field = match of_bytes > training.time_per_sample.0 {
            true => "time_per_byte",
            false => "time_per_sample",
        };
        let message =
            format!("expected at most {LONGEST_LOADING} s of processor time for a sample");
        return Err(at.error(field, message));
    }
    let accelerators = all.clients.count.saturating_mul(all.clients.processes);
    if training.steps_of_an_epoch(accelerators) == 0 {
        let each = match training.loading {
            Loading::Batch => "",
            Loading::Sample => ", each of which reads files of its own",
        };
        let message = format!(
            "{} samples are too few for one step of {accelerators} accelerators with batches of \
             {}{each}: expected more files",
            training.samples(),
            training.batch
        );
        return Err(at.error("files", message));
    }
    Ok(())
}

impl Training {
    /// Rejects direct reads that do not go by sectors.
    pub(super) fn suits(&self, io: &InputOutput, at: &Place<'_>) -> Result<(), Error> {
        let sizes = [("sample", self.sample), ("transfer", self.transfer)];
        let by_sectors = |size: Bytes| size.0.is_multiple_of(SECTOR);
        let unaligned = sizes.into_iter().find(|(_, size)| !by_sectors(*size));
        let varied = Some("sample_deviation").filter(|_| self.sample_deviation.0 > 0);
        match unaligned.map(|(field, _)| field).or(varied) {
            Some(field) if io.direct => {
                let message = format!(
                    "direct reads go by sectors: expected a multiple of {SECTOR} B for all samples \
                     with {} = true",
                    at.field("io").field("direct").path
                );
                Err(at.error(field, message))
            }
            _ => Ok(()),
        }
    }

    /// Number of samples in the dataset.
    #[must_use]
    pub fn samples(&self) -> u64 {
        u64::from(self.files) * u64::from(self.samples_per_file)
    }

    /// Bytes of a file of samples of the mean size; none if they have no number.
    #[must_use]
    pub fn file_size(&self) -> Option<u64> {
        self.sample.0.checked_mul(self.samples_per_file.into())
    }

    /// Bytes of the dataset, with samples of the mean size.
    #[must_use]
    pub fn dataset_bytes(&self) -> u64 {
        self.sample.0.saturating_mul(self.samples())
    }

    /// Steps of an epoch for a number of accelerators.
    #[must_use]
    pub fn steps_of_an_epoch(&self, accelerators: u32) -> u64 {
        let (number, batch) = (u64::from(accelerators.max(1)), u64::from(self.batch));
        let steps = match self.loading {
            Loading::Batch => self.samples() / (number * batch),
            // An accelerator has files of its own.
            Loading::Sample => {
                u64::from(self.files) / number * u64::from(self.samples_per_file) / batch
            }
        };
        match self.steps {
            0 => steps,
            most => steps.min(most.into()),
        }
    }

    /// The reads of the dataset as a pattern of the IOR benchmark, with requests as large.
    #[must_use]
    pub fn pattern(&self) -> Ior {
        let size = Bytes(self.file_size().unwrap_or(u64::MAX));
        Ior {
            access: Access::Shared,
            ..Ior::in_order(
                self.files,
                size,
                Bytes(self.transfer.0.min(size.0)),
                vec![Phase::Read],
            )
        }
    }
}
