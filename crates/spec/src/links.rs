//! The catalogue of links: what a standard says of them. A link is added by its row.

use crate::declare::Nature;
use crate::tree::{Node, Origin, Raw, Table};
use crate::values::Listed;

/// A link of the catalogue.
struct Link {
    name: &'static str,
    family: &'static Family,
    /// Bits per second of data, both of a number that reads exactly.
    bandwidth: &'static str,
    /// Signalling rate, encoding, and where they are from.
    source: &'static str,
}

/// Family of links with common fields, values and sources.
struct Family {
    what: &'static str,
    /// Source for the credit-based flow control of the link, which drops no packets.
    lossless: Option<&'static str>,
    fields: &'static [(&'static str, &'static str, &'static str)],
}

const ETHERNET: Family = Family {
    what: "Ethernet",
    lossless: None,
    fields: &[
        (
            "mtu",
            "1500 B",
            "IEEE 802.3, clause 3.2.7: the most data of a basic frame",
        ),
        (
            "header",
            "40 B",
            "IPv4 (RFC 791) and TCP (RFC 9293) without options: 20 B each",
        ),
        (
            "framing",
            "38 B",
            "IEEE 802.3, clauses 3.1.1 and 4.4.2: preamble and delimiter 8 B, header 14 B, check sequence 4 B, gap 12 B",
        ),
    ],
};

const INFINIBAND: Family = Family {
    what: "InfiniBand, four lanes",
    lossless: Some("InfiniBand Architecture Specification volume 1, section 7.9"),
    fields: &[
        (
            "mtu",
            "4096 B",
            "InfiniBand Architecture Specification volume 1: the largest payload of a packet; ports of SDR and DDR often take 2 KiB",
        ),
        (
            "header",
            "0 B",
            "the payload is data; headers are in the framing",
        ),
        (
            "framing",
            "26 B",
            "InfiniBand Architecture Specification volume 1: local route header 8 B, base transport header 12 B, invariant check 4 B, variant check 2 B",
        ),
    ],
};

const FIBRE_CHANNEL: Family = Family {
    what: "Fibre Channel",
    lossless: Some("FC-FS, buffer-to-buffer flow control"),
    fields: &[
        (
            "mtu",
            "2112 B",
            "FC-FS: the most data of a frame; FCP mostly sends 2 KiB",
        ),
        (
            "header",
            "0 B",
            "the payload is data; headers are in the framing",
        ),
        (
            "framing",
            "60 B",
            "FC-FS: start of frame 4 B, header 24 B, check sequence 4 B, end of frame 4 B, six primitive signals between frames 24 B",
        ),
    ],
};

macro_rules! links {
    ($($family:ident: $($name:literal $bandwidth:literal $source:literal),+;)+) => {
        &[$($(Link {
            name: $name,
            family: &$family,
            bandwidth: $bandwidth,
            source: $source,
        }),+),+]
    };
}

const LINKS: &[Link] = links! {
    ETHERNET:
        "100MbE" "100 Mbit/s" "100BASE-TX, 125 MBd, 4B/5B: IEEE 802.3, clauses 24 and 25",
        "1GbE" "1 Gbit/s" "1000BASE-X, 1.25 GBd, 8B/10B: IEEE 802.3, clause 36",
        "10GbE" "10 Gbit/s" "10GBASE-R, 10.3125 GBd, 64B/66B: IEEE 802.3, clause 49",
        "25GbE" "25 Gbit/s" "25GBASE-R, 25.78125 GBd, 64B/66B: IEEE 802.3, clause 107",
        "40GbE" "40 Gbit/s" "40GBASE-R, 4 × 10.3125 GBd, 64B/66B: IEEE 802.3, clause 82",
        "50GbE" "50 Gbit/s" "50GBASE-R, 26.5625 GBd PAM4, 64B/66B and RS(544,514): IEEE 802.3, clauses 133 and 134",
        "100GbE" "100 Gbit/s" "100GBASE-R, 4 × 25.78125 GBd, 64B/66B: IEEE 802.3, clause 82",
        "200GbE" "200 Gbit/s" "200GBASE-R, 4 × 26.5625 GBd PAM4, 256B/257B and RS(544,514): IEEE 802.3, clause 119",
        "400GbE" "400 Gbit/s" "400GBASE-R, 8 × 26.5625 GBd PAM4, 256B/257B and RS(544,514): IEEE 802.3, clause 119";
    INFINIBAND:
        "InfiniBand-SDR" "8 Gbit/s" "4 × 2.5 GBd, 8b/10b: InfiniBand Architecture Specification volume 2",
        "InfiniBand-DDR" "16 Gbit/s" "4 × 5 GBd, 8b/10b: InfiniBand Architecture Specification volume 2",
        "InfiniBand-QDR" "32 Gbit/s" "4 × 10 GBd, 8b/10b: InfiniBand Architecture Specification volume 2",
        "InfiniBand-FDR" "54.54545454545455 Gbit/s" "4 × 14.0625 GBd, 64b/66b: InfiniBand Architecture Specification volume 2",
        "InfiniBand-EDR" "100 Gbit/s" "4 × 25.78125 GBd, 64b/66b: InfiniBand Architecture Specification volume 2",
        "InfiniBand-HDR" "200 Gbit/s" "4 × 26.5625 GBd PAM4, 256b/257b and RS(544,514): InfiniBand Architecture Specification volume 2",
        "InfiniBand-NDR" "400 Gbit/s" "4 × 53.125 GBd PAM4, 256b/257b and RS(544,514): InfiniBand Architecture Specification volume 2";
    FIBRE_CHANNEL:
        "1GFC" "850 Mbit/s" "1.0625 GBd, 8b/10b: FC-PI",
        "2GFC" "1.7 Gbit/s" "2.125 GBd, 8b/10b: FC-PI",
        "4GFC" "3.4 Gbit/s" "4.25 GBd, 8b/10b: FC-PI-2",
        "8GFC" "6.8 Gbit/s" "8.5 GBd, 8b/10b: FC-PI-4",
        "16GFC" "13.6 Gbit/s" "14.025 GBd, 64b/66b: FC-PI-5",
        "32GFC" "27.2 Gbit/s" "28.05 GBd, 256b/257b and RS(528,514): FC-PI-6",
        "64GFC" "54.4 Gbit/s" "28.9 GBd PAM4, 256b/257b and RS(544,514): FC-PI-7";
};

/// The fields that a link gives.
pub(crate) const GIVES: [&str; 4] = ["bandwidth", "mtu", "header", "framing"];

/// The catalogue: names and descriptions.
#[must_use]
pub fn links() -> Vec<(&'static str, &'static str)> {
    LINKS
        .iter()
        .map(|link| (link.name, link.family.what))
        .collect()
}

/// Returns the field that makes a link lossless; none if it may drop packets, or without such a
/// link.
pub(crate) fn lossless(name: &str) -> Option<&'static str> {
    let link = LINKS.iter().find(|link| link.name == name)?;
    link.family.lossless
}

/// The values of a link; none if there is no such link.
pub(crate) fn read(name: &str) -> Option<Node> {
    let link = LINKS.iter().find(|link| link.name == name)?;
    let mut table = Table::default();
    let mut push = |field: &str, value: &str, source: &str| {
        let origin = Origin::Preset {
            name: link.name,
            line: 0,
            source: source.into(),
        };
        let raw = Raw::from(value);
        table.push(field, Node { raw, origin });
    };
    push("bandwidth", link.bandwidth, link.source);
    for (field, value, source) in link.family.fields {
        push(field, value, source);
    }
    Some(Node::plain(table.into()))
}

/// The name of a link.
pub(crate) struct LinkName;

impl Listed for LinkName {
    const NATURE: Nature = Nature::Link;

    fn names() -> Vec<&'static str> {
        LINKS.iter().map(|link| link.name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::{Bytes, Rate};
    use std::path::Path;

    fn network(more: &str) -> crate::Network {
        let text = format!(
            "system = \"pvfs2\"\n[clients]\ncount = 1\n[servers]\ncount = 1\ndevice = {{ read_rate \
             = \"1 GB/s\", write_rate = \"1 GB/s\" }}\n[[workload]]\nblock = \"1 MiB\"\n\
             [network]\nlatency = \"1 us\"\n{more}"
        );
        let loaded = crate::load(&text, Path::new("l.toml"), &[]);
        let scenario = loaded.unwrap_or_else(|error| panic!("{error}")).scenario;
        // It loads to itself.
        let canonical = scenario.to_canonical_toml();
        let again = crate::load(&canonical, Path::new("l.toml"), &[]).expect("canonical");
        assert_eq!(again.scenario, scenario);
        scenario.parallel().expect("parallel").network.clone()
    }

    /// Lanes, signalling rate of a lane, and data bits of the signalled ones.
    fn rate(lanes: f64, gigabits: f64, data: f64, signalled: f64) -> f64 {
        lanes * gigabits * 1e9 * data / signalled / 8.0
    }

    #[test]
    fn rates_are_what_signalling_and_encoding_make() {
        let strong = (256.0 * 514.0, 257.0 * 544.0);
        for (name, expected) in [
            ("1GbE", rate(1.0, 1.25, 8.0, 10.0)),
            ("10GbE", rate(1.0, 10.3125, 64.0, 66.0)),
            ("200GbE", rate(4.0, 53.125, strong.0, strong.1)),
            ("400GbE", rate(8.0, 53.125, strong.0, strong.1)),
            ("InfiniBand-QDR", rate(4.0, 10.0, 8.0, 10.0)),
            ("InfiniBand-FDR", rate(4.0, 14.0625, 64.0, 66.0)),
            ("InfiniBand-EDR", rate(4.0, 25.78125, 64.0, 66.0)),
            ("InfiniBand-HDR", rate(4.0, 53.125, strong.0, strong.1)),
            ("InfiniBand-NDR", rate(4.0, 106.25, strong.0, strong.1)),
            ("8GFC", rate(1.0, 8.5, 8.0, 10.0)),
            ("16GFC", rate(1.0, 14.025, 64.0, 66.0)),
            ("32GFC", rate(1.0, 28.05, 256.0 * 514.0, 257.0 * 528.0)),
            ("64GFC", rate(1.0, 57.8, strong.0, strong.1)),
        ] {
            let got = network(&format!("link = \"{name}\"\n")).bandwidth.0;
            assert!(
                (got - expected).abs() < 1e-9 * expected,
                "{name}: {got} {expected}"
            );
        }
    }

    #[test]
    fn a_link_stands_above_the_system_and_below_what_is_given() {
        let all = network("link = \"InfiniBand-EDR\"\nmtu = \"2 KiB\"\nheader = \"8 B\"\n");
        assert_eq!(all.bandwidth, Rate(12.5e9));
        assert_eq!(
            (all.mtu, all.header, all.framing),
            (Bytes(2048), Bytes(8), Bytes(26))
        );
        // The system says 1500 B, for another link.
        let given = network("link = \"InfiniBand-EDR\"\n");
        assert_eq!(given.mtu, Bytes(4096));
        assert_eq!(links().len(), LINKS.len());
    }
}
