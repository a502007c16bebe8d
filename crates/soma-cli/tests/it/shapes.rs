//! `docs/cli/json.md` and what the verbs write, member by member.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde_json::Value;

use crate::fixtures;
use crate::process::soma;

/// Member to its type, by the title of the section.
type Tables = BTreeMap<String, Vec<(String, String)>>;

fn documented() -> Tables {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli/json.md");
    let text = std::fs::read_to_string(path).unwrap();
    let mut tables = Tables::new();
    let mut title = "every".to_owned();
    for line in text.lines() {
        if let Some(next) = line.strip_prefix("## ") {
            next.clone_into(&mut title);
        } else if let Some(row) = line.strip_prefix("| `") {
            let (member, rest) = row.split_once("` | ").unwrap();
            let kind = rest.split(" | ").next().unwrap();
            tables.entry(title.clone()).or_default().push((member.to_owned(), kind.to_owned()));
        }
    }
    tables
}

/// The members that `verb` may write, those of a trial under the member that is one.
fn members(tables: &Tables, verb: &str) -> BTreeMap<String, String> {
    let mut members: BTreeMap<String, String> = tables["every"].iter().cloned().collect();
    for (member, kind) in tables.get(verb).into_iter().flatten() {
        if let Some(rest) = kind.strip_prefix("a trial") {
            let prefix = if member == "*" { String::new() } else { format!("{member}.") };
            let of_trial = tables["A trial"].iter();
            members.extend(of_trial.map(|(inner, kind)| (format!("{prefix}{inner}"), kind.clone())));
            if member != "*" && !member.ends_with("[]") {
                members.insert(member.clone(), format!("object{rest}"));
            }
        } else {
            members.insert(member.clone(), kind.clone());
        }
    }
    members
}

/// Every member of `value` under its path, with the word for its type.
fn walk(value: &Value, path: &str, seen: &mut BTreeSet<(String, &'static str)>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(text) if ["nan", "inf", "-inf"].contains(&text.as_str()) => "number",
        Value::String(_) => "text",
        Value::Array(items) => {
            for item in items {
                walk(item, &format!("{path}[]"), seen);
            }
            return;
        }
        Value::Object(entries) => {
            for (name, entry) in entries {
                // The names of dimensions are the study's.
                let name = if path.ends_with("point") { "*" } else { name };
                let dot = if path.is_empty() { "" } else { "." };
                walk(entry, &format!("{path}{dot}{name}"), seen);
            }
            "object"
        }
    };
    // An object in an array is named by its members alone.
    let is_named = !path.is_empty() && (kind != "object" || !path.ends_with("[]"));
    if is_named {
        seen.insert((path.to_owned(), kind));
    }
}

/// Compare what a verb wrote with what is documented of it: no member more, none less, and of the types it says.
pub fn compare(verb: &str, documents: &[Value]) {
    let members = members(&documented(), verb);
    let mut seen = BTreeSet::new();
    for document in documents {
        assert_eq!((&document["version"], &document["verb"]), (&1.into(), &verb.into()));
        walk(document, "", &mut seen);
    }
    for (path, kind) in &seen {
        let Some(said) = members.get(path) else { panic!("{verb}: `{path}` is not documented") };
        let fits = said == "any" || said.split(" or ").any(|one| one == *kind);
        assert!(fits, "{verb}: `{path}` is {kind}, documented as {said}");
    }
    for member in members.keys() {
        let is_written = seen.iter().any(|(path, _)| path == member);
        assert!(is_written, "{verb}: `{member}` is documented and never written");
    }
}

#[test]
fn every_member_is_documented_and_every_documented_member_is_written() {
    let stores = fixtures::of_every_kind();
    for (verb, runs) in fixtures::Kinds::json_runs() {
        let mut documents = Vec::new();
        for arguments in runs {
            let outcome = soma(stores.path(), &arguments);
            assert!(outcome.code <= 1 && !outcome.stdout.is_empty(), "{arguments:?}: {outcome}");
            documents.extend(outcome.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        }
        compare(verb, &documents);
    }
}
