//! Hosts without a card in their page: where the network is modelled as a whole,
//! or the link belongs to the other host.

use headrace_net::Page;

use super::{ClientAttachment, ServerAttachment};

pub(super) fn client(page: &mut Page<'_>) -> ClientAttachment {
    let to_servers = page.output("to servers");
    let to_metadata = page.output("to metadata");
    let from_servers = page.input("from servers");
    let from_metadata = page.input("from metadata");
    let received = page.place("received");
    page.connect(from_servers, received);
    page.connect(from_metadata, received);
    ClientAttachment {
        send: to_servers.into(),
        ask: to_metadata.into(),
        received,
        to_servers,
        to_metadata,
        from_servers,
        from_metadata,
        detour: None,
    }
}

pub(super) fn server(page: &mut Page<'_>) -> ServerAttachment {
    let sent = page.output("sent");
    let receive = page.input("receive");
    let received = page.place("received");
    page.connect(receive, received);
    ServerAttachment {
        send: sent.into(),
        received,
        sent,
        receive,
    }
}
