//! Seals: one file read instead of many, and nothing lost where it is damaged, old or gone.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use soma_store::faulty::Faulty;
use soma_store::{Backend, Follower, Found, Memory, Options, Store};

const STUDY: &str = "widths";
const N_LEDGERS: usize = 50;

/// Writes a ledger of two records, and ends.
fn write(backend: &Arc<dyn Backend>, number: usize) {
    let store = Store::over(Arc::clone(backend), Options::default()).unwrap();
    for _ in 0..2 {
        let record = format!(r#"{{"kind":"discard","trial":{number}}}"#);
        store.study(STUDY).write(record.as_bytes(), false).unwrap();
    }
}

fn open(backend: &Arc<dyn Backend>) -> Store {
    Store::over(Arc::clone(backend), Options::default()).unwrap()
}

/// Everything a reader is handed out, in an order of its own.
fn read(follower: &mut Follower) -> Vec<(String, u64, String)> {
    let mut lines = Vec::new();
    follower
        .read_on(Duration::ZERO, &mut |found| match found {
            Found::Line { name, offset, line, .. } => {
                lines.push((name.to_string(), offset, String::from_utf8(line.to_vec()).unwrap()));
            }
            other => panic!("{other:?}"),
        })
        .unwrap();
    lines.sort();
    lines
}

fn read_all(backend: &Arc<dyn Backend>) -> Vec<(String, u64, String)> {
    read(&mut open(backend).study(STUDY).follower())
}

fn sealed() -> Arc<dyn Backend> {
    let backend: Arc<dyn Backend> = Arc::new(Memory::new());
    open(&backend).study(STUDY).write_document(1, br#"{"name":"widths"}"#).unwrap();
    (0..N_LEDGERS).for_each(|number| write(&backend, number));
    let sealed = open(&backend).study(STUDY).seal().unwrap().unwrap();
    assert_eq!(sealed.n_ledgers, N_LEDGERS);
    backend
}

#[test]
fn a_sealed_study_is_read_from_the_seal_alone() {
    let disk = Faulty::new();
    let backend: Arc<dyn Backend> = Arc::new(disk.clone());
    (0..N_LEDGERS).for_each(|number| write(&backend, number));
    let plain = read_all(&backend);
    assert_eq!(plain.len(), N_LEDGERS * 4);
    open(&backend).study(STUDY).seal().unwrap().unwrap();
    disk.set_readable(&format!("studies/{STUDY}/ledger"), false);
    assert_eq!(read_all(&backend), plain);
}

#[test]
fn what_comes_after_a_seal_is_read_behind_it() {
    let backend = sealed();
    let (growing, store) = (open(&backend), open(&backend));
    growing.study(STUDY).write(br#"{"kind":"alive"}"#, false).unwrap();
    assert_eq!(store.study(STUDY).seal().unwrap().unwrap().n_ledgers, N_LEDGERS + 1);
    assert_eq!(store.study(STUDY).seal().unwrap(), None, "nothing is new");
    growing.study(STUDY).write(br#"{"kind":"alive"}"#, false).unwrap();
    let mut follower = store.study(STUDY).follower();
    assert_eq!(read(&mut follower).len(), N_LEDGERS * 4 + 3);
    growing.study(STUDY).write(br#"{"kind":"alive"}"#, false).unwrap();
    write(&backend, 99);
    assert_eq!(read(&mut follower).len(), 5);
    assert_eq!(backend.list("studies/widths/seals").unwrap(), ["2"], "an older seal is taken away");
}

#[test]
fn a_damaged_seal_hides_nothing_and_verify_tells() {
    let backend = sealed();
    let (key, plain) = ("studies/widths/seals/1", {
        let unsealed = sealed();
        unsealed.remove("studies/widths/seals/1").unwrap();
        read_all(&unsealed).len()
    });
    let whole = backend.read(key).unwrap().unwrap();
    let expected = read_all(&backend);
    assert_eq!(expected.len(), plain);
    let cuts = [0, 1, 100, whole.len() / 2, whole.len() - 1].map(|cut| whole[..cut].to_vec());
    let flips = (0..whole.len()).step_by(whole.len() / 97).map(|at| {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        damaged
    });
    for damaged in flips.chain(cuts) {
        backend.replace(key, &damaged).unwrap();
        assert_eq!(read_all(&backend), expected);
        let found = open(&backend).verify().unwrap();
        assert_eq!((found.seals, found.damage.len()), (0, 1), "{:?}", found.damage);
        assert!(found.damage[0].what.contains("nothing is lost"), "{}", found.damage[0]);
    }
    assert!(open(&backend).study(STUDY).seal().unwrap().is_some(), "a damaged seal is made anew");
    assert!(open(&backend).verify().unwrap().is_sound());
}

#[test]
fn c18_a_ledger_that_was_removed_does_not_come_back_from_a_seal() {
    let backend = sealed();
    let first = backend.list("studies/widths/ledger").unwrap().remove(0);
    backend.remove(&format!("studies/widths/ledger/{first}")).unwrap();
    let lines = read_all(&backend);
    assert_eq!(lines.len(), (N_LEDGERS - 1) * 4);
    assert!(lines.iter().all(|(name, ..)| !first.starts_with(name)));
}

#[test]
fn sealing_races_with_writers_and_other_sealers() {
    let folder = tempfile::tempdir().unwrap();
    let backend: Arc<dyn Backend> = Arc::new(soma_store::Folder::new(folder.path(), false, false).unwrap());
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let backend = &backend;
            scope
                .spawn(move || (0..N_LEDGERS).for_each(|number| write(backend, writer * N_LEDGERS + number)));
            scope.spawn(move || (0..20).for_each(|_| _ = open(backend).study(STUDY).seal().unwrap()));
            scope.spawn(move || (0..20).for_each(|_| drop(read_all(backend))));
        }
    });
    assert_eq!(read_all(&backend).len(), 2 * N_LEDGERS * 4);
    assert!(open(&backend).verify().unwrap().damage.iter().all(|one| one.what.contains("document")));
}

#[test]
fn a_seal_of_version_1_reads_and_is_what_this_build_writes() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let published = std::fs::read(fixtures.join("v1_seal/1")).unwrap();
    let backend: Arc<dyn Backend> = Arc::new(Memory::new());
    for entry in std::fs::read_dir(fixtures.join("v1/studies/widths/ledger")).unwrap() {
        let entry = entry.unwrap();
        let key = format!("studies/widths/ledger/{}", entry.file_name().to_str().unwrap());
        backend.create(&key, &std::fs::read(entry.path()).unwrap()).unwrap();
    }
    let plain = read_all(&backend);
    assert_eq!(open(&backend).study(STUDY).seal().unwrap().unwrap().n_ledgers, 2);
    let ours = backend.read("studies/widths/seals/1").unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&published));
    assert_eq!(read_all(&backend), plain);
}

#[test]
#[cfg(unix)]
fn what_others_put_among_the_seals_stops_nobody_and_seals_do_not_pile_up() {
    let folder = tempfile::tempdir().unwrap();
    let backend: Arc<dyn Backend> = Arc::new(soma_store::Folder::new(folder.path(), false, false).unwrap());
    write(&backend, 0);
    let seals = folder.path().join("studies").join(STUDY).join("seals");
    std::fs::create_dir_all(seals.join("60")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", seals.join("61")).unwrap();
    for odd in ["0", "07", "18446744073709551615", "18446744073709551616"] {
        std::fs::write(seals.join(odd), b"{\"kind\":\"seal\"}\n").unwrap();
    }
    let parts = r#"[{"ledger":"a","bytes":18446744073709551615,"crc":0},{"ledger":"b","bytes":18446744073709551615,"crc":0}]"#;
    let head = format!(r#"{{"kind":"seal","version":1,"parts":{parts}"#);
    let sum = crc32fast::hash(head.as_bytes());
    std::fs::write(seals.join("62"), format!("{head},\"sum\":\"{sum:08x}\"}}\n")).unwrap();
    for more in 1..5 {
        write(&backend, more);
        assert_eq!(open(&backend).study(STUDY).seal().unwrap().unwrap().n_ledgers, more + 1);
        assert_eq!(read_all(&backend).len(), 4 * (more + 1));
        let readable = backend.list(&format!("studies/{STUDY}/seals")).unwrap();
        let ours: Vec<_> = readable.iter().filter(|entry| entry.starts_with('6') && *entry != "60").collect();
        assert_eq!(ours, [&(62 + more).to_string()]);
    }
}
