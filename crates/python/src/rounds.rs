//! Messages about rounds of operations that processes on several hosts execute together, as Python
//! sends them from host to host.

use headrace_net::{Span, Time};
use headrace_spec::MixedOperation;
use headrace_workload::{RoundKeeper, RoundMessage};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A message: its kind, the operation's number or the round's, and a time in picoseconds.
pub type Message = (u8, u64, Option<u64>);

/// Sender and message.
pub type RoundReaction = (u32, Message);

const BEGINS: u8 = 0;
const ALL_HERE: u8 = 1;
const FINISHED: u8 = 2;

/// A message as it is sent.
pub fn sent(message: RoundMessage) -> Message {
    match message {
        RoundMessage::Begins { call, after } => {
            let number = MixedOperation::ALL.iter().position(|it| *it == call);
            (BEGINS, number.unwrap_or(0) as u64, Some(after.0))
        }
        RoundMessage::AllHere { round, intended } => (ALL_HERE, round, intended.map(|it| it.0)),
        RoundMessage::Finished => (FINISHED, 0, None),
    }
}

/// A message that was sent.
///
/// # Errors
/// If it is none.
pub fn received((kind, number, time): Message) -> PyResult<RoundMessage> {
    let call = usize::try_from(number).ok();
    let call = call.and_then(|number| MixedOperation::ALL.get(number));
    match (kind, call) {
        (BEGINS, Some(&call)) => {
            let after = Span(time.unwrap_or(0));
            Ok(RoundMessage::Begins { call, after })
        }
        (ALL_HERE, _) => Ok(RoundMessage::AllHere {
            round: number,
            intended: time.map(Time),
        }),
        (FINISHED, _) => Ok(RoundMessage::Finished),
        _ => Err(PyValueError::new_err(format!(
            "unknown round message {kind}: expected the same version of headrace on all hosts"
        ))),
    }
}

/// Attendance of the rounds of a workload.
#[pyclass(module = "headrace._core", name = "RoundKeeper")]
pub struct PyRoundKeeper {
    keeper: RoundKeeper,
}

#[pymethods]
impl PyRoundKeeper {
    /// Keeps the rounds of a workload that has processes on `hosts` hosts.
    #[new]
    fn new(hosts: usize) -> PyRoundKeeper {
        let keeper = RoundKeeper::new(hosts);
        PyRoundKeeper { keeper }
    }

    /// Handle a message of one host and return the messages for all hosts, in order.
    fn hear(&mut self, by: u32, message: Message) -> PyResult<Vec<RoundReaction>> {
        let told = self.keeper.hear(by, received(message)?).into_iter();
        Ok(told.map(|it| (it.by, sent(it.message))).collect())
    }
}
