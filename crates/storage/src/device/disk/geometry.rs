//! Geometry of a disk: positions of sectors and head.
//!
//! Tracks follow each other along a spiral of time. A sector's *position* is
//! the time that the head needs from sector 0 to it if it reads on and on. On
//! the way to the next track it lacks a head switch or a seek by one cylinder,
//! and sectors are skewed by just that. So a sector's angle is its position
//! modulo a revolution, and a transfer takes the difference between two
//! positions, however many tracks it crosses.

use headrace_net::Span;
use headrace_spec::Disk;

/// Zones, tracks and sectors of a disk. Sectors count from the outermost track.
#[derive(Clone, Debug)]
pub(super) struct Geometry {
    /// Picoseconds of a revolution.
    pub turn: u64,
    /// Bytes of a sector.
    pub sector: u64,
    /// Sectors of the whole disk.
    pub sectors: u64,
    surfaces: u64,
    /// Picoseconds from the begin of a track to that of the next in its cylinder.
    track_time: u64,
    /// The same for cylinders.
    cylinder_time: u64,
    zones: Vec<Zone>,
    /// Cylinders of the whole disk.
    pub cylinders: u64,
}

/// Cylinders with equally many sectors a track.
#[derive(Clone, Copy, Debug)]
struct Zone {
    first_sector: u64,
    first_cylinder: u64,
    sectors_per_track: u64,
    position: u64,
}

/// Position of a sector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub cylinder: u64,
    pub head: u64,
    /// Picoseconds along the spiral.
    pub position: u64,
}

impl Geometry {
    pub(super) fn new(spec: &Disk) -> Geometry {
        let turn = 60e12 / f64::from(spec.rpm);
        let head_skew = Span::from_seconds(spec.head_switch.0).0;
        let cylinder_skew = Span::from_seconds(spec.track_to_track_seek.0).0;
        let (sector, surfaces) = (spec.sector.0, u64::from(spec.surfaces));
        let turn_time = turn as u64;
        let cylinder_time = surfaces * turn_time + (surfaces - 1) * head_skew + cylinder_skew;
        let track = cylinder_time as f64 / surfaces as f64;
        let zones = u64::from(spec.zones);
        let per_track = |zone: u64| {
            let inwards = zone as f64 / (zones.max(2) - 1) as f64;
            let rate = spec.outer_rate.0 + (spec.inner_rate.0 - spec.outer_rate.0) * inwards;
            ((rate * 1e-12 * track / sector as f64) as u64).max(1)
        };
        // Zones are equally wide.
        let across: u64 = (0..zones).map(|zone| per_track(zone) * surfaces).sum();
        let sectors = (spec.capacity.0 / sector).max(1);
        let width = sectors.div_ceil(across);
        let mut first_sector = 0;
        let zones: Vec<Zone> = (0..zones)
            .map(|zone| {
                let first_cylinder = zone * width;
                let it = Zone {
                    first_sector,
                    first_cylinder,
                    sectors_per_track: per_track(zone),
                    position: first_cylinder * cylinder_time,
                };
                first_sector += it.sectors_per_track * surfaces * width;
                it
            })
            .collect();
        Geometry {
            turn: turn_time,
            sector,
            sectors,
            surfaces,
            track_time: turn_time + head_skew,
            cylinder_time,
            cylinders: width * zones.len() as u64,
            zones,
        }
    }

    /// Returns the position of a sector.
    pub(super) fn place(&self, sector: u64) -> Place {
        let (zone, cylinder, head, within) = self.split(sector);
        let position = zone.position
            + cylinder * self.cylinder_time
            + head * self.track_time
            + within * self.turn / zone.sectors_per_track;
        Place {
            cylinder: zone.first_cylinder + cylinder,
            head,
            position,
        }
    }

    /// The position at which the sector before this one has passed.
    pub(super) fn end(&self, sector: u64) -> Place {
        let (zone, cylinder, head, within) = self.split(sector.saturating_sub(1));
        let position = zone.position
            + cylinder * self.cylinder_time
            + head * self.track_time
            + (within + 1) * self.turn / zone.sectors_per_track;
        Place {
            cylinder: zone.first_cylinder + cylinder,
            head,
            position,
        }
    }

    /// The sector that is not yet read wholly at a position; at the `end` of one
    /// it is the next.
    pub(super) fn sector_at(&self, position: u64) -> u64 {
        let zone = self.zones.partition_point(|zone| zone.position <= position);
        let zone = self.zones[zone.max(1) - 1];
        let into = position - zone.position;
        let (cylinder, into) = (into / self.cylinder_time, into % self.cylinder_time);
        let head = (into / self.track_time).min(self.surfaces - 1);
        // The most whose end, a whole number of picoseconds, is not after it.
        let within = into - head * self.track_time;
        let within = ((within + 1) * zone.sectors_per_track - 1) / self.turn;
        let tracks = cylinder * self.surfaces + head;
        let within = within.min(zone.sectors_per_track);
        (zone.first_sector + tracks * zone.sectors_per_track + within).min(self.sectors)
    }

    /// The sectors that bytes lie in: first, and the one after the last.
    /// Addresses past the end count round.
    pub(super) fn sectors_of(&self, address: u64, size: u64) -> (u64, u64) {
        let number = (size.max(1) + address % self.sector).div_ceil(self.sector);
        let number = number.min(self.sectors);
        let first = (address / self.sector) % self.sectors;
        let first = first.min(self.sectors - number);
        (first, first + number)
    }

    fn split(&self, sector: u64) -> (Zone, u64, u64, u64) {
        let zone = self
            .zones
            .partition_point(|zone| zone.first_sector <= sector);
        let zone = self.zones[zone.max(1) - 1];
        let into = sector - zone.first_sector;
        let (track, within) = (into / zone.sectors_per_track, into % zone.sectors_per_track);
        (zone, track / self.surfaces, track % self.surfaces, within)
    }
}
