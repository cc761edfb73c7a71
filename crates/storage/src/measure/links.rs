//! Links of a network that is modelled as a whole, as stations.

use headrace_net::Net;

use super::stations::StationReport;
use crate::network::LinkLoads;

/// Every kind of link as a station of its own. Its utilisation is the bytes that it carried over
/// those that it could have; messages still on their way are not counted. A card with a bucket of
/// tokens cannot carry its full rate for long. Its utilisation is the part of the time for which it
/// sent, or waited for tokens.
pub(crate) fn stations(network: &LinkLoads, net: &Net) -> Vec<StationReport> {
    let carried = net.store(network.carried, 0);
    let seconds = net.measured().as_seconds();
    let rates = network.fabric.rates();
    let busy = |link: u32| {
        let bytes = carried.links[link as usize].bytes as f64;
        let busy = match network.fabric.busy(link, net.now()) {
            Some(busy) => busy.as_seconds() / seconds,
            None => bytes / (rates[link as usize] * seconds),
        };
        // Transfers that ended in the time may have begun before it.
        busy.min(1.0)
    };
    let groups = network.fabric.groups().iter();
    let groups = groups.filter(|_| seconds > 0.0);
    groups
        .filter_map(|group| {
            let all = group.links.clone().map(|link| (link, busy(link)));
            let (busiest, most) = all.clone().max_by(|a, b| a.1.total_cmp(&b.1))?;
            let loads = group.links.clone().map(|link| carried.links[link as usize]);
            let messages: u64 = loads.map(|load| load.messages).sum();
            let copies = group.links.len() as u32;
            let worked = all.clone().map(|(_, busy)| busy).sum::<f64>() * seconds;
            Some(StationReport {
                station: format!("{}/{}", network.page, group.name),
                discipline: "link".to_owned(),
                copies,
                servers: Some(1),
                utilisation: worked / seconds / f64::from(copies),
                most_utilisation: most,
                busiest: (copies > 1).then(|| group.name_of(busiest)),
                queue: 0.0,
                service: (messages > 0).then(|| worked / messages as f64),
                residence: None,
                visits: messages,
                unfinished: 0,
                lost: network
                    .packets
                    .as_ref()
                    .map(|packets| packets.lost_at(group.links.clone())),
                within: Some(network.station),
                deferred: false,
            })
        })
        .collect()
}
