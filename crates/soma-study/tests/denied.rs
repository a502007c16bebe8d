//! C43: platforms that deny links and locks, or only pretend to have them.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]
#![cfg(target_os = "linux")]

mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use libc::c_long;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};
use soma_study::State;
use support::{Helper, check, folder, open, role, say, search, start};

const LEASE: Duration = Duration::from_secs(5);
const WORKERS: usize = 8;
const TOTAL: u64 = 100;

/// What makes links, and what locks.
#[cfg(target_arch = "x86_64")]
const LINKS: &[c_long] = &[libc::SYS_link, libc::SYS_linkat, libc::SYS_symlink, libc::SYS_symlinkat];
#[cfg(not(target_arch = "x86_64"))]
const LINKS: &[c_long] = &[libc::SYS_linkat, libc::SYS_symlinkat];
const LOCKS: &[c_long] = &[libc::SYS_flock];
/// A rename that refuses to replace, which the stores use where they may.
const RENAMES: &[c_long] = &[libc::SYS_renameat2];

/// Lets these system calls answer `errno` from now on in this thread and those it starts, 0 for "done" without doing it.
fn answer(calls: &[&[c_long]], errno: i32) {
    let rules: BTreeMap<_, _> =
        calls.iter().flat_map(|calls| calls.iter()).map(|call| (*call, vec![])).collect();
    let denied = SeccompAction::Errno(errno as u32);
    let target = std::env::consts::ARCH.try_into().unwrap();
    let program: BpfProgram =
        SeccompFilter::new(rules, SeccompAction::Allow, denied, target).unwrap().try_into().unwrap();
    seccompiler::apply_filter(&program).unwrap();
}

/// A worker on such a platform; nothing in a process that is no helper.
#[test]
fn helper() {
    let Some(words) = role() else { return };
    match words[0].as_str() {
        "no links, no locks" => answer(&[LINKS, LOCKS], libc::EPERM),
        "no such calls" => answer(&[LINKS, LOCKS, RENAMES], libc::ENOSYS),
        "no links, pretended locks" => {
            answer(&[LINKS], libc::EPERM);
            answer(&[LOCKS], 0);
        }
        other => panic!("there is no platform `{other}`"),
    }
    let link = std::fs::hard_link(std::env::current_exe().unwrap(), format!("{}/link", words[1]));
    assert!(link.is_err(), "the filter holds");
    let store = open(Path::new(&words[1]), LEASE);
    let digest = store.put(words[2].as_bytes()).unwrap();
    let is_owner = store.claim("owner", &digest, &BTreeMap::new()).unwrap();
    say("owner", &is_owner.to_string());
    search(&store, &words[2], TOTAL, State::Done, Duration::ZERO);
}

#[test]
fn c43_where_links_and_locks_are_denied_or_pretended_there_is_still_one_owner() {
    for platform in ["no links, no locks", "no such calls", "no links, pretended locks"] {
        let folder = folder();
        let path = folder.path().to_str().unwrap();
        let mut workers: Vec<Helper> =
            (0..WORKERS).map(|i| start(&[], &[platform, path, &format!("w{i}")])).collect();
        let owners = workers.iter_mut().filter_map(|one| (one.hear("owner") == "true").then_some(())).count();
        assert_eq!(owners, 1, "{platform}");
        workers.into_iter().for_each(Helper::wait);
        check(folder.path(), TOTAL);
    }
}
