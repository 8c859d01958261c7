//! The questions that a compilation asks of a project's files, and their answers. A compilation is a
//! function of these answers, so equal answers mean an equal result.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::{Mutex, PoisonError};

use relay_bundle::Digest;
use relay_compiler::{Files, Listed, ReadError, Sources, Take};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::files::{Disk, ProjectFiles, State};

/// The files of a project on disk, which note each question.
pub(crate) struct Recorded {
    files: ProjectFiles<Disk>,
    asked: Rc<RefCell<Asked>>,
}

/// Questions and answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asked {
    #[serde(deserialize_with = "in_order")]
    files: BTreeMap<String, Answer>,
    folders: BTreeMap<String, String>,
}

/// The answer to the question for the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    /// The digest of the bytes, or the words of the error.
    is: String,
    /// The state before the bytes were read, if any later change is sure to give another one.
    state: Option<State>,
}

/// Reads a map that is written in order: it is made as a whole, in a seventh of the instructions of one insertion
/// after the other.
fn in_order<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Answer>, D::Error> {
    struct Rows;

    impl<'de> Visitor<'de> for Rows {
        type Value = Vec<(String, Answer)>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a map of answers")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut rows = Vec::new();
            while let Some(row) = map.next_entry()? {
                rows.push(row);
            }
            Ok(rows)
        }
    }

    Ok(from.deserialize_map(Rows)?.into_iter().collect())
}

/// The comparison of recorded answers with those of now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// All are equal, which the states of the files show.
    Same,
    /// All are equal, which some files had to be read for; with their states of now.
    Read(Asked),
    /// An answer differs.
    Different,
}

impl Recorded {
    /// Takes the files of a folder, of which nothing was asked yet.
    pub(crate) fn of(files: ProjectFiles<Disk>) -> Self {
        Self { files, asked: Rc::default() }
    }

    /// Returns the notes, which grow with each question.
    pub(crate) fn asked(&self) -> Rc<RefCell<Asked>> {
        Rc::clone(&self.asked)
    }
}

impl Files for Recorded {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let (read, state) = self.files.read_with_state(path);
        // The first question counts: its state is the oldest.
        let is = words(&read);
        let mut asked = self.asked.borrow_mut();
        asked.files.entry(path.to_owned()).or_insert(Answer { is, state });
        read
    }

    fn read_all(&self, paths: &[&str], take: &Take<'_>) {
        let answers = Mutex::new(Vec::with_capacity(paths.len()));
        self.files.read_all_with_states(paths, |index, (read, state)| {
            let is = words(&read);
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.push((index, Answer { is, state }));
            drop(answers);
            take(index, read);
        });
        let mut asked = self.asked.borrow_mut();
        for (index, answer) in answers.into_inner().unwrap_or_else(PoisonError::into_inner) {
            let path = paths.get(index).copied().unwrap_or_default();
            asked.files.entry(path.to_owned()).or_insert(answer);
        }
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        let listed = self.files.list(folder);
        let mut asked = self.asked.borrow_mut();
        asked.folders.entry(folder.to_owned()).or_insert_with(|| answer(&listed));
        listed
    }
}

/// Returns the words of an error. The digest of bytes is asked for at the end.
fn words(read: &Result<Vec<u8>, ReadError>) -> String {
    read.as_ref().err().map(ReadError::to_string).unwrap_or_default()
}

impl Asked {
    /// Completes the notes of a compilation that began at `start`, in seconds since 1970: `None` if the
    /// compiler had a file in two versions, or asked for one that it did not take.
    pub(crate) fn complete(mut self, sources: &Sources<'_>, start: u64) -> Option<Self> {
        for (path, answer) in &mut self.files {
            match sources.digest(path) {
                Some(digest) if answer.is.is_empty() => answer.is = digest.to_string(),
                None if !answer.is.is_empty() => {}
                _ => return None,
            }
            answer.state.take_if(|state| !state.rests_since(start));
        }
        Some(self)
    }

    /// Asks the same again, at `now` in seconds since 1970. A file is read where its state leaves doubt.
    pub(crate) fn compare(&self, files: &ProjectFiles<Disk>, now: u64) -> Compared {
        let folder_is = |(folder, is): (&String, &String)| answer(&files.list(folder)) == *is;
        if !self.folders.iter().all(folder_is) {
            return Compared::Different;
        }
        let mut fresh = None;
        let paths: Vec<&str> = self.files.keys().map(String::as_str).collect();
        for ((path, was), state) in self.files.iter().zip(files.states(&paths)) {
            if was.state.is_some() && state == was.state {
                continue;
            }
            let is = match files.read(path) {
                Ok(bytes) => Digest::of(&bytes).to_string(),
                Err(error) => error.to_string(),
            };
            if is != was.is {
                return Compared::Different;
            }
            let state = state.filter(|state| state.rests_since(now));
            if state != was.state {
                let fresh: &mut Self = fresh.get_or_insert_with(|| self.clone());
                fresh.files.insert(path.clone(), Answer { is, state });
            }
        }
        fresh.map_or(Compared::Same, Compared::Read)
    }
}

/// Returns the answer to a question for the files of a folder, in a line.
fn answer(listed: &Result<Vec<Listed>, ReadError>) -> String {
    let listed = match listed {
        Ok(listed) => listed,
        Err(error) => return error.to_string(),
    };
    let mut text = String::new();
    for Listed { path, link, fault } in listed {
        // A name can hold neither byte.
        text.push_str(path);
        text.push_str(if *link { "\0link" } else { "\0" });
        text.push_str(&fault.as_ref().map(ReadError::to_string).unwrap_or_default());
        text.push('\0');
    }
    Digest::of(text.as_bytes()).to_string()
}
