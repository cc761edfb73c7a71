//! The storage configuration worksheet: the requirements of a storage system.
//!
//! Its questions follow Hindman 2011, appendix A. An answer that is unknown is left out; the field
//! then says what that costs. `python/headrace/design/worksheet.py` has the same types.

mod applications;
mod background;
mod budget;
mod capacity;
mod check;
mod clients;
mod data;
mod facility;
mod recovery;

use std::sync::LazyLock;

use crate::Error;
use crate::declare::{Place, Section, Tables, section};
use crate::document::Document;
use crate::values::{AnyNumber, Name};

pub use applications::{Application, Pattern};
pub use background::{Background, Concern, Customer, Limitation, Role, Wish};
pub use budget::Budget;
pub use capacity::CapacityNeed;
pub use clients::{ClientGroup, OperatingSystem};
pub use data::{Data, DataClass, Distribution, Flow, Level, Zone};
pub use facility::{Facility, Housing};
pub use recovery::Recovery;

section! {
    /// The requirements of a storage system. An answer that is unknown is left out; the design then
    /// says what that costs.
    pub struct Worksheet {
        /// What is the system called in tables and reports?
        name: String as Name = supplied("the file's name without its ending") aka ["title"],
        /// What is the system for, in a sentence or two?
        description: String = default("", "nothing is described"),
        /// Which places outside the system and its clients does data come from or go to? Flows name
        /// them, for example cameras, instruments or an archive.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        outside: Vec<String> as AnyNumber<Name> = default(NOWHERE, "data comes from clients only")
            aka ["outsiders", "external"],
        /// Whom is the system designed for (Hindman 2011, appendix A)?
        customer: Customer = section(),
        /// Why is a new system wanted (Hindman 2011, section 2.2)?
        background: Background = section(),
        /// How much is stored, and how does it grow (Hindman 2011, section 2.3)?
        capacity: CapacityNeed = section() aka ["storage"],
        /// Which clients access the system (Hindman 2011, section 2.4)? One section for each group of equal clients.
        #[serde(rename = "clients", skip_serializing_if = "Option::is_none")]
        client: Option<Vec<ClientGroup>> as Option<Tables<ClientGroup>>
            = optional("no client limits the throughput, and none needs a gateway")
            aka ["clients", "client_group"],
        /// Which data has equal policies (Hindman 2011, section 2.5 and table 2.1)? One section for each
        /// zone.
        #[serde(rename = "zones", skip_serializing_if = "Option::is_none")]
        zone: Option<Vec<Zone>> as Option<Tables<Zone>>
            = optional("all data is treated alike") aka ["zones"],
        /// Which kinds of data are stored (Hindman 2011, appendix B)? One section for each kind.
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<Vec<Data>> as Option<Tables<Data>>
            = optional("nothing says which data benefits from striping or replication")
            aka ["dataset", "datasets"],
        /// How does data move into the system, through it and out of it (Hindman 2011, figures 2.3 to
        /// 2.9)? One section for each way.
        #[serde(rename = "flows", skip_serializing_if = "Option::is_none")]
        flow: Option<Vec<Flow>> as Option<Tables<Flow>>
            = optional("the report has no diagram of the data flow") aka ["flows"],
        /// Which applications access the data, and how (Hindman 2011, section 2.6)? One section for each
        /// application.
        #[serde(rename = "applications", skip_serializing_if = "Option::is_none")]
        application: Option<Vec<Application>> as Option<Tables<Application>>
            = optional("no performance is simulated, and no design is discarded for being slow")
            aka ["applications", "app"],
        /// What happens if data or access to it is lost (Hindman 2011, section 2.7)?
        recovery: Recovery = section() aka ["disaster_recovery"],
        /// Where is the system housed (Hindman 2011, section 2.8)?
        facility: Facility = section() aka ["site"],
        /// What may it cost, in the currency of the catalogue (Hindman 2011, section 2.9)?
        budget: Budget = section() aka ["money"],
    }
}

/// The empty list.
const NOWHERE: [&str; 0] = [];

static DECLARED: LazyLock<Section> = LazyLock::new(Worksheet::section);

impl Document for Worksheet {
    const NOUN: &'static str = "worksheet";

    const SETTING: &'static str = "capacity.usable=20 TB";

    const INTRODUCTION: &'static str = "\
A worksheet is a TOML file with the requirements of a storage system. Its questions follow Hindman
2011, appendix A. `headrace design init` writes a form with all of them, and `headrace design check`
finds mistakes and lists unknown answers.

Leave an answer out if it is unknown; the column *why* says what holds then. Only
`capacity.usable` is required. An answer on the command line, as in `--set facility.power=\"6 kW\"`,
replaces that of the file. An entry of a list is named by its number: `--set zone.0.copies=2`.";

    fn declared() -> &'static Section {
        &DECLARED
    }

    fn check_fields(&self, at: &Place<'_>) -> Result<(), Error> {
        check::check(self, at)
    }
}
