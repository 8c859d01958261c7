//! The variables of a shell, with every value that a text gives them.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::variable::Variable;
use crate::value::{Join, Mark, cut_of, may_be_option};

/// The variables of a shell. A copy is cheap until either changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    all: Rc<BTreeMap<String, Variable>>,
    /// The variables that certainly have a value of the text at this point, in the order in which
    /// they became certain.
    certain: Vec<String>,
    /// The number of assignments read so far.
    assignments: usize,
    /// Whether every variable may have any value.
    is_lost: bool,
    /// Whether a variable got a value after it was read, so that the text must be read again.
    is_stale: bool,
}

/// The variables that a part of the text makes certain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Certain(BTreeSet<String>);

/// The content of a variable where it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Held<'s> {
    /// One of these, or any text for a mark.
    Values(&'s [Rc<[u8]>], Option<Mark>),
    /// This value, which a shell sets by itself.
    Given(&'static [u8]),
    /// Any text that the mark stands for.
    Unknown(Mark),
}

impl Variables {
    /// Forgets which values were certain, to read the text once more.
    pub(crate) fn begin_round(&mut self) {
        self.is_stale = false;
        self.leave(0);
        for variable in Rc::make_mut(&mut self.all).values_mut() {
            variable.is_read = false;
        }
    }

    /// Begins another process, where unexported variables are unset or have a value from outside.
    pub(crate) fn begin_process(&mut self) {
        if self.all.is_empty() {
            return;
        }
        self.certain.clear();
        Rc::make_mut(&mut self.all).values_mut().for_each(Variable::begin_process);
    }

    /// Returns these variables after the end of a process that began with them: their values are
    /// unchanged, but reads by the process stay noted.
    pub(crate) fn after_process(mut self, process: Self) -> Self {
        if !Rc::ptr_eq(&self.all, &process.all) {
            for (name, variable) in &*process.all {
                let is_new = |before: &Variable| !before.is_read;
                if variable.is_read && self.all.get(name).is_none_or(is_new) {
                    Rc::make_mut(&mut self.all).entry(name.clone()).or_default().is_read = true;
                }
            }
        }
        self.assignments = process.assignments;
        self.is_lost |= process.is_lost;
        self.is_stale |= process.is_stale;
        self
    }

    /// Notes a value that replaces the previous one.
    pub(crate) fn set(&mut self, name: &str, value: Rc<[u8]>) {
        self.assignments += 1;
        self.assign(name, value);
        let now = self.assignments;
        if let Some(variable) = Rc::make_mut(&mut self.all).get_mut(name) {
            variable.assigned = now;
        }
    }

    /// Adds a value. A lone mark is an unknown value.
    pub(crate) fn assign(&mut self, name: &str, value: Rc<[u8]>) {
        let all = Rc::make_mut(&mut self.all);
        if !all.contains_key(name) {
            all.insert(name.to_owned(), Variable::default());
        }
        let Some(variable) = all.get_mut(name) else { return };
        self.is_stale |= variable.assign(value) && variable.is_read;
        if !variable.is_certain {
            variable.is_certain = true;
            self.certain.push(name.to_owned());
        }
    }

    /// Returns the number of assignments read so far.
    pub(crate) fn assignments(&self) -> usize {
        self.assignments
    }

    /// Returns the value that a variable certainly holds here, if it was assigned after `since`.
    pub(crate) fn current(&self, name: &str, since: usize) -> Option<&[u8]> {
        let variable = self.all.get(name)?;
        let is_known = variable.is_certain && !self.is_lost && variable.assigned > since;
        variable.last().filter(|_| is_known)
    }

    /// Returns all values that the text gives a variable, one after the other.
    pub(crate) fn joined(&self, name: &str) -> Vec<u8> {
        self.all.get(name).map_or_else(Vec::new, |variable| variable.values().concat())
    }

    /// Returns whether every variable may hold anything.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Returns whether a variable got a value after it was read.
    pub(crate) fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Makes every variable unknown.
    pub(crate) fn lose(&mut self) {
        self.is_stale |= !self.is_lost;
        self.is_lost = true;
    }

    /// Notes that programs see a variable.
    pub(crate) fn export(&mut self, name: &str) {
        if let Some(variable) = Rc::make_mut(&mut self.all).get_mut(name) {
            variable.is_exported = true;
        }
    }

    /// Returns the number of variables.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns a mark of the variables that are certain now, for `leave`.
    pub(crate) fn enter(&self) -> usize {
        self.certain.len()
    }

    /// Ends a part of the text that may be skipped: variables that became certain since the mark
    /// are uncertain again, and are returned.
    pub(crate) fn leave(&mut self, mark: usize) -> Certain {
        if mark >= self.certain.len() {
            return Certain::default();
        }
        let all = Rc::make_mut(&mut self.all);
        let names: BTreeSet<String> = self.certain.drain(mark..).collect();
        for name in &names {
            if let Some(variable) = all.get_mut(name) {
                variable.is_certain = false;
            }
        }
        Certain(names)
    }

    /// Notes that variables are certain to have one of their values.
    pub(crate) fn settle(&mut self, Certain(names): Certain) {
        for name in names {
            if let Some(variable) = Rc::make_mut(&mut self.all).get_mut(&name)
                && !variable.is_certain
            {
                variable.is_certain = true;
                self.certain.push(name);
            }
        }
    }

    /// Returns the content of a variable.
    pub(crate) fn held(&mut self, name: &str) -> Held<'_> {
        if self.is_lost {
            return Held::Unknown(Mark::Made);
        }
        if !self.all.contains_key(name) {
            if let Some(value) = given(name) {
                return Held::Given(value);
            }
            // The read is remembered, in case of a later assignment.
            Rc::make_mut(&mut self.all).insert(name.to_owned(), Variable::default());
        }
        if self.all.get(name).is_some_and(|variable| !variable.is_read)
            && let Some(variable) = Rc::make_mut(&mut self.all).get_mut(name)
        {
            variable.is_read = true;
        }
        match self.all.get(name) {
            Some(variable) => match variable.mark() {
                Some(mark) if variable.values().is_empty() => Held::Unknown(mark),
                mark => Held::Values(variable.values(), mark),
            },
            None => Held::Unknown(Mark::Hole),
        }
    }

    /// Returns the marks for any value of a variable.
    pub(crate) fn marks(&self, name: &str) -> Vec<u8> {
        cut_of(self.all.get(name).map_or(&[], Variable::marks))
    }

    /// Returns whether the text gives a variable a value.
    pub(crate) fn is_assigned(&self, name: &str) -> bool {
        self.all.get(name).is_some_and(Variable::is_assigned)
    }

    /// Returns all values that the text gives a variable; it may hold others too.
    pub(crate) fn literals(&self, name: &str) -> &[Rc<[u8]>] {
        self.all.get(name).map_or(&[], Variable::values)
    }

    /// Returns whether the text may split words at this byte, in addition to blanks.
    fn separates(&self, byte: u8) -> bool {
        self.literals("IFS").iter().any(|value| value.contains(&byte))
    }

    /// Returns whether the text splits words at bytes other than blanks.
    pub(crate) fn has_separators(&self) -> bool {
        let is_own = |value: &Rc<[u8]>| value.iter().any(|byte| !byte.is_ascii_whitespace());
        self.is_lost || self.literals("IFS").iter().any(is_own)
    }

    /// Returns the words into which `read` splits a line.
    pub(crate) fn pieces<'l>(&self, line: &'l [u8]) -> Vec<&'l [u8]> {
        let separates = |byte: &u8| byte.is_ascii_whitespace() || self.separates(*byte);
        line.split(separates).filter(|piece| !piece.is_empty()).collect()
    }

    /// Returns the marks for words that a shell splits from a value at separators set by the text;
    /// `None` if it splits at blanks only.
    pub(crate) fn cut(&self, value: &[u8]) -> Option<Vec<u8>> {
        if !self.has_separators() {
            return None;
        }
        let is_own = |byte: u8| !byte.is_ascii_whitespace() && self.separates(byte);
        if !value.iter().any(|byte| is_own(*byte)) {
            return None;
        }
        let is_option = value.split(|byte| is_own(*byte)).any(may_be_option);
        Some(if is_option { Mark::Made.text().to_vec() } else { cut_of(value) })
    }
}

/// The variables after either of two parts of a text that begin with the same ones.
impl Join for Variables {
    fn join(mut self, other: Self) -> Self {
        if !Rc::ptr_eq(&self.all, &other.all) {
            let all = Rc::make_mut(&mut self.all);
            for (name, variable) in all.iter_mut() {
                // The text assigns a missing variable nothing.
                let others = other.all.get(name).cloned().unwrap_or_default();
                *variable = std::mem::take(variable).join(others);
            }
            for (name, variable) in &*other.all {
                if !all.contains_key(name) {
                    all.insert(name.clone(), variable.clone().join(Variable::default()));
                }
            }
            self.certain.retain(|name| all.get(name).is_some_and(|variable| variable.is_certain));
        }
        self.assignments = self.assignments.max(other.assignments);
        self.is_lost |= other.is_lost;
        self.is_stale |= other.is_stale;
        self
    }
}

/// The variables that both of two parts make certain.
impl Join for Certain {
    fn join(mut self, other: Self) -> Self {
        self.0.retain(|name| other.0.contains(name));
        self
    }
}

/// Returns the value of a variable that a shell sets by itself.
fn given(name: &str) -> Option<&'static [u8]> {
    match name {
        "HOME" => Some(Mark::Home.text()),
        "TMPDIR" => Some(b"/tmp"),
        "IFS" => Some(b" "),
        "USER" | "LOGNAME" | "HOSTNAME" | "UID" | "EUID" | "PPID" | "RANDOM" | "SRANDOM"
        | "SECONDS" | "LINENO" | "SHLVL" | "BASHPID" | "EPOCHSECONDS" | "EPOCHREALTIME"
        | "BASH_VERSION" | "HOSTTYPE" | "MACHTYPE" | "OSTYPE" | "COLUMNS" | "LINES" => {
            Some(Mark::Name.text())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::variable::tests::key;
    use super::*;
    use crate::value::assert_laws;

    /// Variables after every list of up to three of some steps.
    fn after_steps() -> Vec<Variables> {
        let steps: [fn(&mut Variables); 7] = [
            |variables| variables.set("a", Rc::from(*b"x")),
            |variables| variables.set("a", Rc::from(*b"-rf")),
            |variables| variables.assign("a", Mark::Made.text().into()),
            |variables| variables.set("b", Rc::from(*b"x")),
            |variables| variables.export("a"),
            |variables| {
                variables.held("a");
            },
            Variables::lose,
        ];
        let mut all = vec![Variables::default()];
        let mut last = all.clone();
        for _ in 0..3 {
            let next = |before: &Variables| {
                let before = before.clone();
                steps.map(|step| {
                    let mut after = before.clone();
                    step(&mut after);
                    after
                })
            };
            last = last.iter().flat_map(next).collect();
            all.extend(last.iter().cloned());
        }
        all
    }

    #[test]
    fn variables_of_a_shell_join_by_the_laws() {
        let is_same = |one: &Variables, other: &Variables| {
            let empty = Variable::default();
            let mut names: BTreeSet<&String> = one.all.keys().collect();
            names.extend(other.all.keys());
            let of = |variables: &Variables, name| key(variables.all.get(name).unwrap_or(&empty));
            let certain =
                |variables: &Variables| Certain(variables.certain.iter().cloned().collect());
            names.into_iter().all(|name| of(one, name) == of(other, name))
                && certain(one) == certain(other)
                && (one.is_lost, one.is_stale, one.assignments)
                    == (other.is_lost, other.is_stale, other.assignments)
        };
        let doubt = |variables: &Variables| match variables.clone().held("a") {
            Held::Unknown(Mark::Made) | Held::Values(_, Some(Mark::Made)) => 2,
            Held::Unknown(_) | Held::Values(_, Some(_)) => 1,
            Held::Values(_, None) | Held::Given(_) => 0,
        };
        assert_laws(&after_steps(), is_same, doubt);
    }

    #[test]
    fn a_process_changes_no_variable_and_what_it_read_stays_noted() {
        let mut outer = Variables::default();
        outer.set("a", Rc::from(*b"x"));
        let mut process = outer.clone();
        process.begin_process();
        let _ = process.held("b");
        process.set("a", Rc::from(*b"-rf"));
        let mut after = outer.after_process(process);
        assert_eq!(after.literals("a"), [Rc::from(*b"x") as Rc<[u8]>]);
        assert!(!after.is_stale());
        after.set("b", Rc::from(*b"y"));
        assert!(after.is_stale(), "`b` was read before it was assigned");
    }
}
