//! `docs/cli` says what the argument definitions say.

use std::collections::BTreeSet;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli")
}

#[test]
fn every_page_is_the_one_that_the_definitions_make() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    for (name, text) in soma_cli::pages() {
        let path = folder().join(&name);
        if update {
            std::fs::create_dir_all(folder()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == text,
            "docs/cli/{name} has drifted: UPDATE_DOCS=1 cargo test -p soma-cli makes it anew"
        );
    }
}

#[test]
fn there_is_no_page_of_a_verb_that_is_gone() {
    let made: BTreeSet<String> = soma_cli::pages().into_iter().map(|(name, _)| name).collect();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "json.md" || made.contains(&name), "docs/cli/{name}");
    }
}

#[test]
fn json_has_a_section_for_every_verb() {
    let text = std::fs::read_to_string(folder().join("json.md")).unwrap();
    for (name, _) in soma_cli::pages().iter().filter(|(name, _)| name != "README.md") {
        let title = format!("\n## {}\n", name.trim_end_matches(".md"));
        assert!(text.contains(&title), "docs/cli/json.md lacks `{}`", title.trim());
    }
}

#[test]
fn the_lease_is_documented_in_the_same_words_everywhere() {
    let said = |verb: &str| {
        let pages = soma_cli::pages();
        let (_, page) = pages.iter().find(|(name, _)| *name == format!("{verb}.md")).unwrap();
        page.lines().find(|line| line.contains("--lease-secs <")).unwrap().to_owned()
    };
    insta::assert_snapshot!(said("abandoned"), @r"
    - `--lease-secs <SECS>`: The lease that the workers were given, in seconds: who is silent for longer counts as gone. No store records it, so say it where theirs is another one (default `120`)
    ");
    assert_eq!(said("inspect"), said("abandoned"));
    assert_eq!(said("watch"), said("abandoned"));
}
