use super::*;
use proptest::prelude::*;

fn growth(grow: bool) -> Growth {
    Growth {
        unit: 4,
        grow,
        contended: 32,
        most: 100,
    }
}

fn lock(client: u32, number: u32, write: bool, start: u64, end: u64) -> Lock {
    Lock {
        client,
        number,
        write,
        start,
        end,
        called: false,
    }
}

fn enqueue(object: &mut Object, lock: Lock) -> Vec<LockNotice> {
    let mut tell = Vec::new();
    object.enqueue(lock, growth(true), &mut tell);
    tell
}

fn cancel(object: &mut Object, client: u32, number: u32) -> Vec<LockNotice> {
    let mut tell = Vec::new();
    object.cancel(client, number, growth(true), &mut tell);
    tell
}

fn granted(start: u64, end: u64) -> impl Fn(&LockNotice) -> bool {
    move |tell| matches!(tell, LockNotice::Granted(lock) if (lock.start, lock.end) == (start, end))
}

#[test]
fn the_first_lock_is_all_and_the_second_what_the_first_leaves() {
    let mut object = Object::default();
    let first = enqueue(&mut object, lock(1, 1, true, 0, 8));
    assert!(granted(0, u64::MAX)(&first[0]), "{first:?}");
    let second = enqueue(&mut object, lock(2, 1, true, 40, 48));
    assert!(matches!(second[..], [LockNotice::Blocking(it)] if it.client == 1));
    // Called back once, for any number of waiting clients.
    assert_eq!(enqueue(&mut object, lock(3, 1, true, 80, 88)), []);
    let both = cancel(&mut object, 1, 1);
    assert!(granted(0, 80)(&both[0]), "{both:?}");
    assert!(
        granted(48, u64::MAX)(&both[1]) || granted(80, u64::MAX)(&both[1]),
        "{both:?}"
    );
    assert_eq!(both.len(), 2);
}

#[test]
fn readers_share_and_a_writer_waits_for_all_of_them() {
    let mut object = Object::default();
    for client in 0..3 {
        let told = enqueue(&mut object, lock(client, 1, false, 0, 8));
        assert!(granted(0, u64::MAX)(&told[0]));
    }
    assert_eq!(enqueue(&mut object, lock(3, 1, true, 100, 104)).len(), 3);
    // Later requests wait behind the writer.
    let reader = enqueue(&mut object, lock(4, 1, false, 100, 104));
    assert!(matches!(reader[..], [LockNotice::Blocking(it)] if it.client == 3));
    assert_eq!(cancel(&mut object, 0, 1), []);
    assert_eq!(cancel(&mut object, 1, 1), []);
    let writer = cancel(&mut object, 2, 1);
    assert!(matches!(writer[..], [LockNotice::Granted(it)] if it.client == 3 && it.called));
    let reader = cancel(&mut object, 3, 1);
    assert!(granted(0, u64::MAX)(&reader[0]));
}

/// An object on whose first bytes N clients hold write locks.
fn held_by(clients: u32) -> Object {
    let locks = (0..clients).map(|it| lock(it, 1, true, it.into(), u64::from(it) + 1));
    Object {
        granted: locks.collect(),
        ..Object::default()
    }
}

/// With more than four that conflict nothing grows down, with more than 32 little up.
#[test]
fn locks_that_many_want_stay_small() {
    let told = |clients, write| {
        let number = 99;
        enqueue(&mut held_by(clients), lock(number, 1, write, 4000, 4004)).remove(0)
    };
    for (clients, write, start, end) in [
        (4, true, 4, u64::MAX),
        (5, true, 4000, u64::MAX),
        (32, true, 4000, u64::MAX),
        (33, true, 4000, 4100),
        (33, false, 4000, u64::MAX),
    ] {
        assert!(granted(start, end)(&told(clients, write)), "{clients}");
    }
}

#[test]
fn locks_are_as_aligned_as_what_was_asked_for() {
    let mut object = Object {
        granted: vec![lock(1, 1, true, 0, 20), lock(2, 1, true, 100, 108)],
        ..Object::default()
    };
    let told = enqueue(&mut object, lock(3, 1, true, 32, 48));
    assert!(granted(32, 96)(&told[0]), "{told:?}");
}

#[derive(Clone, Debug)]
enum Step {
    Enqueue(Lock),
    Cancel(prop::sample::Index),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let enqueue = (0..4_u32, any::<bool>(), 0..40_u64, 1..10_u64).prop_map(
        |(client, write, start, units)| {
            Step::Enqueue(lock(client, 0, write, start * 4, (start + units) * 4))
        },
    );
    let cancel = any::<prop::sample::Index>().prop_map(Step::Cancel);
    prop::collection::vec(prop_oneof![3 => enqueue, 2 => cancel], 1..80)
}

proptest! {
    /// Compared with a list of requests and messages: no two clients have conflicting locks, and no
    /// request waits without a holder. Each holder in the way was called back once, and in the end
    /// all requests were granted.
    #[test]
    fn no_two_have_conflicting_locks_and_all_get_theirs(steps in steps(), grow in any::<bool>()) {
        let growth = growth(grow);
        let mut object = Object::default();
        let mut asked: Vec<Lock> = Vec::new();
        let mut has: Vec<Lock> = Vec::new();
        let mut called: Vec<u32> = Vec::new();
        let mut next = 0;
        let mut all = steps.into_iter();
        loop {
            let mut tell = Vec::new();
            match all.next() {
                Some(Step::Enqueue(it)) => {
                    let it = Lock { number: next, ..it };
                    next += 1;
                    asked.push(it);
                    object.enqueue(it, growth, &mut tell);
                }
                Some(Step::Cancel(index)) if !has.is_empty() => {
                    let gone = has.remove(index.index(has.len()));
                    object.cancel(gone.client, gone.number, growth, &mut tell);
                }
                Some(Step::Cancel(_)) => continue,
                None => {
                    // Clients that were called back release their locks.
                    let Some(at) = has.iter().position(|it| called.contains(&it.number)) else {
                        break;
                    };
                    let gone = has.remove(at);
                    object.cancel(gone.client, gone.number, growth, &mut tell);
                }
            }
            for tell in tell {
                match tell {
                    LockNotice::Granted(lock) => {
                        let at = asked.iter().position(|it| it.number == lock.number).unwrap();
                        let wanted = asked.remove(at);
                        prop_assert!(lock.start <= wanted.start && wanted.end <= lock.end);
                        prop_assert!(grow || (lock.start, lock.end) == (wanted.start, wanted.end));
                        for other in &has {
                            let apart = lock.end <= other.start || other.end <= lock.start;
                            prop_assert!(apart || !lock.write && !other.write);
                        }
                        has.push(lock);
                    }
                    LockNotice::Blocking(lock) => {
                        prop_assert!(!called.contains(&lock.number));
                        called.push(lock.number);
                    }
                }
            }
            let mut granted: Vec<u32> = object.granted().iter().map(|it| it.number).collect();
            granted.sort_unstable();
            let mut expected: Vec<u32> = has.iter().map(|it| it.number).collect();
            expected.sort_unstable();
            prop_assert_eq!(granted, expected);
            // A waiting request waits for a client that was called back.
            for waits in &asked {
                let in_the_way = has.iter().chain(&asked);
                let told = in_the_way
                    .filter(|it| it.number != waits.number && it.conflicts(waits))
                    .any(|it| called.contains(&it.number));
                prop_assert!(told, "{waits:?}");
            }
        }
        prop_assert!(asked.is_empty(), "{asked:?}");
    }
}
