//! Assumptions and omissions of an answer, in sentences.

use crate::answer::MethodUsed;
use crate::question::{
    Concurrency, Question, ReadErrorLoss, ReadErrorWithRedundancy, Redundancy, Scrub,
};
use crate::shape::Shape;

/// Sentences about the answer to a question by a method.
pub fn of(question: &Question, method: MethodUsed) -> Vec<String> {
    let mut said = Vec::new();
    let simulated = matches!(method, MethodUsed::MonteCarlo | MethodUsed::Splitting);
    let shape = Shape::of(question);
    let is_pool = matches!(question.redundancy, Redundancy::Declustered { .. });
    if !simulated {
        laws(question, &mut said);
        left_out(question, &mut said);
    }
    if method == MethodUsed::ClosedForm && shape.tolerates > 1 {
        said.push(
            "The rate of losses is taken as constant, 1 / MTTDL; repairs are short beside lifetimes."
                .to_owned(),
        );
    }
    if is_pool {
        pool(question, method, &mut said);
    } else if shape.tolerates > 0 {
        said.push(
            match question.repair.concurrency {
                Concurrency::Parallel => {
                    "Failed disks of a group are rebuilt in parallel, each at full rate."
                }
                Concurrency::Serial => "Failed disks of a group are rebuilt one after the other.",
            }
            .to_owned(),
        );
    }
    read_errors(question, simulated, &mut said);
    if simulated && question.repair.spares.is_some() {
        said.push(
            "A spare is ordered for each failure; a failed disk without a spare waits for the next."
                .to_owned(),
        );
    }
    if !question.domains.is_empty() && simulated {
        said.push("Outages do not delay rebuilds.".to_owned());
    }
    if shape.groups > 1 && question.domains.is_empty() {
        said.push(format!(
            "The system has {} groups that are alike; the loss of data in any counts.",
            shape.groups
        ));
    }
    said.push(
        "Not in the loss probability: operator errors, controller and software faults, silent \
         corruption, backups."
            .to_owned(),
    );
    said
}

fn laws(question: &Question, said: &mut Vec<String>) {
    if !crate::hazard::Hazard::new(&question.lifetime.law).is_constant() {
        said.push(
            "The lifetime law is replaced by an exponential one of equal mean; use Monte-Carlo for \
             the law itself."
                .to_owned(),
        );
    }
    if !question.repair.is_exponential() {
        said.push("Repair times are replaced by exponential ones of equal mean.".to_owned());
    }
}

fn left_out(question: &Question, said: &mut Vec<String>) {
    let parts = [
        ("batches", question.batches.is_some()),
        ("domains of common failure", !question.domains.is_empty()),
        ("planned replacement", question.replacement.is_some()),
        ("running out of spares", question.repair.spares.is_some()),
    ];
    let left: Vec<&str> = parts
        .iter()
        .filter(|(_, given)| *given)
        .map(|(name, _)| *name)
        .collect();
    if !left.is_empty() {
        said.push(format!(
            "Left out, because only Monte-Carlo has it: {}.",
            left.join(", ")
        ));
    }
}

fn pool(question: &Question, method: MethodUsed, said: &mut Vec<String>) {
    said.push(
        "Stripes are placed at random over the pool; those that lack most chunks are rebuilt first."
            .to_owned(),
    );
    if method == MethodUsed::Markov || method == MethodUsed::ClosedForm {
        said.push(
            "A state of the chain is the most chunks that a stripe lacks, with mean numbers of \
             stripes."
                .to_owned(),
        );
    } else {
        said.push("A new failure holds the rebuild until it is noticed.".to_owned());
    }
    if let Redundancy::Declustered { parity: 2.., .. } = question.redundancy {
        said.push(
            match question.repair.concurrency {
                Concurrency::Parallel => {
                    "One pass rebuilds all chunks that a stripe lacks, as fast as one chunk."
                }
                Concurrency::Serial => "The chunks that a stripe lacks are rebuilt one by one.",
            }
            .to_owned(),
        );
    }
    if let Redundancy::Declustered { spare_disks: 0, .. } = question.redundancy {
        said.push("Without spare space the rebuild waits for the new disk.".to_owned());
    }
}

fn read_errors(question: &Question, simulated: bool, said: &mut Vec<String>) {
    if question.disk.bit_error_rate == 0.0 && question.latent.is_none() {
        said.push(
            "Read errors are left out: neither a bit error rate nor latent errors were given."
                .to_owned(),
        );
        return;
    }
    said.push(
        match question.read_errors.loses {
            ReadErrorLoss::Stripe => {
                "A read error in a rebuild without redundancy left loses one stripe."
            }
            ReadErrorLoss::Array => {
                "A read error in a rebuild without redundancy left loses the whole array."
            }
        }
        .to_owned(),
    );
    said.push(
        match question.read_errors.with_redundancy {
            ReadErrorWithRedundancy::Corrected => {
                "A read error is corrected while redundancy is left."
            }
            ReadErrorWithRedundancy::Loss => {
                "A read error in any rebuild counts as a loss, even with redundancy left."
            }
        }
        .to_owned(),
    );
    if let Some(latent) = &question.latent {
        said.push("Latent errors that arise during a rebuild are left out.".to_owned());
        if latent.scrub == Scrub::None && !simulated {
            said.push(
                "Without scrubbing the probability of a latent error is its mean over the horizon."
                    .to_owned(),
            );
        }
    }
}
