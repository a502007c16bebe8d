//! Stores and studies that are moved, replaced, put back or taken away under a process that works on them.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use soma_store::{Found, Options, Store};

/// A reader notices that files were replaced after a second.
const NOTICED: Duration = Duration::from_millis(1050);
const STUDY: &str = "widths";

fn open(folder: &Path) -> Store {
    Store::open(folder.to_str().unwrap()).unwrap()
}

fn write(store: &Store, trial: usize) -> soma_store::Result<()> {
    let record = format!(r#"{{"kind":"discard","trial":{trial}}}"#);
    store.study(STUDY).write(record.as_bytes(), false).map(drop)
}

/// The lines a fresh reader finds.
fn lines(folder: &Path) -> usize {
    let store = Store::open_with(folder.to_str().unwrap(), Options::default().with_read_only(true)).unwrap();
    read(&mut store.study(STUDY).follower()).0
}

/// Lines, and whether everything before them is to be forgotten.
fn read(follower: &mut soma_store::Follower) -> (usize, bool) {
    let (mut lines, mut is_reset) = (0, false);
    let each = &mut |found: Found<'_>| match found {
        Found::Reset => (lines, is_reset) = (0, true),
        Found::Line { .. } => lines += 1,
        other => panic!("{other:?}"),
    };
    follower.read_on(Duration::ZERO, each).unwrap();
    (lines, is_reset)
}

#[test]
fn c18_a_study_that_was_moved_away_is_noticed_as_one_that_was_removed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let study = store.study(STUDY);
    assert!(study.claim(0, 0).unwrap());
    write(&store, 0).unwrap();
    let studies = folder.path().join("studies");
    fs::rename(studies.join(STUDY), studies.join("elsewhere")).unwrap();
    assert!(study.is_taken_away(Duration::ZERO).unwrap());
    // Claims and records go where they are looked for, and not where the study went.
    assert!(study.claim(1, 0).unwrap());
    write(&store, 1).unwrap();
    assert_eq!(study.claims().unwrap(), [(1, 0)]);
    assert_eq!(lines(folder.path()), 2);
    assert_eq!(fs::read_dir(studies.join("elsewhere/claims")).unwrap().count(), 1);
}

#[test]
fn c18_who_has_no_ledger_open_claims_where_the_study_is_looked_for() {
    for has_closed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let other = open(folder.path());
        assert!(other.study(STUDY).claim(0, 0).unwrap());
        let options = Options::default().with_durable(false);
        let store = Store::open_with(folder.path().to_str().unwrap(), options).unwrap();
        let study = store.study(STUDY);
        assert!(study.is_claimed(0, 0).unwrap());
        assert!(!study.claim(0, 0).unwrap());
        if has_closed {
            assert!(study.claim(0, 1).unwrap());
            write(&store, 0).unwrap();
            study.close();
        }
        let studies = folder.path().join("studies");
        fs::rename(studies.join(STUDY), studies.join("elsewhere")).unwrap();
        assert!(study.claim(1, 0).unwrap());
        assert_eq!(study.claims().unwrap(), [(1, 0)]);
    }
}

#[test]
fn who_ends_says_so_in_a_store_that_was_moved() {
    let above = tempfile::tempdir().unwrap();
    let (folder, elsewhere) = (above.path().join("store"), above.path().join("elsewhere"));
    let store = open(&folder);
    write(&store, 0).unwrap();
    fs::rename(&folder, &elsewhere).unwrap();
    drop(store);
    assert_eq!(lines(&elsewhere), 3);
}

#[test]
fn a_store_that_was_moved_or_unmounted_is_not_begun_anew_by_who_worked_on_it() {
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("store");
    let store = open(&folder);
    write(&store, 0).unwrap();
    fs::rename(&folder, above.path().join("elsewhere")).unwrap();
    // An empty folder is what a mount leaves behind.
    for is_mount_point in [false, true] {
        if is_mount_point {
            fs::create_dir(&folder).unwrap();
        }
        assert_eq!(store.study(STUDY).is_taken_away(Duration::ZERO).unwrap(), !is_mount_point);
        for refused in [store.study(STUDY).claim(1, 0).map(drop), write(&store, 1), store.put(b"x").map(drop)]
        {
            let refused = refused.unwrap_err();
            let why = std::error::Error::source(&refused).unwrap().to_string();
            assert!(why.contains("moved, removed or unmounted"), "{refused}: {why}");
        }
        assert_eq!(fs::read_dir(&folder).map_or(0, Iterator::count), 0);
    }
    // Opened anew it is begun anew.
    write(&open(&folder), 1).unwrap();
    write(&store, 2).unwrap();
    assert_eq!((lines(&folder), lines(&above.path().join("elsewhere"))), (3, 2));
}

#[test]
fn a_copy_that_is_brought_up_to_date_file_by_file_is_read_on() {
    let [folder, copy] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let store = open(folder.path());
    write(&store, 0).unwrap();
    fs::copy(folder.path().join("format"), copy.path().join("format")).unwrap();
    let (from, to) = (folder.path().join("studies/widths/ledger"), copy.path().join("studies/widths/ledger"));
    fs::create_dir_all(&to).unwrap();
    let bring = |missing: usize| {
        for entry in fs::read_dir(&from).unwrap() {
            let name = entry.unwrap().file_name();
            let bytes = fs::read(from.join(&name)).unwrap();
            fs::write(to.join(".beside"), &bytes[..bytes.len() - missing]).unwrap();
            fs::rename(to.join(".beside"), to.join(&name)).unwrap();
        }
    };
    // One copy is cut in the middle of a line.
    for (round, missing) in [5, 0].into_iter().enumerate() {
        bring(missing);
        let reader = Store::read_only(copy.path().to_str().unwrap()).unwrap();
        let mut follower = reader.study(STUDY).follower();
        let known = 2 + 2 * round;
        assert_eq!(read(&mut follower), (known - missing.min(1), false));
        for more in 1..3 {
            write(&store, known + more).unwrap();
            bring(0);
            std::thread::sleep(NOTICED);
            assert_eq!(read(&mut follower), (known + more, true), "everything comes again");
        }
        assert_eq!(read(&mut follower), (0, false));
    }
}

#[test]
fn a_ledger_that_is_put_back_as_it_was_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    write(&store, 0).unwrap();
    let ledger = store.study(STUDY).own_ledger().unwrap();
    let ledger = folder.path().join(format!("studies/widths/ledger/{ledger}.jsonl"));
    let old = fs::read(&ledger).unwrap();
    let mut follower = store.study(STUDY).follower();
    (1..5).for_each(|more| write(&store, more).unwrap());
    assert_eq!(read(&mut follower).0, 6);
    fs::write(&ledger, &old).unwrap();
    std::thread::sleep(NOTICED);
    assert_eq!(read(&mut follower), (2, true));
    write(&store, 9).unwrap();
    assert_eq!(read(&mut follower), (1, false));
}

#[test]
fn a_seal_that_holds_more_than_its_ledger_is_no_reason_to_begin_anew_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let store = open(folder.path());
        (0..3).for_each(|trial| write(&store, trial).unwrap());
        // As one that was killed: it never says that it is done.
        std::mem::forget(store.study(STUDY));
        std::mem::forget(store);
        let other = Store::open_with(
            folder.path().to_str().unwrap(),
            Options::default().with_lease(Duration::from_secs(9)),
        );
        write(&other.unwrap(), 9).unwrap();
    }
    let store = open(folder.path());
    store.study(STUDY).seal().unwrap().unwrap();
    let whole = lines(folder.path());
    for entry in fs::read_dir(folder.path().join("studies/widths/ledger")).unwrap() {
        let path = entry.unwrap().path();
        let size = fs::metadata(&path).unwrap().len();
        fs::OpenOptions::new().write(true).open(path).unwrap().set_len(size / 2).unwrap();
    }
    let mut follower = Store::read_only(folder.path().to_str().unwrap()).unwrap().study(STUDY).follower();
    assert_eq!(read(&mut follower), (whole, false));
    std::thread::sleep(NOTICED);
    assert_eq!(read(&mut follower), (0, false));
}

#[test]
#[cfg(target_os = "linux")]
fn two_folders_whose_names_read_alike_are_two_stores() {
    use std::os::unix::ffi::OsStrExt;
    let above = tempfile::tempdir().unwrap();
    let stores = [b"\xff", b"\xfe"].map(|name| {
        let folder = above.path().join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir(&folder).unwrap();
        // A path that does not read as text is reached through one that does.
        let link = above.path().join(format!("{:x}", name[0]));
        std::os::unix::fs::symlink(folder, &link).unwrap();
        open(&link)
    });
    let digest = stores[0].put(b"weights").unwrap();
    assert!(!stores[1].contains(&digest).unwrap());
}

#[test]
#[cfg(target_os = "linux")]
fn thousands_of_studies_are_read_with_a_part_of_the_files_a_process_may_open() {
    use rustix::process::{Resource, getrlimit};
    let folder = tempfile::tempdir().unwrap();
    let store =
        Store::open_with(folder.path().to_str().unwrap(), Options::default().with_durable(false)).unwrap();
    let limit = getrlimit(Resource::Nofile).current.map_or(1024, |all| (all / 4).min(1024)) as usize;
    let mut followers = Vec::new();
    for number in 0..limit {
        let study = store.study(&number.to_string());
        study.write(br#"{"kind":"discard","trial":0}"#, false).unwrap();
        // As one that was killed: not closed, and read on.
        let ledger = study.ledger_path(&study.own_ledger().unwrap());
        let killed = fs::read(&ledger).unwrap();
        study.close();
        fs::write(&ledger, killed).unwrap();
        let mut follower = study.follower();
        assert_eq!(read(&mut follower).0, 2);
        followers.push((study, follower));
    }
    // A folder and a ledger of each would be twice as many; other tests have some too.
    let n_open = fs::read_dir("/proc/self/fd").unwrap().count();
    assert!(n_open < limit + 60, "{n_open} files are open");
    for (study, follower) in &mut followers {
        study.write(br#"{"kind":"discard","trial":2}"#, false).unwrap();
        assert_eq!(read(follower), (2, false), "the new ledger");
        study.close();
    }
}
