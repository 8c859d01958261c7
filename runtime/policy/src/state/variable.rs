//! A variable: the values that a text gives it, and its unknown values.

use std::rc::Rc;

use crate::value::{Join, Mark, cut_of};

/// The most values of a variable that are kept.
const VALUES_MAX: usize = 8;

/// A variable, at all places that read it.
#[derive(Debug, Clone, Default)]
pub(super) struct Variable {
    values: Vec<Rc<[u8]>>,
    /// The marks for words split from any of them.
    marks: Vec<u8>,
    /// The value that was assigned last.
    last: Option<Rc<[u8]>>,
    /// The number of its last assignment other than an append.
    pub(super) assigned: usize,
    /// Whether it may hold anything from outside of the text.
    is_outside: bool,
    /// Whether it may hold anything made by the text itself.
    is_made: bool,
    pub(super) is_read: bool,
    pub(super) is_certain: bool,
    pub(super) is_exported: bool,
}

impl Variable {
    /// Returns the values given by the text; it may hold others too.
    pub(super) fn values(&self) -> &[Rc<[u8]>] {
        &self.values
    }

    /// Returns the marks for any of its values.
    pub(super) fn marks(&self) -> &[u8] {
        &self.marks
    }

    /// Returns the value that was assigned last, if known.
    pub(super) fn last(&self) -> Option<&[u8]> {
        self.last.as_deref().filter(|last| unknown(last).is_none())
    }

    /// Returns the mark for its unknown values.
    pub(super) fn mark(&self) -> Option<Mark> {
        // Unless it is certainly assigned, it may have a value from outside.
        match (self.is_made, self.is_outside || !self.is_certain) {
            (true, _) => Some(Mark::Made),
            (false, true) => Some(Mark::Hole),
            (false, false) => None,
        }
    }

    /// Returns whether the text gives it a value.
    pub(super) fn is_assigned(&self) -> bool {
        !self.values.is_empty() || self.is_made
    }

    /// Gives it a value; returns whether it may now hold more than before.
    pub(super) fn assign(&mut self, value: Rc<[u8]>) -> bool {
        self.last = Some(Rc::clone(&value));
        self.add(value)
    }

    /// Adds a value to those that it may hold, a lone mark for an unknown one; returns whether it
    /// may now hold more than before.
    fn add(&mut self, value: Rc<[u8]>) -> bool {
        let mark = match unknown(&value) {
            Some(mark) => Some(mark),
            None if self.values.contains(&value) => return false,
            None if self.values.len() < VALUES_MAX => {
                self.add_marks(&cut_of(&value));
                self.values.push(value);
                return true;
            }
            None => cut_of(&value).first().and_then(|first| Mark::of(*first)),
        };
        match mark {
            None => false,
            Some(Mark::Made) => !std::mem::replace(&mut self.is_made, true),
            Some(_) => !std::mem::replace(&mut self.is_outside, true),
        }
    }

    fn add_marks(&mut self, marks: &[u8]) {
        for mark in marks {
            if !self.marks.contains(mark) {
                self.marks.push(*mark);
            }
        }
    }

    /// Begins another process, where an unexported variable is unset or has a value from outside.
    pub(super) fn begin_process(&mut self) {
        // A read in another process before an assignment there does not concern this process.
        self.is_read = false;
        if self.is_exported {
            return;
        }
        self.is_certain = false;
        // An unset variable expands to an empty text.
        if !self.values.is_empty() && self.values.len() < VALUES_MAX {
            self.values.push(Rc::from([]));
        }
    }
}

/// A variable after either of two parts of a text.
impl Join for Variable {
    fn join(mut self, other: Self) -> Self {
        let Self { values, marks, last, .. } = other;
        if self.last != last {
            self.last = None;
        }
        for value in values {
            self.add(value);
        }
        self.add_marks(&marks);
        Self {
            assigned: self.assigned.max(other.assigned),
            is_outside: self.is_outside || other.is_outside,
            is_made: self.is_made || other.is_made,
            is_read: self.is_read || other.is_read,
            is_certain: self.is_certain && other.is_certain,
            is_exported: self.is_exported || other.is_exported,
            ..self
        }
    }
}

/// Returns the mark of an unknown value, which is that mark alone.
fn unknown(value: &[u8]) -> Option<Mark> {
    let [byte] = value else { return None };
    Mark::of(*byte).filter(|mark| matches!(mark, Mark::Hole | Mark::Made))
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::value::assert_laws;

    /// Variables after every list of up to two of some values.
    fn variables() -> Vec<Variable> {
        let values: [&[u8]; 6] =
            [b"", b"a", b"-rf", b"a -rf", Mark::Hole.text(), Mark::Made.text()];
        let of = |given: &[&[u8]]| {
            let mut variable = Variable { is_certain: !given.is_empty(), ..Variable::default() };
            for value in given {
                variable.assign(Rc::from(*value));
            }
            variable
        };
        let mut all = vec![of(&[])];
        all.extend(values.map(|one| of(&[one])));
        all.extend(values.iter().flat_map(|one| values.map(|other| of(&[one, other]))));
        let uncertain = |variable: &Variable| Variable { is_certain: false, ..variable.clone() };
        all.extend(all.iter().map(uncertain).collect::<Vec<_>>());
        let read = |variable: &Variable| Variable { is_read: true, ..variable.clone() };
        all.extend(all.iter().map(read).collect::<Vec<_>>());
        all
    }

    /// Everything in a variable except the order of its values.
    pub(in crate::state) fn key(variable: &Variable) -> String {
        let Variable { values, marks, .. } = variable;
        let values: BTreeSet<_> = values.iter().collect();
        let marks: BTreeSet<_> = marks.iter().collect();
        let rest = Variable { values: Vec::new(), marks: Vec::new(), ..variable.clone() };
        format!("{values:?} {marks:?} {rest:?}")
    }

    #[test]
    fn variables_join_by_the_laws() {
        let doubt = |variable: &Variable| match variable.mark() {
            None => 0,
            Some(Mark::Made) => 2,
            Some(_) => 1,
        };
        assert_laws(&variables(), |one, other| key(one) == key(other), doubt);
    }

    #[test]
    fn a_join_holds_all_values_of_both() {
        for one in variables() {
            for other in variables() {
                let joined = one.clone().join(other.clone());
                for value in one.values().iter().chain(other.values()) {
                    assert!(joined.values().contains(value), "{one:?} and {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_join_of_too_many_values_may_hold_anything() {
        let of = |letters: std::ops::Range<u8>| {
            let mut variable = Variable { is_certain: true, ..Variable::default() };
            letters.for_each(|letter| {
                variable.assign(Rc::from([b'-', letter]));
            });
            variable
        };
        let joined = of(b'a'..b'f').join(of(b'f'..b'l'));
        assert_eq!(joined.values().len(), VALUES_MAX);
        assert_eq!(joined.mark(), Some(Mark::Made));
    }
}
