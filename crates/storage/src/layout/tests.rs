use super::*;
use headrace_spec::{
    Bytes, Component, ComponentPlace, ServersPerFile, Strip, TwoDimensional, VariableStrip,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn layout(unit: u64, width: u64, servers: u64, packet: u64) -> Layout {
    Layout {
        distribution: Distribution::Stripes(Stripes { unit, width }),
        objects: None,
        targets: servers,
        pool: None,
        assigned_in: 0,
        placer: None,
        first: FirstServer::RoundRobin,
        known: Arc::default(),
        seed: 1,
        packet,
        coded: None,
    }
}

fn file_of(layout: &Layout, file: u32) -> FileLayout<'_> {
    layout.file(file, &mut FirstTargets::default())
}

fn pieces(layout: &Layout, file: u32, offset: u64, size: u64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    file_of(layout, file).pieces(offset, size, |piece| pieces.push(piece));
    pieces
}

#[test]
fn a_mebibyte_over_four_servers() {
    let got = pieces(&layout(256 << 10, 4, 4, u64::MAX), 0, 0, 1 << 20);
    let expected: Vec<Piece> = (0..4)
        .map(|target| Piece {
            target,
            offset: 0,
            size: 256 << 10,
        })
        .collect();
    assert_eq!(got, expected);
}

#[test]
fn the_end_of_64_bits_does_not_overflow() {
    let got = pieces(&layout(65536, 4, 4, u64::MAX), 3, u64::MAX - 10, 100);
    assert_eq!(got.iter().map(|piece| piece.size).sum::<u64>(), 10);
}

proptest! {
    #[test]
    fn parts_are_what_the_pieces_of_a_whole_file_add_up_to(
        unit in 1_u64..9, width in 1_u64..5, more in 0_u64..3,
        file in 0_u32..7, size in 1_u64..100,
    ) {
        let layout = layout(unit, width, width + more, u64::MAX);
        let mut parts = BTreeMap::new();
        for piece in pieces(&layout, file, 0, size) {
            *parts.entry(piece.target).or_insert(0) += piece.size;
        }
        let holders: Vec<u32> = file_of(&layout, file).targets(size).collect();
        for server in 0..(width + more) as u32 {
            let part = file_of(&layout, file).part(size, server);
            prop_assert_eq!(part, parts.get(&server).copied().unwrap_or(0));
            prop_assert!(part == 0 || holders.contains(&server));
        }
    }

    /// Byte by byte, against the definition of striping.
    #[test]
    fn every_byte_is_on_its_server_once(
        unit in 1_u64..9, width in 1_u64..5, more in 0_u64..3, packet in 1_u64..20,
        file in 0_u32..7, offset in 0_u64..100, size in 1_u64..100,
    ) {
        let servers = width + more;
        let mut expected = BTreeMap::new();
        for byte in offset..offset + size {
            let stripe = byte / unit;
            let server = (u64::from(file) % servers + stripe % width) % servers;
            let local = stripe / width * unit + byte % unit;
            *expected.entry((server as u32, local)).or_insert(0) += 1;
        }
        let mut got = BTreeMap::new();
        for piece in pieces(&layout(unit, width, servers, packet), file, offset, size) {
            prop_assert!(piece.size <= packet);
            for byte in piece.offset..piece.offset + piece.size {
                *got.entry((piece.target, byte)).or_insert(0) += 1;
            }
        }
        prop_assert_eq!(got, expected);
    }
}

/// Every byte of a range on the target and at the place that `expected` says, once.
fn check(layout: &Layout, offset: u64, size: u64, expected: impl Fn(u64) -> (u64, u64)) {
    let mut want = BTreeMap::new();
    for byte in offset..offset + size {
        let (turn, local) = expected(byte);
        let target = ((3 + turn) % layout.targets) as u32;
        *want.entry((target, local)).or_insert(0) += 1;
        assert_eq!(file_of(layout, 3).target_at(byte).0, target);
    }
    let mut got = BTreeMap::new();
    for piece in pieces(layout, 3, offset, size) {
        assert!(piece.size <= layout.packet);
        for byte in piece.offset..piece.offset + piece.size {
            *got.entry((piece.target, byte)).or_insert(0) += 1;
        }
    }
    assert_eq!(got, want);
    let parts = (0..layout.targets as u32).map(|target| file_of(layout, 3).part(size, target));
    assert_eq!(parts.sum::<u64>(), size);
}

fn with(distribution: Distribution, targets: u64, packet: u64) -> Layout {
    Layout {
        distribution,
        ..layout(1, 1, targets, packet)
    }
}

proptest! {
    #[test]
    fn a_file_in_one_piece_is_on_one_target(
        targets in 1_u64..5, packet in 1_u64..20, offset in 0_u64..100, size in 1_u64..100,
    ) {
        let stripes = Stripes { unit: u64::MAX, width: 1 };
        check(&with(Distribution::Stripes(stripes), targets, packet), offset, size, |byte| (0, byte));
    }

    /// Against the place of a byte as physical_to_logical_offset of dist-twod-stripe.c
    /// gives it, tried for every server and every byte that it can hold.
    #[test]
    fn groups_of_servers_are_striped_in_turn(
        unit in 1_u64..5, servers in 1_u32..8, groups in 1_u32..8, factor in 1_u32..4,
        packet in 1_u64..20, offset in 0_u64..200, size in 1_u64..100,
    ) {
        let spec = TwoDimensional { unit: Bytes(unit), groups, factor, first: FirstServer::RoundRobin };
        let groups = u64::from(groups.min(servers));
        let (all, factor) = (u64::from(servers), u64::from(factor));
        let small = all / groups;
        let logical = |server: u64, physical: u64| {
            let strips = physical / unit;
            let group = (server / small).min(groups - 1);
            let members = if group == groups - 1 { all - (groups - 1) * small } else { small };
            strips / factor * factor * all * unit
                + group * small * factor * unit
                + strips % factor * members * unit
                + (server - group * small) * unit
                + physical % unit
        };
        let mut places = BTreeMap::new();
        for server in 0..all {
            for physical in 0..offset + size {
                prop_assert_eq!(places.insert(logical(server, physical), (server, physical)), None);
            }
        }
        let pattern = Pattern::two_dimensional(&spec, servers);
        check(&with(Distribution::Pattern(pattern), all, packet), offset, size, |byte| places[&byte]);
    }

    /// Byte by byte through the list, repeated.
    #[test]
    fn strips_of_any_size_follow_each_other(
        list in prop::collection::vec((0_u32..3, 1_u64..9), 1..6), more in 0_u64..3,
        packet in 1_u64..20, offset in 0_u64..200, size in 1_u64..100,
    ) {
        let strips: Vec<Strip> =
            list.iter().map(|&(server, size)| Strip { server, size: Bytes(size) }).collect();
        let spec = VariableStrip { strip: strips, first: FirstServer::RoundRobin };
        let mut held = [0; 3];
        let mut places = Vec::new();
        for &(server, size) in list.iter().cycle() {
            for _ in 0..size {
                places.push((u64::from(server), held[server as usize]));
                held[server as usize] += 1;
            }
            if places.len() as u64 > offset + size + 100 {
                break;
            }
        }
        let targets = u64::from(spec.width()) + more;
        let pattern = Pattern::variable(&spec);
        check(&with(Distribution::Pattern(pattern), targets, packet), offset, size, |byte| {
            places[byte as usize]
        });
    }
}

proptest! {
    /// A pool is what its targets alone would be, under their own numbers.
    #[test]
    fn files_of_a_pool_lie_on_its_targets(
        unit in 1_u64..9, width in 1_u64..4, more in 0_u64..3, file in 0_u32..7,
        offset in 0_u64..100, size in 1_u64..100,
    ) {
        let targets = width + more;
        let members: Vec<u32> = (0..targets as u32).map(|number| 40 - 3 * number).collect();
        let all = layout(unit, width, targets, u64::MAX);
        let pool = Layout { pool: Some(members.clone().into()), ..all.clone() };
        let expected: Vec<Piece> = pieces(&all, file, offset, size)
            .into_iter()
            .map(|piece| Piece { target: members[piece.target as usize], ..piece })
            .collect();
        prop_assert_eq!(pieces(&pool, file, offset, size), expected);
        for target in 0..45 {
            let number = members.iter().position(|member| *member == target);
            let part = number.map_or(0, |number| file_of(&all, file).part(size, number as u32));
            prop_assert_eq!(file_of(&pool, file).part(size, target), part);
        }
    }
}

proptest! {
    /// Each byte has a place of its own in one object, on the target that holds the byte. The objects
    /// on a target have together the bytes of its part.
    #[test]
    fn objects_divide_a_file(
        unit in 1_u64..5, servers in 1_u32..5, objects in 1_u32..14, file in 0_u32..7,
        offset in 0_u64..200, size in 1_u64..200,
    ) {
        let striped = headrace_spec::Striped {
            unit: Bytes(unit),
            servers: ServersPerFile::All,
            overstripe_count: Some(objects),
            first: FirstServer::RoundRobin,
        };
        let kind = LayoutKind::Striped(striped);
        let width = kind.width(servers);
        let layout = Layout {
            distribution: Distribution::new(&kind, servers),
            objects: objects_of(&kind, servers),
            ..layout(unit, width.into(), servers.into(), u64::MAX)
        };
        let it = file_of(&layout, file);
        let mut bytes = BTreeMap::new();
        for byte in offset..offset + size {
            let (object, end) = it.object_at(byte);
            prop_assert!(end > byte && end <= byte + unit);
            prop_assert_eq!(object.target, it.target_at(byte).0);
            prop_assert!(object.index < objects.div_ceil(width));
            let place = it.offset_in_object(byte);
            prop_assert_eq!(bytes.insert((object, place), byte), None);
        }
        let mut locked = 0;
        for (object, start, end) in it.extents(offset, size) {
            prop_assert!((start..end).all(|place| bytes.contains_key(&(object, place))));
            locked += end - start;
        }
        prop_assert_eq!(locked, size);
        for target in 0..servers {
            let own = bytes.keys().filter(|(object, _)| object.target == target).count();
            let part = it.part(offset + size, target) - it.part(offset, target);
            prop_assert_eq!(own as u64, part);
        }
        let used: std::collections::BTreeSet<_> = bytes.keys().map(|(object, _)| object).collect();
        prop_assert!(used.len() <= objects as usize);
    }
}

#[test]
fn files_are_where_they_are_known_to_be_and_the_others_where_they_would_be() {
    let layout = Layout {
        known: [2, 2, 0].into(),
        ..layout(10, 1, 3, u64::MAX)
    };
    let of = |file| file_of(&layout, file).target_at(0).0;
    assert_eq!([0, 1, 2, 3, 4].map(of), [2, 2, 0, 0, 1]);
    assert_eq!(
        [0, 1, 2].map(|target| file_of(&layout, 1).part(7, target)),
        [0, 0, 7]
    );
}

#[test]
fn new_files_go_where_the_last_one_ended() {
    let layout = Layout {
        first: FirstServer::Balance,
        ..layout(10, 2, 5, u64::MAX)
    };
    let mut first_targets = FirstTargets::default();
    let mut of = |file| {
        let file = layout.file(file, &mut first_targets);
        file.targets(0).collect::<Vec<_>>()
    };
    assert_eq!([of(7), of(3), of(100)], [[0, 1], [2, 3], [4, 0]]);
    assert_eq!([of(3), of(100), of(0)], [[2, 3], [4, 0], [1, 2]]);
}

const MIB: u64 = 1 << 20;

/// Components of a file: the end in MiB, the servers, and the MiB of a stripe.
fn progressive(components: &[(Option<u64>, u32, u64)], servers: u64) -> Layout {
    let components = components.iter().map(|&(end, servers, unit)| Component {
        end: end.map(|end| Bytes(end * MIB)),
        on: ComponentPlace::DataServers,
        servers: ServersPerFile::Count(servers),
        unit: Bytes(unit * MIB),
    });
    let spec = headrace_spec::Progressive {
        component: components.collect(),
        first: FirstServer::RoundRobin,
    };
    Layout {
        distribution: Distribution::Progressive(Progressive::new(&spec, servers as u32)),
        ..layout(1, 1, servers, u64::MAX)
    }
}

/// lfs setstripe -E 4M -c 1 -E 16M -c 2 -E -1 -c 4 -S 2M on eight targets, for file 0. Stripes are
/// counted from the file's first byte, as in lov_stripe_number.
#[test]
fn each_byte_of_a_progressive_file_is_where_lustre_has_it() {
    let layout = progressive(&[(Some(4), 1, 1), (Some(16), 2, 1), (None, 4, 2)], 8);
    let file = file_of(&layout, 0);
    let target = |mib: u64| file.target_at(mib * MIB);
    assert_eq!(target(0), (0, MIB));
    assert_eq!(target(3), (0, 4 * MIB));
    // (4 mod 2) is stripe 0 of the second component, which is on targets 1 and 2.
    assert_eq!(target(4), (1, 5 * MIB));
    assert_eq!(target(5), (2, 6 * MIB));
    assert_eq!(target(15), (2, 16 * MIB));
    // (16 mod 8) / 2 is stripe 0 of the third, which is on targets 3 to 6.
    for (mib, expected) in [(16, 3), (18, 4), (20, 5), (22, 6), (24, 3)] {
        assert_eq!(target(mib), (expected, (mib + 2) * MIB));
    }
    // A component that begins within a stripe pattern begins at that place of the pattern.
    let uneven = progressive(&[(Some(1), 1, 1), (None, 4, 1)], 8);
    assert_eq!(file_of(&uneven, 0).target_at(MIB).0, 1 + 1);
    // 24 MiB: 4, 12 and 8 of them.
    let parts = (0..8).map(|target| file.part(24 * MIB, target) / MIB);
    assert_eq!(parts.collect::<Vec<_>>(), [4, 6, 6, 2, 2, 2, 2, 0]);
    // A small file is on one target, a larger one on those of two components.
    assert_eq!(file.targets(MIB).collect::<Vec<_>>(), [0]);
    assert_eq!(file.targets(6 * MIB).collect::<Vec<_>>(), [0, 1, 2]);
}

/// The first bytes are on the metadata server, and on no target.
#[test]
fn data_on_metadata_is_on_no_target() {
    let mut layout = progressive(&[(None, 2, 1)], 2);
    let spec = headrace_spec::Progressive {
        component: vec![
            Component {
                end: Some(Bytes(MIB)),
                on: ComponentPlace::MetadataServer,
                servers: ServersPerFile::Count(1),
                unit: Bytes(MIB),
            },
            Component {
                end: None,
                on: ComponentPlace::DataServers,
                servers: ServersPerFile::Count(2),
                unit: Bytes(MIB),
            },
        ],
        first: FirstServer::Zero,
    };
    layout.distribution = Distribution::Progressive(Progressive::new(&spec, 2));
    let file = file_of(&layout, 0);
    assert_eq!(file.target_at(0), (ON_METADATA, MIB));
    assert_eq!(file.on_metadata(MIB / 2, MIB), Some((MIB / 2, MIB / 2)));
    assert_eq!(file.on_metadata(MIB, MIB), None);
    let mut bytes = 0;
    file.pieces(0, 3 * MIB, |piece| bytes += piece.size);
    assert_eq!(bytes, 2 * MIB);
    let mut bytes = 0;
    file.pieces(0, MIB, |piece| bytes += piece.size);
    assert_eq!(bytes, 0);
}

proptest! {
    /// A range's pieces are the bytes that its targets hold of it, and each byte is where
    /// `target_at` has it.
    #[test]
    fn pieces_of_a_progressive_file_hold_all_of_it(
        first in 1_u32..4, second in 1_u32..4, third in 1_u32..4, servers in 1_u64..9,
        file in 0_u32..5, offset in 0_u64..30, size in 1_u64..30,
    ) {
        let layout = progressive(&[(Some(2), first, 1), (Some(8), second, 2), (None, third, 1)], servers);
        let it = file_of(&layout, file);
        let mut held = BTreeMap::new();
        for piece in pieces(&layout, file, offset * MIB, size * MIB) {
            *held.entry(piece.target).or_insert(0) += piece.size;
        }
        let mut expected = BTreeMap::new();
        for mib in offset..offset + size {
            *expected.entry(it.target_at(mib * MIB).0).or_insert(0) += MIB;
        }
        prop_assert_eq!(held, expected);
    }
}
