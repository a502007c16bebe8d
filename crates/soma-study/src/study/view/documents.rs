//! What a study is about: the versions of its document.

use serde::Deserialize;
use soma_store::{Damage, StoreError, StudyRecords};

use super::View;
use crate::error::SpaceError;
use crate::goal::Goal;
use crate::space::Space;
use crate::study::error::StudyError;

/// The newest version of the document this build reads and writes.
const DOCUMENT_FORMAT: u32 = 1;

/// One version of what a study is about.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) space: Space,
    pub(crate) goal: Option<Goal>,
}

#[derive(Deserialize)]
struct DocumentFile {
    format: u32,
    space: String,
    goal: Option<String>,
}

impl View {
    /// A version of the document, counted from 1, read when it is first needed. A damaged one is told as damage.
    pub(crate) fn document(&mut self, version: u32, records: &StudyRecords) -> Option<&Document> {
        while self.documents.len() < version as usize {
            let next = self.documents.len() as u32 + 1;
            match self.read_document(next, records) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.document_damage(next, error, records);
                    return None;
                }
            }
        }
        self.documents.get((version as usize).checked_sub(1)?)
    }

    pub(super) fn document_damage(&mut self, version: u32, error: StudyError, records: &StudyRecords) {
        let path = records.document_path(version);
        if self.damage.iter().any(|known| known.path == path) {
            return;
        }
        let what = match error {
            StudyError::Document { what, .. } | StudyError::Store(StoreError::Damaged { what, .. }) => what,
            other => other.to_string(),
        };
        self.damage.push(Damage::in_file(path, 0, 0, &format!("{what}; its points do not read")));
    }

    /// Reads all versions of the document there are, for looking, and answers whether there is a study: one that does
    /// not read, or is gone, is damage and costs the points that are of it.
    pub(crate) fn look_for_documents(&mut self, records: &StudyRecords) -> Result<bool, StudyError> {
        match self.documents(records).map(<[Document]>::len) {
            Ok(0) if self.trials.all.is_empty() => return Ok(false),
            Ok(0) => self.document_damage(1, StudyError::no_document(records.document_path(1)), records),
            Ok(_) => {}
            Err(error @ (StudyError::Document { .. } | StudyError::Store(StoreError::Damaged { .. }))) => {
                let next = self.documents.len() as u32 + 1;
                self.document_damage(next, error, records);
            }
            Err(other) => return Err(other),
        }
        Ok(true)
    }

    /// Reads all versions of the document there are.
    pub(crate) fn documents(&mut self, records: &StudyRecords) -> Result<&[Document], StudyError> {
        while self.read_document(self.documents.len() as u32 + 1, records)? {}
        Ok(&self.documents)
    }

    /// The versions that were read so far.
    pub(crate) fn known_documents(&self) -> &[Document] {
        &self.documents
    }

    fn read_document(&mut self, version: u32, records: &StudyRecords) -> Result<bool, StudyError> {
        let Some(bytes) = records.document(version)? else { return Ok(false) };
        let path = || records.document_path(version);
        let unreadable = |what: String| StudyError::Document { path: path(), what };
        let file: DocumentFile = serde_json::from_slice(&bytes).map_err(|e| unreadable(e.to_string()))?;
        if file.format > DOCUMENT_FORMAT {
            let (found, known) = (u64::from(file.format), u64::from(DOCUMENT_FORMAT));
            return Err(StoreError::NewerVersion { path: path(), found, known }.into());
        }
        let space = file.space.parse().map_err(|e: SpaceError| unreadable(e.to_string()))?;
        let goal = file
            .goal
            .map(|goal| goal.parse())
            .transpose()
            .map_err(|e: SpaceError| unreadable(e.to_string()))?;
        self.documents.push(Document { space, goal });
        Ok(true)
    }

    /// Which end of the score is good, as the study's newest document says.
    pub(crate) fn goal(&self) -> Option<Goal> {
        self.documents.iter().rev().find_map(|document| document.goal)
    }
}
