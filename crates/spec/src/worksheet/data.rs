//! `[[zone]]`, `[[data]]` and `[[flow]]`: which data there is, where it lies and how it moves.

use crate::declare::section;
use crate::values::{
    AtLeastOne, Bytes, MoreThanZero, Name, Part, PlausibleRate, Rate, Span, choice,
};

choice! {
    /// How much of something.
    pub enum Level {
        /// Little.
        Low = "low",
        /// Neither little nor much.
        Medium = "medium",
        /// Much.
        High = "high",
    }
}

choice! {
    /// Distribution of files over servers.
    pub enum Distribution {
        /// Each file on one server.
        Simple = "simple",
        /// Each file over several servers.
        Striped = "striped",
        /// As its data benefits.
        Either = "either",
    }
}

choice! {
    /// The classes of data of Hindman 2011, appendix B.
    pub enum DataClass {
        /// B.1: video and audio of more than 100 MB.
        LargeMultimedia = "large-multimedia",
        /// B.2: text of more than 100 MB.
        LargeText = "large-text",
        /// B.3: compressed or scientific formats of more than 100 MB.
        LargeCompressed = "large-compressed",
        /// B.4: databases and virtual disks of more than 100 MB.
        LargeDatabase = "large-database",
        /// B.5: pictures, audio and video from 1 MB to 100 MB.
        MediumMultimedia = "medium-multimedia",
        /// B.6: text from 1 MB to 100 MB.
        MediumText = "medium-text",
        /// B.7: compressed or scientific formats from 1 MB to 100 MB.
        MediumCompressed = "medium-compressed",
        /// B.8: databases and virtual disks from 1 MB to 100 MB.
        MediumDatabase = "medium-database",
        /// B.9: files of less than 1 MB.
        SmallFiles = "small-files",
        /// B.10: a large number of files of any size.
        ManyFiles = "many-files",
    }
}

section! {
    /// Data with equal policies (Hindman 2011, section 2.5 and table 2.1).
    pub struct Zone {
        /// What is it called? Data, flows and applications refer to the name.
        name: String as Name = required("A"),
        /// How much throughput do its users need?
        throughput: Level = default("medium", "declared: neither the least nor the most"),
        /// How are its files distributed over servers?
        distribution: Distribution = default("either", "the classes of its data decide") aka ["layout"],
        /// How many copies over servers does the customer demand?
        copies: Option<u32> as Option<AtLeastOne> = optional("the design chooses the copies", 2) aka ["replication"],
        /// Which part of the usable capacity does it take?
        share: Option<f64> as Option<Part> = optional("zones share the capacity as the sizes of their data say, or equally", "40 %"),
        /// How is it backed up: "none", or the policy in words?
        backup: String = default("", "unknown") aka ["backups"],
        /// After which time is its data removed?
        lifetime: Option<Span> as Option<MoreThanZero<Span>> = optional("data stays for ever", "90 d"),
        /// Who manages it?
        manager: String = default("", "unknown") aka ["managed_by"],
        /// How is stale data removed, and by whom?
        removal: String = default("", "unknown") aka ["cleanup"],
    }
}

section! {
    /// A kind of data.
    pub struct Data {
        /// What is it called?
        name: String as Name = required("photographs"),
        /// Which class of data is it?
        #[serde(rename = "data_class")]
        class: DataClass = required("medium-multimedia") aka ["data_class", "kind"],
        /// In which zone does it lie?
        zone: String as Name = required("A"),
        /// How many bytes is it in all?
        size: Option<Bytes> as Option<MoreThanZero<Bytes>> = optional("its size is not checked against the capacity", "8 TB"),
        /// How many files is it?
        files: Option<u64> = optional("metadata servers are sized by its class only", 400_000),
        /// Does it benefit from striping, if the customer knows?
        striping: Option<bool> = optional("its class decides", false),
        /// Can it be made again if it is lost?
        regenerable: Option<bool> = optional("it counts as data that cannot be made again", false),
    }
}

section! {
    /// Data on its way (Hindman 2011, figures 2.3 to 2.9).
    pub struct Flow {
        /// Which zone, group of clients or outside place does it leave?
        #[serde(rename = "source")]
        from: String as Name = required("cameras") aka ["source"],
        /// Which zone, group of clients or outside place does it reach?
        #[serde(rename = "target")]
        to: String as Name = required("A") aka ["target", "destination"],
        /// What moves, and by what means?
        what: String = default("", "the diagram has no text at the arrow"),
        /// How many bytes a second move?
        rate: Option<Rate> as Option<PlausibleRate> = optional("the flow limits nothing", "60 MB/s") aka ["bandwidth"],
        /// Does it take the data out of its source?
        removes: bool = default(false, "declared: most flows copy"),
    }
}
