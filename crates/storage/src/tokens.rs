//! The colours: what moves through the models.

use headrace_net::Time;
use headrace_trace::Operation;

/// A process of the application, between two requests.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    /// The client it runs on.
    pub client: u32,
    /// The workload it belongs to.
    pub workload: u32,
    /// Its rank within the workload.
    pub rank: u32,
}

/// What a process asks of its client: one operation on one file.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Who asks.
    pub process: Process,
    /// The file.
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// Bytes to read or write, 0 for an operation that moves none.
    pub size: u64,
    /// When the process meant to ask: earlier than `issued` if a timed trace
    /// found the process still busy.
    pub intended: Time,
    /// When it asked.
    pub issued: Time,
    /// The workload's phase, counted from 0.
    pub phase: u32,
    /// Jobs that are still out.
    pub pending: u32,
    /// The client's group.
    pub group: u8,
    /// What is asked.
    pub operation: Operation,
}

/// Which way a job travels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the client to a server.
    Out,
    /// Back to the client.
    Back,
}

/// Which kind of server a job is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A data server.
    Data,
    /// A metadata server.
    Metadata,
}

/// A part of a request: what one server is asked, as one message each way.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The request's slot in its client.
    pub request: u32,
    /// The client.
    pub client: u32,
    /// The server, numbered within its role.
    pub server: u32,
    /// The file.
    pub file: u32,
    /// The first byte, within the part of the file that the server holds.
    pub offset: u64,
    /// Bytes to read or write.
    pub size: u64,
    /// Bytes of the message under way, headers and all.
    pub wire: u64,
    /// When the last bit of the message reaches the receiving host's link at
    /// the earliest.
    pub tail: Time,
    /// Device transfers that are still out.
    pub pending: u32,
    /// The client's group.
    pub group: u8,
    /// What is asked.
    pub operation: Operation,
    /// Which way it travels.
    pub direction: Direction,
    /// Which kind of server it is for.
    pub role: Role,
}

impl Job {
    /// Bytes of file data in the message under way.
    pub fn payload(&self) -> u64 {
        match (self.operation, self.direction) {
            (Operation::Write, Direction::Out) | (Operation::Read, Direction::Back) => self.size,
            _ => 0,
        }
    }
}

/// What a device is asked: to read or write contiguous bytes.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The slot of the job that waits for it; none for write-back that nobody
    /// waits for.
    pub job: Option<u32>,
    /// The file.
    pub file: u32,
    /// The first byte, within the part of the file that the server holds.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// [`Operation::Read`] or [`Operation::Write`].
    pub operation: Operation,
}
