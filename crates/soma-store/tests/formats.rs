//! Every published version reads, for ever. The fixtures are never edited: a new version adds a folder.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::too_many_lines, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

use soma_store::{Digest, Options, Store, StoreError};

fn v1() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/v1")
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn version_1_reads_whole() {
    let store = Store::read_only(v1().to_str().unwrap()).unwrap();
    let found = store.verify().unwrap();
    assert!(found.is_sound() && found.strays.is_empty(), "{:?} {:?}", found.damage, found.strays);
    assert_eq!((found.blobs, found.names, found.studies, found.claims), (1, 1, 1, 4));
    assert_eq!((found.ledgers, found.records), (2, 15));
    assert_eq!(store.names("models/").unwrap(), ["models/best"]);
    let best = store.resolve("models/best").unwrap().unwrap();
    assert_eq!(best.metadata["epoch"], "7");
    assert_eq!(store.get(&best.digest).unwrap(), b"hello");
    assert_eq!(store.studies().unwrap(), ["widths"]);
}

#[test]
fn what_this_build_writes_is_byte_for_byte_what_the_fixture_holds() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    let digest = store.put(b"hello").unwrap();
    store.bind("models/best", &digest, &[("epoch".to_owned(), "7".to_owned())].into()).unwrap();
    let records = store.study("widths");
    records.write_document(1, &without_sum(&v1().join("studies/widths/study.json"))).unwrap();
    let digest = digest.to_string();
    let blob = format!("blobs/{}/{}", &digest[..2], &digest[2..]);
    let name = std::fs::read_dir(v1().join("names")).unwrap().next().unwrap().unwrap().file_name();
    for file in ["format", &blob, &format!("names/{}", name.to_str().unwrap()), "studies/widths/study.json"] {
        let (ours, published) =
            (std::fs::read(folder.path().join(file)).unwrap(), std::fs::read(v1().join(file)).unwrap());
        assert_eq!(String::from_utf8_lossy(&ours), String::from_utf8_lossy(&published), "{file}");
    }
}

fn without_sum(path: &Path) -> Vec<u8> {
    let text = std::fs::read_to_string(path).unwrap();
    let (body, _) = text.rsplit_once(",\"sum\":").unwrap();
    format!("{body}}}").into_bytes()
}

#[test]
fn reading_creates_nothing_and_a_store_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("runs");
    let error = Store::read_only(missing.to_str().unwrap()).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error}");
    let error = Store::read_only(folder.path().to_str().unwrap()).unwrap_err();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

    copy(&v1(), &missing);
    let files = || walk(&missing);
    let before = files();
    let store = Store::read_only(missing.to_str().unwrap()).unwrap();
    store.verify().unwrap();
    store.study("nobody began this").follower().read_on(std::time::Duration::ZERO, &mut |_| {}).unwrap();
    let refused = [
        store.put(b"x").map(drop).unwrap_err(),
        store.bind("n", &Digest::of(b"hello"), &std::collections::BTreeMap::new()).unwrap_err(),
        store.study("widths").claim(9, 0).map(drop).unwrap_err(),
        store.study("widths").write(br#"{"kind":"alive"}"#, true).map(drop).unwrap_err(),
    ];
    assert!(refused.iter().all(|error| matches!(error, StoreError::ReadOnly { .. })), "{refused:?}");
    assert_eq!(files(), before);
}

fn walk(path: &Path) -> Vec<PathBuf> {
    let mut found = vec![path.to_owned()];
    if path.is_dir() {
        let mut entries: Vec<_> =
            std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        found.extend(entries.iter().flat_map(|entry| walk(entry)));
    }
    found
}

#[test]
fn a_newer_version_is_an_error_that_names_both() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    for (text, newer) in [("soma store, version 2\n", true), ("something else\n", false), ("", false)] {
        std::fs::write(folder.path().join("format"), text).unwrap();
        for options in [Options::default(), Options::default().with_read_only(true)] {
            match Store::open_with(path, options).unwrap_err() {
                StoreError::NewerVersion { found: 2, known: 1, .. } => assert!(newer),
                StoreError::Damaged { .. } => assert!(!newer),
                other => panic!("{other}"),
            }
        }
    }
    copy(&v1(), folder.path());
    let newer = b"{\"kind\":\"open\",\"version\":2";
    let mut line = newer.to_vec();
    line.extend(format!(",\"sum\":\"{:08x}\"}}\n", crc32fast::hash(newer)).bytes());
    std::fs::write(folder.path().join("studies/widths/ledger").join("00.jsonl"), line).unwrap();
    let store = Store::open(path).unwrap();
    let read = store.study("widths").follower().read_on(std::time::Duration::ZERO, &mut |_| {});
    assert!(matches!(read.unwrap_err(), StoreError::NewerVersion { found: 2, .. }));
}

#[test]
fn verify_names_every_damaged_place_and_reads_on() {
    let folder = tempfile::tempdir().unwrap();
    copy(&v1(), folder.path());
    let damage = |file: &Path, at: usize| {
        let mut bytes = std::fs::read(file).unwrap();
        bytes[at] ^= 1;
        std::fs::write(file, bytes).unwrap();
    };
    let files = walk(folder.path());
    let file = |part: &str| {
        files.iter().rfind(|file| file.is_file() && file.to_str().unwrap().contains(part)).unwrap()
    };
    damage(file("/blobs/"), 1);
    damage(file("/names/"), 12);
    damage(file("study.json"), 12);
    damage(file("/ledger/fed"), 100);
    let torn = std::fs::read(file("/ledger/012")).unwrap();
    std::fs::write(file("/ledger/012"), &torn[..torn.len() - 3]).unwrap();
    std::fs::write(folder.path().join("studies/widths/claims/stray"), "").unwrap();
    let store = Store::read_only(folder.path().to_str().unwrap()).unwrap();
    let found = store.verify().unwrap();
    let places: Vec<_> = found.damage.iter().map(|one| (one.path.as_str(), one.offset > 0)).collect();
    assert_eq!(found.damage.len(), 5, "{places:?}");
    for (part, is_inside) in [
        ("/blobs/", false),
        ("/names/", false),
        ("study.json", false),
        ("/ledger/fed", true),
        ("/ledger/012", true),
    ] {
        assert!(
            places.iter().any(|(path, inside)| path.contains(part) && *inside == is_inside),
            "{part} {places:?}"
        );
    }
    assert_eq!((found.records, found.strays.len()), (13, 1));
    assert!(matches!(store.get(&Digest::of(b"hello")).unwrap_err(), StoreError::BlobDamaged { size: 5, .. }));
    assert!(store.names("").unwrap().is_empty());
    // Putting the bytes again mends the blob.
    let store = Store::open(folder.path().to_str().unwrap()).unwrap();
    store.put(b"hello").unwrap();
    assert_eq!(store.get(&Digest::of(b"hello")).unwrap(), b"hello");
}
