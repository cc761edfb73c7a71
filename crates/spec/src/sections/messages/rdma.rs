//! `kind = "rdma"`: servers read and write the clients' memory.

use super::suits_data_in_parts;
use crate::Error;
use crate::declare::{Place, section};
use crate::sections::Scenario;
use crate::values::{AtLeastOne, Bytes};

section! {
    /// The client asks, and the server moves the data. It writes read data into the client's memory
    /// (RDMA Write), and reads written data from there (RDMA Read). The client's card does its part
    /// without the client's processor. Then the server answers. Small jobs carry their data inline,
    /// as with `whole`. So does bulk data of Lustre (LNet, o2iblnd) and of NFS (RFC 8166).
    pub struct Rdma {
        /// The largest message that carries data inline, `network.message` included.
        inline_limit: Bytes = default("1024 B", "RFC 8166, section 3.3.2: the default inline threshold")
            aka ["inline", "inline_threshold", "eager_limit"],
        /// Most bytes of one RDMA operation. The data of a large job reaches the server's file
        /// system in such parts.
        buffer: Bytes = default("1 MiB", "Lustre, lnet/include/uapi/linux/lnet/lnet-types.h: LNET_MTU")
            aka ["operation", "buffer_size"],
        /// RDMA operations of a job in progress at a time, each from its start until the server's
        /// file system has its data.
        buffers: u32 as AtLeastOne = default(8, "Lustre, o2iblnd: peer_credits, messages to a peer at a time")
            aka ["operations"],
        /// Size of an RDMA Read's request.
        read_request: Bytes = default("16 B", "the RDMA extended transport header: Linux, drivers/infiniband/sw/rxe/rxe_hdr.h, struct rxe_reth; InfiniBand Architecture Specification volume 1, chapter 9, Transport Layer"),
    }
    check suits_the_rest;
}

fn suits_the_rest(messages: &Rdma, all: &Scenario, at: &Place<'_>) -> Result<(), Error> {
    suits_data_in_parts(messages.buffer, all, at)
}
