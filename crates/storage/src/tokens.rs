//! The colours: what moves through the models.

use headrace_net::Time;
use headrace_spec::IoPriority;
use headrace_trace::{Flags, Operation};

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

/// Request of a process to its client: one operation on one file.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Requesting process.
    pub process: Process,
    /// The file.
    pub file: u32,
    /// The first byte.
    pub offset: u64,
    /// Bytes to read or write, 0 for an operation that moves none.
    pub size: u64,
    /// Time when the process meant to ask: earlier than `issued` if a timed trace found the process
    /// still busy.
    pub intended: Time,
    /// Time when it asked.
    pub issued: Time,
    /// The workload's phase, counted from 0.
    pub phase: u32,
    /// Jobs that are still out, and when none is the last server's number plus 1; see
    /// [`Request::has_failed`].
    pub pending: u32,
    /// Processor time of the process's own before it, in nanoseconds.
    pub compute: u32,
    /// The client's group.
    pub group: u8,
    /// The volume of its machine that the file lies on.
    pub volume: u8,
    /// How it is made.
    pub mode: CallMode,
    /// Operation.
    pub operation: Operation,
}

/// How a request is made, besides the open flags of its workload's files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CallMode(u8);

impl CallMode {
    /// As its workload's files were opened.
    pub const PLAIN: CallMode = CallMode(0);
    /// A read or write that bypasses the page cache (O_DIRECT).
    const DIRECT: CallMode = CallMode(1);
    /// A write that returns when the device has it (O_SYNC).
    pub const SYNCHRONOUS: CallMode = CallMode(1 << 1);
    /// A sync or synchronous write that leaves out metadata that reading the data does not need
    /// (fdatasync, O_DSYNC).
    const DATA_ONLY: CallMode = CallMode(1 << 2);
    /// It takes processor time and nothing else; the operation is ignored.
    pub const COMPUTATION: CallMode = CallMode(1 << 3);

    /// The mode of a read, write or sync with these flags of its own.
    pub fn of(flags: Flags) -> CallMode {
        let modes = [
            (Flags::DIRECT, CallMode::DIRECT),
            (Flags::SYNCHRONOUS, CallMode::SYNCHRONOUS),
            (Flags::DATA_ONLY, CallMode::DATA_ONLY),
        ];
        let set = modes.into_iter().filter(|&(flag, _)| flags.has(flag));
        CallMode(set.fold(0, |bits, (_, mode)| bits | mode.0))
    }

    fn has(self, mode: CallMode) -> bool {
        self.0 & mode.0 != 0
    }

    /// Returns true if it bypasses the page cache.
    pub fn is_direct(self) -> bool {
        self.has(CallMode::DIRECT)
    }

    /// Returns true if it returns when the device has its data.
    pub fn is_synchronous(self) -> bool {
        self.has(CallMode::SYNCHRONOUS)
    }

    /// Returns true if it leaves out metadata that reading the data does not need.
    pub fn is_data_only(self) -> bool {
        self.has(CallMode::DATA_ONLY)
    }
}

/// The bit of [`Request::pending`] that says that a job has failed: there are never so
/// many jobs.
const FAILED: u32 = 1 << 31;

impl Request {
    /// Returns true if it takes processor time and nothing else.
    pub fn only_computes(&self) -> bool {
        self.mode == CallMode::COMPUTATION
    }

    /// A job is back; gives whether it was the last. Its server is then known
    /// ([`Request::last_server`]).
    pub fn job_is_back(&mut self, job: &Job) -> bool {
        self.pending -= 1;
        if job.message == Message::Failed {
            self.pending |= FAILED;
        }
        let last = self.pending & !FAILED == 0;
        if last {
            self.pending |= job.server + 1;
        }
        last
    }

    /// The server that answered last, of a request that is done; none if no data server did, or
    /// a cache stood between.
    pub fn last_server(&self) -> Option<u32> {
        (self.pending & !FAILED).checked_sub(1)
    }

    /// The request has failed.
    pub fn fail(&mut self) {
        self.pending |= FAILED;
    }

    /// Returns true if any of its jobs has failed.
    pub fn has_failed(&self) -> bool {
        self.pending & FAILED != 0
    }
}

/// An object of a file: its part on a target, or one of several there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ObjectId {
    /// The target, of all servers.
    pub target: u32,
    /// Its number among the file's objects on that target.
    pub index: u32,
}

/// A part of a file under one lock or for one: bytes of an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    /// The file.
    pub file: u32,
    /// The object.
    pub object: ObjectId,
    /// The first byte.
    pub start: u64,
    /// The byte after the last.
    pub end: u64,
}

/// A lock that a client releases: its cached data has to go to the servers first.
#[derive(Clone, Copy, Debug)]
pub struct ReleasedLock {
    /// The client's number of it.
    pub number: u32,
    /// Extent that it covers.
    pub extent: Extent,
}

/// Direction of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the client to a server.
    Out,
    /// Back to the client.
    Back,
    /// From a server to the one with the next copy of a file's data; the sender stands
    /// as its client.
    ToNextCopy,
    /// Back from the one with the next copy.
    FromNextCopy,
}

impl Direction {
    /// Returns true if it is from a server to a server.
    pub fn between_servers(self) -> bool {
        matches!(self, Direction::ToNextCopy | Direction::FromNextCopy)
    }

    /// Returns true if it is a server's answer.
    pub fn answers(self) -> bool {
        matches!(self, Direction::Back | Direction::FromNextCopy)
    }
}

/// Kind of server that a job addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A data server.
    Data,
    /// A metadata server.
    Metadata,
}

/// Message of a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// The only one in its direction: with the data, if there is any.
    Whole,
    /// A read or write.
    Request,
    /// The server is ready for the data, or to send it.
    Ready,
    /// A part of the data.
    Data,
    /// There is room for one more part.
    Room,
    /// All has been written; by RDMA, or read.
    Done,
    /// A server's card asks a client's for a part of the data (RDMA Read).
    RdmaRead,
    /// A part of the data, from memory to memory.
    RdmaData,
    /// True if the server is there.
    Ping,
    /// The client has given the job up.
    Failed,
    /// The server with a piece of a stripe has failed, and others give the piece back.
    Lost,
    /// Data that a server lost, as one server sends it to another.
    Repair,
    /// A client asks for a lock on bytes from `offset` on.
    Enqueue,
    /// It has the lock.
    Granted,
    /// Another client needs a lock that conflicts with a client's.
    Blocking,
    /// A client gives a lock up.
    Cancel,
}

impl Message {
    /// Returns true if it is about a lock and no part of a job.
    pub fn is_about_locks(self) -> bool {
        use Message::{Blocking, Cancel, Enqueue, Granted};
        matches!(self, Enqueue | Granted | Blocking | Cancel)
    }

    /// Returns true if a client's card sends or receives it without the processor.
    pub fn is_remote_access(self) -> bool {
        matches!(self, Message::RdmaRead | Message::RdmaData)
    }

    /// Returns true if it is a part of a client's job.
    pub fn is_job(self) -> bool {
        !self.is_about_locks() && self != Message::Ping
    }
}

/// A part of a request: what one server is asked, as one message each way.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    /// The request's slot in its client.
    pub request: u32,
    /// The client; of a message between servers, the one that has the copy before.
    pub client: u32,
    /// The server, numbered within its role.
    pub server: u32,
    /// The target of that server.
    pub target: u16,
    /// The file.
    pub file: u32,
    /// The first byte, within the part of the file that the server holds.
    pub offset: u64,
    /// Bytes to read or write.
    pub size: u64,
    /// Bytes of the current message, headers included.
    pub wire: u64,
    /// Time when the last bit of the message reaches the receiving host's link at the earliest.
    pub tail: Time,
    /// Device transfers that are still out; of a message to the server with the next
    /// copy, the client; of one about a lock, [`ObjectId::index`].
    pub pending: u32,
    /// The workload that it is a part of.
    pub workload: u16,
    /// The client's group.
    pub group: u8,
    /// Operation.
    pub operation: Operation,
    /// Direction.
    pub direction: Direction,
    /// Kind of server that it addresses.
    pub role: Role,
    /// Message of the job.
    pub message: Message,
    /// It has arrived, and its receiver's processor has still to take it.
    pub received: bool,
    /// A write that is answered when the device has it.
    pub synchronous: bool,
    /// Its turn among the client's messages to the server: it chooses connection and port.
    pub turn: u8,
}

impl Job {
    /// A client's job for server 0, of no bytes, as one message each way.
    pub fn new(request: u32, client: u32, file: u32, operation: Operation, role: Role) -> Job {
        Job {
            request,
            client,
            server: 0,
            target: 0,
            file,
            offset: 0,
            size: 0,
            wire: 0,
            tail: Time::ZERO,
            pending: 0,
            workload: 0,
            group: 0,
            operation,
            direction: Direction::Out,
            role,
            message: Message::Whole,
            received: false,
            synchronous: false,
            turn: 0,
        }
    }

    /// Returns true if it moves a file's bytes, or stores them: on the metadata server too, if some
    /// lie there.
    pub fn is_for_data(&self) -> bool {
        self.role == Role::Data
            || matches!(
                self.operation,
                Operation::Read | Operation::Write | Operation::Sync
            )
    }

    /// Bytes of file data in the current message.
    pub fn payload(&self) -> u64 {
        if !matches!(
            self.message,
            Message::Whole | Message::Data | Message::RdmaData | Message::Repair
        ) {
            return 0;
        }
        match (self.operation, self.direction) {
            (Operation::Write, Direction::Out | Direction::ToNextCopy)
            | (Operation::Read, Direction::Back | Direction::FromNextCopy)
            // The answer to an open has the data that lies on the metadata server.
            | (Operation::Open, Direction::Back) => self.size,
            _ => 0,
        }
    }
}

/// Content of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Bytes of files.
    #[default]
    Data,
    /// A part of the file system's own structures (REQ_META).
    Metadata,
}

/// Request to a block device: read or write contiguous bytes, or, as [`Operation::Sync`], flush the
/// write cache to the medium.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// The slot of what waits for it in the page that asked; none if nothing
    /// does.
    pub owner: Option<u32>,
    /// The process it is made for: schedulers may keep a queue for each; on its way
    /// between partners, the server that it goes to.
    pub process: u32,
    /// The file.
    pub file: u32,
    /// The first byte, within the part of the file that lies on this device.
    pub offset: u64,
    /// The first byte on the device.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Number of 4 KiB blocks of a write that the file system has just allocated. Delayed writes of
    /// a controller's cache have lost it. For a read, the number of its destination's 4 KiB pages
    /// of memory that have never been used. Data in such a cache takes no longer for it.
    pub first_used: u32,
    /// [`Operation::Read`], [`Operation::Write`] or [`Operation::Sync`].
    pub operation: Operation,
    /// A call waits for it: "synchronous" reads and writes in the words of
    /// Linux's block layer (REQ_SYNC).
    pub synchronous: bool,
    /// Its priority, for schedulers that go by it.
    pub priority: IoPriority,
    /// A write that is done only when the medium has it (REQ_FUA).
    pub forced: bool,
    /// Content.
    pub content: Content,
    /// It went along in another transfer, which is done.
    pub absorbed: bool,
    /// The disk of an array it is for; on its way to one of a server's targets, which of them; over
    /// a network, its message.
    pub member: u16,
    /// On a member of an array, the slot of the array's transfer that it is a part of; over a
    /// network, the client.
    pub part_of: u32,
}

impl Transfer {
    /// Creates a background call without a file.
    pub fn new(operation: Operation, address: u64, size: u64) -> Transfer {
        Transfer {
            owner: None,
            process: 0,
            file: 0,
            offset: 0,
            address,
            size,
            first_used: 0,
            operation,
            synchronous: false,
            priority: IoPriority::default(),
            forced: false,
            content: Content::Data,
            absorbed: false,
            member: 0,
            part_of: 0,
        }
    }

    /// The byte after the last, on the device.
    pub fn end(&self) -> u64 {
        self.address + self.size
    }
}
