//! What every backend must hold: call [`check`] with a maker of empty ones, from a test.
//!
//! A backend that passes here keeps the promises that the store builds on: exclusive creation among threads, content
//! that appears whole, appending that readers can follow, keys that never reach outside.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::backend::{Append, Backend, Tail};

/// Callers at once where only one may win.
const CALLERS: usize = 8;
/// Rounds of every race.
const ROUNDS: usize = 50;

/// Runs every check, each on a backend of its own.
///
/// # Panics
/// The backend does not hold what it must; the text says what.
pub fn check(make: impl Fn() -> Arc<dyn Backend>) {
    nothing_is_there_at_first(&*make());
    exactly_one_mark_wins(&make());
    exactly_one_create_wins_and_is_seen_whole(&make());
    a_replacement_is_seen_whole(&make());
    listing_names_what_is_right_under_a_folder(&*make());
    a_watch_misses_nothing(&*make());
    appending_is_followed_from_any_offset(&*make());
    an_appended_key_cannot_be_appended_twice(&*make());
    what_is_removed_is_gone(&*make());
    the_storage_has_one_clock(&*make());
}

fn nothing_is_there_at_first(backend: &dyn Backend) {
    assert_eq!(backend.read("a/b").expect("reading a missing key is no error"), None);
    assert!(!backend.exists("a/b").expect("asking for a missing key is no error"));
    assert_eq!(backend.modified("a/b").expect("asking for a missing key is no error"), None);
    assert!(backend.list("a").expect("listing a missing folder is no error").is_empty());
    assert!(!backend.remove("a/b").expect("removing a missing key is no error"));
    let mut into = Vec::with_capacity(8);
    assert_eq!(
        backend.follow("a/b").read_on(0, &mut into).expect("following a missing key is no error"),
        Tail::Gone
    );
}

/// Calls `run` from many threads at once, and answers how many said true.
fn race(run: impl Fn(usize) -> bool + Sync) -> usize {
    let barrier = Barrier::new(CALLERS);
    std::thread::scope(|scope| {
        let (barrier, run) = (&barrier, &run);
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                scope.spawn(move || {
                    barrier.wait();
                    run(caller)
                })
            })
            .collect();
        callers.into_iter().map(|caller| usize::from(caller.join().expect("no caller panics"))).sum()
    })
}

fn exactly_one_mark_wins(backend: &Arc<dyn Backend>) {
    for round in 0..ROUNDS {
        let key = format!("marks/{round}");
        let winners = race(|_| backend.mark(&key).expect("marking works"));
        assert_eq!(winners, 1, "{winners} callers marked `{key}`");
        assert!(backend.exists(&key).expect("asking works"), "what is marked is there");
        assert!(!backend.mark(&key).expect("marking works"), "what is marked stays marked");
    }
}

fn exactly_one_create_wins_and_is_seen_whole(backend: &Arc<dyn Backend>) {
    for round in 0..ROUNDS {
        let key = format!("created/deep/er/{round}");
        let content = |caller: usize| vec![caller as u8; 100_000];
        let winners = race(|caller| {
            let won = backend.create(&key, &content(caller)).expect("creating works");
            let seen = backend.read(&key).expect("reading works").expect("after a create something is there");
            assert!(
                seen.len() == 100_000 && seen.iter().all(|byte| *byte == seen[0]),
                "content was seen in part"
            );
            assert!(!won || seen[0] == caller as u8, "the winner's content was replaced");
            won
        });
        assert_eq!(winners, 1, "{winners} callers created `{key}`");
    }
}

fn a_replacement_is_seen_whole(backend: &Arc<dyn Backend>) {
    backend.replace("name", &vec![0; 50_000]).expect("replacing what is not there creates it");
    race(|caller| {
        for round in 0..ROUNDS {
            if caller % 2 == 0 {
                backend.replace("name", &vec![round as u8; 50_000]).expect("replacing works");
            } else {
                let seen = backend.read("name").expect("reading works").expect("it is always there");
                assert!(
                    seen.len() == 50_000 && seen.iter().all(|byte| *byte == seen[0]),
                    "content was seen in part"
                );
            }
        }
        true
    });
}

fn listing_names_what_is_right_under_a_folder(backend: &dyn Backend) {
    for key in ["f/a", "f/b", "f/sub/c", "fg/d"] {
        assert!(backend.create(key, b"x").expect("creating works"));
    }
    let mut listed = backend.list("f").expect("listing works");
    listed.sort();
    assert_eq!(listed, ["a", "b", "sub"]);
}

fn a_watch_misses_nothing(backend: &dyn Backend) {
    let mut watch = backend.watch("watched");
    let mut seen = 0;
    for round in 0..ROUNDS {
        assert!(backend.mark(&format!("watched/{round}")).expect("marking works"));
        if let Some(entries) = watch.changed().expect("watching works") {
            seen = entries.len();
        }
        assert_eq!(seen, round + 1, "an entry was missed");
    }
    assert!(backend.remove("watched/0").expect("removing works"));
    assert_eq!(watch.changed().expect("watching works").map(|entries| entries.len()), Some(ROUNDS - 1));
}

fn begin(backend: &dyn Backend, key: &str) -> Box<dyn Append> {
    backend.append(key).expect("beginning works").expect("the key is free")
}

fn appending_is_followed_from_any_offset(backend: &dyn Backend) {
    let mut end = begin(backend, "ledger/one");
    let mut follow = backend.follow("ledger/one");
    let mut whole = Vec::new();
    for round in 0..ROUNDS {
        let part = format!("{round}\n").repeat(round).into_bytes();
        end.append(&part).expect("appending works");
        let before = whole.len();
        whole.extend_from_slice(&part);
        let mut read = Vec::with_capacity(part.len() + 1);
        let found = follow.read_on(before as u64, &mut read).expect("following works");
        assert_eq!(
            (found, &read[..]),
            (Tail::Read(part.len()), &part[..]),
            "what is appended is seen at once"
        );
        if round % 10 == 0 {
            follow.rest();
        }
    }
    end.sync().expect("syncing works");
    end.publish().expect("publishing works");
    assert!(!end.is_torn() && end.is_there().expect("asking works"));
    assert_eq!(backend.read("ledger/one").expect("reading works"), Some(whole));
}

fn an_appended_key_cannot_be_appended_twice(backend: &dyn Backend) {
    let _end = begin(backend, "ledger/two");
    assert!(
        backend.append("ledger/two").expect("asking works").is_none(),
        "two processes append to one file"
    );
    assert!(!backend.create("ledger/two", b"x").expect("asking works"));
}

fn what_is_removed_is_gone(backend: &dyn Backend) {
    let mut end = begin(backend, "ledger/three");
    end.append(b"x\n").expect("appending works");
    let mut follow = backend.follow("ledger/three");
    assert!(backend.remove("ledger/three").expect("removing works"));
    follow.rest();
    assert_eq!(follow.read_on(0, &mut Vec::with_capacity(8)).expect("following works"), Tail::Gone);
    assert!(!end.is_there().expect("asking works"), "a writer must learn that its file was taken away");
    assert!(backend.create("ledger/three", b"y").expect("creating works"), "a removed key is free");
}

fn the_storage_has_one_clock(backend: &dyn Backend) {
    let slack = Duration::from_secs(5);
    let before = backend.now().expect("the time can be asked").expect("a writable storage knows its time");
    assert!(backend.mark("stamped").expect("marking works"));
    let made = backend.modified("stamped").expect("asking works").expect("what is there has a time");
    let after = backend.now().expect("the time can be asked").expect("a writable storage knows its time");
    assert!(
        made + slack >= before && after + slack >= made,
        "{before:?}, {made:?} and {after:?} are of two clocks"
    );
}
