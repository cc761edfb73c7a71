use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::*;

/// Works beside a host that answers at the loopback address.
fn beside(work: impl FnOnce(&str)) {
    let answering = Answering::listen("127.0.0.1:0", "secret").expect("it listens");
    let address = answering.address().expect("an address").to_string();
    let goes_on = AtomicBool::new(true);
    std::thread::scope(|scope| {
        scope.spawn(|| answer(&answering, || goes_on.load(Ordering::Relaxed)));
        work(&address);
        goes_on.store(false, Ordering::Relaxed);
    });
}

fn asked(address: &str, token: &str, sizes: &[u32]) -> Result<Vec<RoundTrips>, NetworkError> {
    ask(address, token, sizes, Duration::from_millis(5), |_| true)
}

#[test]
fn every_size_is_sent_there_and_back() {
    beside(|address| {
        let trips = asked(address, "secret", &[1, 1000, 1 << 20]).expect("answered");
        let sizes: Vec<u32> = trips.iter().map(|it| it.size).collect();
        assert_eq!(sizes, [1, 1000, 1 << 20]);
        assert!(
            trips
                .iter()
                .all(|it| it.times.len() >= 10 && it.times.min() > 0)
        );
    });
}

#[test]
fn who_does_not_know_the_token_is_refused_and_others_are_not() {
    beside(|address| {
        let refused = asked(address, "guess", &[1]);
        assert!(matches!(refused, Err(NetworkError::Refused)), "{refused:?}");
        assert!(asked(address, "secret", &[1]).is_ok());
    });
}

#[test]
fn a_stranger_that_sends_anything_is_left() {
    beside(|address| {
        let mut stranger = TcpStream::connect(address).expect("connected");
        stranger.write_all(&[0xff; 200]).expect("sent");
        drop(stranger);
        assert!(asked(address, "secret", &[8]).is_ok());
    });
}

#[test]
fn sizes_and_tokens_that_cannot_be_are_refused() {
    for size in [0, LARGEST_MESSAGE + 1] {
        assert!(matches!(
            asked("127.0.0.1:1", "x", &[size]),
            Err(NetworkError::Size(_))
        ));
    }
    for token in [String::new(), "x".repeat(65)] {
        assert!(matches!(
            asked("127.0.0.1:1", &token, &[1]),
            Err(NetworkError::Token)
        ));
    }
}

#[test]
fn a_host_that_is_not_there_is_named() {
    // Nothing listens at the port of a listener that is gone.
    let answering = Answering::listen("127.0.0.1:0", "secret").expect("it listens");
    let address = answering.address().expect("an address").to_string();
    drop(answering);
    let error = asked(&address, "secret", &[1])
        .expect_err("nobody")
        .to_string();
    assert!(error.contains(&address), "{error}");
}

#[test]
fn the_caller_breaks_off() {
    beside(|address| {
        let broken = ask(address, "secret", &[1], Duration::from_secs(60), |_| false);
        assert!(matches!(broken, Err(NetworkError::Interrupted)));
    });
}
