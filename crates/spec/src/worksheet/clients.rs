//! `[[client]]`: the hosts that access the system.

use crate::declare::section;
use crate::values::{AtLeastOne, Growth, Name, PlausibleRate, Rate, choice};

choice! {
    /// Operating system of clients.
    pub enum OperatingSystem {
        /// All file systems have clients for it.
        Linux = "linux",
        /// It needs CIFS.
        Windows = "windows",
        /// It needs NFS or CIFS.
        MacOs = "macos",
        /// It needs NFS.
        Unix = "unix",
    }
}

section! {
    /// Clients that are alike (Hindman 2011, section 2.4).
    pub struct ClientGroup {
        /// What are they called? Applications and flows refer to the name.
        name: String as Name = required("workstations"),
        /// How many are there?
        count: u32 as AtLeastOne = required(20) aka ["number", "clients"],
        /// By how much does their number grow in a year?
        growth: Option<f64> as Option<Growth> = optional("their number does not grow", "10 %"),
        /// Which operating system do they have? Others than Linux may need a gateway with NFS or
        /// CIFS.
        system: OperatingSystem = default("linux", "declared: parallel file systems have clients for it") aka ["os"],
        /// Do they need a high throughput?
        high_throughput: bool = default(false, "declared: applications say what they need"),
        /// How fast is the device that their data comes from, such as a camera on USB? They need no
        /// faster network.
        source_rate: Option<Rate> as Option<PlausibleRate> = optional("nothing before them limits their throughput", "60 MB/s"),
        /// Do they have adapters and switch ports that the system can use?
        has_network: bool = default(false, "declared: an adapter and a port are bought for each; clients of a gateway stay on the network that they have"),
    }
}
