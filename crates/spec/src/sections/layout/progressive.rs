//! `kind = "progressive"`: a layout that changes as a file grows.

use super::{FirstServer, ServersPerFile};
use crate::Error;
use crate::declare::{Place, Tables, section};
use crate::sections::{Layout, Lookups, MetadataHosts, Parallel, Topology};
use crate::tree::{Node, Table};
use crate::values::{Bytes, CountOr, choice};

choice! {
    /// Hosts of a component's data.
    pub enum ComponentPlace {
        /// The data servers.
        DataServers = "data-servers",
        /// The metadata server of the file (data on metadata); only of the first component.
        MetadataServer = "metadata-server",
    }
}

section! {
    /// Components one after the other, each a range of the file with stripes of its own. Small
    /// files thus lie on few servers and large ones on many (Lustre: progressive file layouts,
    /// Operations Manual, section 19.5). Stripes are counted from the file's first byte, as in
    /// `lov_stripe_number` of lustre/lov/lov_offset.c. The servers of a component come after those
    /// of the one before it. Not modelled: layout intents, by which a client asks for a component's
    /// servers when it first writes there. The parts of several components on one target are one
    /// object.
    pub struct Progressive {
        /// The components in order.
        component: Vec<Component> as Tables<Component> = required([Component::example("4 MiB", 1), Component::last(4)])
            aka ["components"],
        /// Server that holds the first stripe of a file.
        first: FirstServer = default("round-robin", "spreads the first stripes evenly")
            aka ["start", "offset"],
    }
}

section! {
    /// A range of a file and its stripes.
    pub struct Component {
        /// The byte after its last.
        end: Option<Bytes> = optional("it reaches to the end of the file") aka ["component_end", "extent_end", "until"],
        /// Hosts of its data; on the metadata server it has no stripes.
        on: ComponentPlace = default("data-servers", "lfs setstripe without its option -L mdt") aka ["pattern", "where"],
        /// Over how many servers, or targets, it is spread; over all of them, if there are fewer.
        servers: ServersPerFile as CountOr<ServersPerFile> = default(1, "the default stripe count: Lustre Operations Manual, section 19.3")
            aka ["count", "stripe_count"],
        /// Size of a stripe.
        unit: Bytes = default("1 MiB", "the default stripe size: Lustre Operations Manual, section 19.4")
            aka ["stripe", "stripe_size", "stripe_unit"],
    }
}

/// The most components of a layout: Lustre has room for about as many in an extended attribute.
const MOST_COMPONENTS: usize = 1000;

/// Alignment of a component's end: LOV_MIN_STRIPE_SIZE of Lustre.
const ALIGNMENT: u64 = 1 << 16;

/// The largest component on a metadata server that `lfs setstripe` accepts: Lustre Operations
/// Manual, "LFS limits for DoM component size".
const LARGEST_ON_METADATA: Bytes = Bytes(1 << 30);

impl Component {
    fn example(end: &str, servers: i64) -> Table {
        let mut table = Table::default();
        table.push("end", Node::plain(end.into()));
        table.push("servers", Node::plain(servers.into()));
        table
    }

    fn last(servers: i64) -> Table {
        let mut table = Table::default();
        table.push("servers", Node::plain(servers.into()));
        table
    }
}

impl Progressive {
    /// The first byte that is not on the metadata server; 0 if all are on data servers.
    #[must_use]
    pub fn on_metadata(&self) -> Bytes {
        match self.component.first() {
            Some(first) if first.on == ComponentPlace::MetadataServer => {
                first.end.unwrap_or(Bytes(u64::MAX))
            }
            _ => Bytes(0),
        }
    }

    /// The components on data servers, each with its first byte.
    pub fn striped(&self) -> impl Iterator<Item = (u64, &Component)> {
        let starts = self
            .component
            .iter()
            .map(|it| it.end.map_or(u64::MAX, |end| end.0));
        let starts = std::iter::once(0).chain(starts);
        let all = starts.zip(&self.component);
        all.filter(|(_, it)| it.on == ComponentPlace::DataServers)
    }

    /// Number of targets that one file is spread over, at the most.
    #[must_use]
    pub fn width(&self, targets: u32) -> u32 {
        let widths = self.striped().map(|(_, it)| it.servers.of(targets));
        widths
            .fold(0_u32, u32::saturating_add)
            .clamp(1, targets.max(1))
    }

    /// Bytes of the smallest stripe.
    pub(super) fn smallest(&self) -> Bytes {
        self.striped()
            .map(|(_, it)| it.unit)
            .min()
            .unwrap_or(Bytes(u64::MAX))
    }

    /// Refuses components that are out of order.
    pub(super) fn fits(
        &self,
        layout: &Layout,
        parallel: &Parallel,
        at: &Place<'_>,
    ) -> Result<(), Error> {
        let places = at.field("component");
        let count = self.component.len();
        if count > MOST_COMPONENTS {
            let message = format!("these are {count}: expected at most {MOST_COMPONENTS}");
            return Err(at.error("component", message));
        }
        let mut start = 0;
        for (index, component) in self.component.iter().enumerate() {
            let at = places.field(&index.to_string());
            component.fits(start, index + 1 == count, &at)?;
            start = component.end.map_or(u64::MAX, |end| end.0);
            if component.on == ComponentPlace::MetadataServer {
                if index > 0 {
                    let message = "only the first component can lie on the metadata server";
                    return Err(at.error("on", message));
                }
                data_on_metadata_fits(layout, parallel, &at)?;
            }
        }
        Ok(())
    }
}

impl Component {
    fn fits(&self, start: u64, is_last: bool, at: &Place<'_>) -> Result<(), Error> {
        if self.unit.0 == 0 {
            return Err(at.error("unit", r#"expected a size of more than 0 such as "1 MiB""#));
        }
        if self.on == ComponentPlace::MetadataServer {
            let fits = self.end.is_some_and(|end| end <= LARGEST_ON_METADATA);
            if is_last || !fits {
                let message = "expected a size of at most 1 GiB such as \"64 KiB\", and another \
                               component after it";
                return Err(at.error("end", message));
            }
        }
        match self.end {
            None if !is_last => {
                let message = "another component follows: expected the byte after its last such \
                               as \"4 MiB\"";
                Err(at.error("end", message))
            }
            Some(end) if end.0 <= start => {
                let message = format!("it begins at \"{}\": expected more", Bytes(start));
                Err(at.error("end", message))
            }
            Some(end) if is_last => {
                let message = format!(
                    "a file has no place beyond \"{end}\": leave it out of the last component"
                );
                Err(at.error("end", message))
            }
            Some(end) if !end.0.is_multiple_of(ALIGNMENT) => {
                let message = "expected a multiple of 64 KiB, the smallest stripe of Lustre";
                Err(at.error("end", message))
            }
            Some(end)
                if self.on == ComponentPlace::DataServers && !end.0.is_multiple_of(self.unit.0) =>
            {
                let message = format!("expected a multiple of its unit, \"{}\"", self.unit);
                Err(at.error("end", message))
            }
            _ => Ok(()),
        }
    }
}

/// Rejects options that are not modelled with data on metadata servers.
fn data_on_metadata_fits(
    layout: &Layout,
    parallel: &Parallel,
    at: &Place<'_>,
) -> Result<(), Error> {
    let wrong = if layout.pool.is_some() {
        "a pool is of data servers: expected no pool"
    } else if parallel.metadata.on != MetadataHosts::Own {
        "the metadata servers are data servers too: expected metadata.on = \"own-hosts\""
    } else if parallel.metadata.lookups != Lookups::One {
        "several metadata servers are asked for a file: expected metadata.lookups = \"one\""
    } else if parallel.replication.pieces() > 1 {
        "metadata servers keep one copy: expected replication.copies = 1 and no code"
    } else if !parallel.failures().is_empty() {
        "failures of metadata servers with data are not modelled: expected no [[failure]]"
    } else if matches!(parallel.network.topology, Topology::Pairs(_)) {
        "pairs of hosts have links of their own: expected another network.topology"
    } else {
        return Ok(());
    };
    Err(at.error("on", wrong))
}
