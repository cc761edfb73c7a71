//! Priorities of I/O, as the scenario writes them.

use std::path::Path;

use headrace_spec::{IoClass, IoPriority, load};

fn priority(text: &str) -> IoPriority {
    let scenario = format!(
        "system = \"ext4\"\n[machine.device]\nread_rate = \"60 MB/s\"\nwrite_rate = \"60 MB/s\"\n\
         [[workload]]\nblock = \"1 MiB\"\nio.priority = {text:?}\n"
    );
    let loaded = load(&scenario, Path::new("my.toml"), &[]);
    loaded
        .unwrap_or_else(|error| panic!("{error}"))
        .scenario
        .workload[0]
        .io
        .priority
}

#[test]
fn classes_and_levels_are_read_as_they_are_written() {
    let mut numbers = Vec::new();
    for class in [IoClass::Realtime, IoClass::BestEffort] {
        for level in 0..8 {
            let read = priority(&format!("{} {level}", class.word()));
            assert_eq!((read.class(), read.level()), (class, level));
            assert_eq!(read, IoPriority::new(class, level));
            numbers.push(read.number());
            let written = serde_json::to_value(read).expect("a text");
            assert_eq!(written, format!("{} {level}", class.word()));
        }
        assert_eq!(priority(class.word()), IoPriority::new(class, 4));
    }
    let idle = priority("idle");
    assert_eq!((idle.class(), idle.level()), (IoClass::Idle, 7));
    assert_eq!(serde_json::to_value(idle).expect("a text"), "idle");
    numbers.push(idle.number());
    // The higher comes first, and each is another.
    assert!(numbers.is_sorted_by(|one, other| one < other));
    assert!(idle.number() < IoPriority::COUNT);
    assert_eq!(IoPriority::default(), priority("best-effort 4"));
}
