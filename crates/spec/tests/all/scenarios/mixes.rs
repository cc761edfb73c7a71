//! Arbitrary mixes of operations, and runs of mdtest.

use headrace_spec::*;
use proptest::prelude::*;
use proptest::sample::subsequence;

use super::{choice, seconds};

/// Sizes in order, each once, as files have them.
fn sizes() -> BoxedStrategy<Weighted<Bytes>> {
    let sizes = prop::collection::btree_set(1..1_000_000_u64, 1..5);
    (sizes, weights(5))
        .prop_map(|(sizes, weights)| Weighted(sizes.into_iter().map(Bytes).zip(weights).collect()))
        .boxed()
}

fn weights(number: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.5..100.0_f64, number)
}

pub fn operation_mix(stops: bool) -> BoxedStrategy<WorkloadKind> {
    let all = MixedOperation::ALL.to_vec();
    let operations = (subsequence(all.clone(), 1..=all.len()), weights(all.len()));
    let operations = operations
        .prop_map(|(operations, weights)| Weighted(operations.into_iter().zip(weights).collect()));
    let load = (
        prop_oneof![1..u32::MAX, 1..100_u32],
        prop::option::of(0.001..1e6_f64),
        seconds(),
        choice(ThinkDistribution::ALL),
        any::<bool>(),
    );
    let files = (
        1..2000_u32,
        prop_oneof![Just(1.0), 0.01..1.0_f64],
        0.0..=1.0_f64,
        0.0..=1.0_f64,
    );
    let sizes = [sizes(), sizes(), sizes()];
    (operations, load, files, sizes, habits())
        .prop_map(move |(weights, load, files, sizes, habits)| {
            let (amount, rate, think, think_distribution, forever) = load;
            let (files, hot_files, hot_share, append_share) = files;
            let (mut locality, mut bursts, [bytes_per_rate, append_limit, random_from]) = habits;
            if hot_files < 1.0 || locality.groups > files {
                locality.groups = 1;
            }
            if !weights.values().any(|it| it.writes() && !it.reads()) {
                bursts = none_in_bursts();
            }
            let [mut file_sizes, read_sizes, write_sizes] = sizes;
            if weights.values().any(MixedOperation::is_direct) {
                // One file is large enough for direct transfers, however few there are.
                file_sizes = Weighted(vec![(Bytes(DIRECT_UNIT), 1.0)]);
            }
            let names = names(&weights, rate, files);
            let sharing = match weights.values().any(MixedOperation::is_shared) {
                true => Sharing::Client,
                false => Sharing::None,
            };
            let file_sets = match files % 2 == 0 && has_two_groups(&weights, files) {
                true => FileSets::PerGroup,
                false => FileSets::Shared,
            };
            WorkloadKind::OperationMix(OperationMix {
                weights,
                amount: match forever && stops {
                    true => Amount::Forever,
                    false => Amount::Count(amount),
                },
                rate,
                think: if rate.is_some() { Seconds(0.0) } else { think },
                think_distribution,
                files,
                file_sizes,
                read_sizes,
                write_sizes,
                append_share,
                hot_files,
                hot_share: if hot_files < 1.0 { hot_share } else { 1.0 },
                bytes_per_rate: rate.and(bytes_per_rate),
                file_sets,
                write_files: 0.0,
                append_limit: append_limit.filter(|_| append_share > 0.0),
                random_from,
                names,
                locality,
                bursts,
                followed_by: Followers::default(),
                sharing,
            })
        })
        .boxed()
}

/// Returns true if at least two groups have operations on files, and no more groups than files.
fn has_two_groups(weights: &Weighted<MixedOperation>, files: u32) -> bool {
    let elsewhere = |it: &MixedOperation| {
        it.makes_or_removes()
            || it.goes_to_a_directory()
            || *it == MixedOperation::Readlink
            || *it == MixedOperation::Stat && shared_names(weights, files).0 != MadeIn::Process
    };
    let on_files = weights.values().filter(|it| !elsewhere(it));
    let groups: std::collections::BTreeSet<_> = on_files.map(OperationMix::file_group).collect();
    groups.len() >= 2 && files >= 14
}

/// Directories and links, where operations go to them; as arbitrary as the number of files.
fn names(weights: &Weighted<MixedOperation>, rate: Option<f64>, files: u32) -> NameSets {
    use MixedOperation::{Chdir, FindFirst, FindNext, Readdir, Readlink};
    let has = |wanted: &[MixedOperation]| weights.values().any(|it| wanted.contains(&it));
    let (made_in, taken) = shared_names(weights, files);
    let directories = has(&[Chdir, Readdir, FindFirst, FindNext]);
    let links = has(&[Readlink]);
    let each = |wanted: bool, each: f64| if wanted && rate.is_some() { each } else { 0.0 };
    let least = |wanted: bool| if wanted { files % 50 } else { 0 };
    let sets = NameSets {
        directories: least(directories),
        directories_per_rate: each(directories, 10.0),
        symbolic_links: least(links),
        symbolic_links_per_rate: each(links, 100.0),
        sets: 10,
        made_in,
        taken,
    };
    NameSets {
        sets: match sets.directory_count(rate) {
            0 => 10,
            _ => files % 7 + 1,
        },
        ..sets
    }
}

/// Directories that processes share, where operations make or remove names.
fn shared_names(weights: &Weighted<MixedOperation>, files: u32) -> (MadeIn, Taken) {
    let makes = weights.values().any(MixedOperation::makes_or_removes);
    match files % 4 {
        1 if makes => (MadeIn::Client, Taken::Own),
        2 if makes => (MadeIn::Clients, Taken::Any),
        _ => (MadeIn::Process, Taken::Own),
    }
}

fn none_in_bursts() -> Bursts {
    Bursts {
        share: 0.0,
        length: 8,
    }
}

/// Generates file reuse, bursts, and some sizes.
fn habits() -> BoxedStrategy<(Locality, Bursts, [Option<Bytes>; 3])> {
    let locality = (1..50_u32, 0.01..=1.0_f64, 0.0..=1.0_f64, 1..20_u32);
    let locality = locality.prop_map(|(groups, reads, overwrites, recent_files)| Locality {
        groups,
        reads,
        overwrites,
        recent_files,
    });
    let bursts = (0.01..=1.0_f64, 1..20_u32);
    let bursts = bursts.prop_map(|(share, length)| Bursts { share, length });
    let size = || prop::option::of((1..1000_u64).prop_map(Bytes));
    (
        locality,
        prop_oneof![Just(none_in_bursts()), bursts],
        [size(), size(), size()],
    )
        .boxed()
}

/// Arbitrary copies of trees.
pub fn tree_copy() -> BoxedStrategy<WorkloadKind> {
    let chunk = (choice(Trees::ALL), 1..10_000_000_u64);
    (1..10_u32, 1..50_u32, sizes(), 1..1_000_000_u64, chunk)
        .prop_map(
            |(directories, files, file_sizes, request, (trees, chunk))| {
                WorkloadKind::TreeCopy(TreeCopy {
                    trees,
                    chunk: match trees {
                        Trees::Own => Bytes(4 << 20),
                        Trees::Common => Bytes(chunk),
                    },
                    directories,
                    files,
                    file_sizes,
                    request: Bytes(request),
                })
            },
        )
        .boxed()
}

/// Arbitrary runs of mdtest.
pub fn mdtest() -> BoxedStrategy<WorkloadKind> {
    let phases = prop::collection::vec(choice(NamePhase::ALL), 1..5);
    let rest = (choice(Directory::ALL), seconds(), any::<bool>());
    let across = (0..10_u32, seconds());
    (1..1000_u32, 0..100_000_u64, phases, rest, across)
        .prop_map(
            |(files, bytes, phases, (directory, think, random), across)| {
                let (rank_shift, stonewall) = across;
                let creates = phases.contains(&NamePhase::Create) && !random;
                let reads = phases.contains(&NamePhase::Read);
                WorkloadKind::Mdtest(Mdtest {
                    files,
                    bytes: Bytes(if reads { bytes.max(1) } else { bytes }).into(),
                    phases,
                    directory,
                    rank_shift,
                    stonewall: if creates { stonewall } else { Seconds(0.0) },
                    random,
                    sync_created: creates,
                    think,
                })
            },
        )
        .boxed()
}
