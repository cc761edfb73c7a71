//! The hosts at the other side of a network that is modelled as a whole.

use headrace_net::To;

use crate::tokens::{Direction, Job, Role};

/// Destination hosts of messages.
#[derive(Clone, Copy)]
pub(super) struct Destinations {
    pub servers: To<Job>,
    pub metadata: To<Job>,
    pub from_servers: To<Job>,
    pub from_metadata: To<Job>,
}

impl Destinations {
    pub fn all(self) -> [To<Job>; 4] {
        let Destinations {
            servers,
            metadata,
            from_servers,
            from_metadata,
        } = self;
        [servers, metadata, from_servers, from_metadata]
    }

    pub fn of(self, job: &Job) -> To<Job> {
        match (job.direction, job.role) {
            (Direction::ToNextCopy | Direction::FromNextCopy, _) | (Direction::Out, Role::Data) => {
                self.servers
            }
            (Direction::Out, Role::Metadata) => self.metadata,
            (Direction::Back, Role::Data) => self.from_servers,
            (Direction::Back, Role::Metadata) => self.from_metadata,
        }
    }
}
