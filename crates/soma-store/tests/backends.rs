//! Every backend holds what a backend must.

use std::sync::Arc;

use soma_store::faulty::Faulty;
use soma_store::{Folder, Memory, conformance};

#[test]
fn memory_conforms() {
    conformance::check(|| Arc::new(Memory::new()));
}

#[test]
fn a_folder_conforms() {
    // In memory where the system has such a file system: the barriers are called, and no disk turns.
    let memory = std::path::Path::new("/dev/shm");
    let all = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let number = std::cell::Cell::new(0);
    conformance::check(|| {
        number.set(number.get() + 1);
        Arc::new(Folder::new(&all.path().join(number.get().to_string()), true, false).unwrap())
    });
}

#[test]
fn a_faulty_backend_conforms_until_something_is_planned() {
    conformance::check(|| Arc::new(Faulty::new()));
}
