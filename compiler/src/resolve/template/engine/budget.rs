//! The budget of a rendering, in bytes that it reads and writes, and the sizes of values.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use minijinja::tests::is_sameas;
use minijinja::value::ValueKind;
use minijinja::{Error, ErrorKind, State, Value};
use thiserror::Error as ThisError;

use crate::resolve::template::limit;
use crate::resolve::template::slot::{Slot, first_slot};

/// The reason why a rendering is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ThisError)]
pub(in crate::resolve::template) enum Stop {
    #[error("the budget for work is spent")]
    Work,
    #[error("a value is too large")]
    Value,
    #[error("a value nests too deep")]
    Depth,
    /// In a list or a map, where printing would write a word for it.
    #[error("something is undefined")]
    Undefined,
    #[error("free text is used")]
    /// Of the argument with this index.
    FreeText(usize),
}

impl From<Stop> for Error {
    fn from(stop: Stop) -> Self {
        let kind = match stop {
            Stop::Undefined => ErrorKind::UndefinedError,
            Stop::Work | Stop::Value | Stop::Depth | Stop::FreeText(_) => {
                ErrorKind::InvalidOperation
            }
        };
        Error::new(kind, stop.to_string()).with_source(stop)
    }
}

/// The bytes and the instructions of the current rendering.
#[derive(Clone, Default)]
pub(super) struct Budget(Arc<Spent>);

#[derive(Default)]
struct Spent {
    bytes: AtomicU64,
    /// The instructions at the last payment.
    steps: AtomicU64,
}

impl Budget {
    pub(super) fn refill(&self) {
        self.0.bytes.store(0, Ordering::Relaxed);
        self.0.steps.store(0, Ordering::Relaxed);
    }

    /// Returns the spent bytes and instructions.
    pub(super) fn spent(&self) -> (u64, u64) {
        (self.0.bytes.load(Ordering::Relaxed), self.0.steps.load(Ordering::Relaxed))
    }

    pub(super) fn note_steps(&self, state: &State<'_, '_>) {
        let (steps, _) = state.fuel_levels().unwrap_or_default();
        self.0.steps.store(steps, Ordering::Relaxed);
    }

    /// Notes that a rendering failed. Its number of instructions is known only if it passed the
    /// limit; otherwise it counts as a part of the limit at least.
    pub(super) fn note_failure(&self, error: &Error) {
        let noted = self.0.steps.load(Ordering::Relaxed);
        let steps = match error.kind() {
            ErrorKind::OutOfFuel => limit::STEPS_MAX,
            _ => noted.max(limit::STEPS_MAX / 16),
        };
        self.0.steps.store(steps, Ordering::Relaxed);
    }

    pub(super) fn pay(&self, bytes: u64) -> Result<(), Error> {
        let spent = self.0.bytes.load(Ordering::Relaxed).saturating_add(bytes);
        self.0.bytes.store(spent, Ordering::Relaxed);
        if spent > limit::WORK_MAX { Err(Stop::Work.into()) } else { Ok(()) }
    }

    /// Pays for one look at all contents of a value, which must be free of free text.
    pub(super) fn measure(&self, value: &Value) -> Result<(), Error> {
        self.walk(value, Forbidden::FreeText)
    }

    /// Pays for one look at all contents of a value, which must be free of its target namespace.
    pub(super) fn measure_stored(&self, value: &Value, namespace: &Value) -> Result<(), Error> {
        self.walk(value, Forbidden::Object(namespace))
    }

    fn walk(&self, value: &Value, forbidden: Forbidden<'_>) -> Result<(), Error> {
        let mut walk = Walk { room: limit::VALUE_MAX, forbidden };
        let fits = walk.value(value, 0);
        self.pay(limit::VALUE_MAX - walk.room)?;
        fits.map_err(Error::from)
    }
}

/// The values that end a walk with an error.
enum Forbidden<'v> {
    FreeText,
    Object(&'v Value),
}

/// A walk over all contents of a value.
struct Walk<'v> {
    /// The bytes that remain for it.
    room: u64,
    forbidden: Forbidden<'v>,
}

impl Walk<'_> {
    /// A value that holds itself nests too deep.
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Stop> {
        if let (Forbidden::FreeText, Some(Slot(index))) =
            (&self.forbidden, value.downcast_object_ref::<Slot>())
        {
            return Err(Stop::FreeText(*index));
        }
        match (&self.forbidden, value.kind()) {
            (_, ValueKind::String) => self.text(value.as_str().unwrap_or_default())?,
            (_, ValueKind::Bytes) => self.take(value.len().unwrap_or(0) as u64)?,
            (Forbidden::Object(object), _) if is_sameas(object, value) => return Err(Stop::Depth),
            _ if depth > 0 && value.is_undefined() => return Err(Stop::Undefined),
            _ => self.take(1)?,
        }
        let is_map = value.kind() == ValueKind::Map;
        if !is_map && !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
            return Ok(());
        }
        if depth == limit::VALUE_DEPTH_MAX {
            return Err(Stop::Depth);
        }
        for item in value.try_iter().into_iter().flatten() {
            self.take(limit::ITEM_BYTES)?;
            self.value(&item, depth + 1)?;
            if is_map && let Ok(held) = value.get_item(&item) {
                self.value(&held, depth + 1)?;
            }
        }
        if is_map && !is_plain_map(value) {
            // An imported template holds its printed text, which is extra to its items.
            self.text(&value.to_string())?;
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<(), Stop> {
        if let (Forbidden::FreeText, Some(index)) = (&self.forbidden, first_slot(text)) {
            return Err(Stop::FreeText(index));
        }
        self.take(text.len() as u64)
    }

    fn take(&mut self, bytes: u64) -> Result<(), Stop> {
        self.room = self.room.checked_sub(bytes).ok_or(Stop::Value)?;
        Ok(())
    }
}

/// Returns whether a measured value is data: it is free of namespaces, loops, macros and modules.
pub(super) fn is_data(value: &Value) -> bool {
    let items = || value.try_iter().into_iter().flatten();
    match value.kind() {
        ValueKind::Map if !is_plain_map(value) => false,
        ValueKind::Map => items().all(|key| value.get_item(&key).is_ok_and(|item| is_data(&item))),
        ValueKind::Seq | ValueKind::Iterable => items().all(|item| is_data(&item)),
        _ => true,
    }
}

fn is_plain_map(value: &Value) -> bool {
    value.is_kwargs() || value.downcast_object_ref::<BTreeMap<Value, Value>>().is_some()
}
