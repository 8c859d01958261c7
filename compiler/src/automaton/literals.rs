//! Literals that a match must have.
//!
//! The index of a bundle finds with them the few regexes that a text could match. ASCII letters are
//! in lower case, and the index ignores their case.

use std::collections::BTreeSet;

use super::syntax::{Form, Node};

/// The most literals of a regex.
const LITERALS_MAX: usize = 32;
/// The most sets of literals of a regex.
const SETS_MAX: usize = 16;
/// The bytes of the longest literal.
const LITERAL_BYTES_MAX: usize = 24;
/// The bytes of the shortest literal that the index takes.
const LITERAL_BYTES_MIN: usize = 2;

/// The weight of a literal that is rare enough alone.
const LONG: usize = 3;

type Texts = BTreeSet<Vec<u8>>;

/// The literals of a part of a regex.
struct Known {
    /// All texts that the part matches, if they are few and short.
    exact: Option<Texts>,
    /// Literals of which each match of the part has one.
    required: Option<Texts>,
}

/// Returns sets of literals; each match has one of each set.
pub(super) fn literals(node: &Node) -> Vec<Vec<Vec<u8>>> {
    let mut joined = Joined::new();
    joined.add(node);
    joined.end_run();
    joined.found.into_iter().map(|set| set.into_iter().collect()).collect()
}

fn known(node: &Node) -> Known {
    match &node.form {
        Form::Set(set) => {
            let letters: Texts = set.iter().map(|byte| vec![byte.to_ascii_lowercase()]).collect();
            Known { exact: Some(letters).filter(is_small), required: None }
        }
        Form::Look(_) => Known { exact: Some(empty()), required: None },
        Form::Concat(parts) => {
            let mut joined = Joined::new();
            for part in parts {
                joined.add(part);
            }
            joined.finish()
        }
        Form::Alternate(branches) => alternate(branches),
        Form::Repeat { .. } => {
            let mut joined = Joined::new();
            joined.add(node);
            joined.finish()
        }
    }
}

fn alternate(branches: &[Node]) -> Known {
    let (mut exact, mut required) = (Some(Texts::new()), Some(Texts::new()));
    for branch in branches {
        let of = known(branch);
        let best = better(of.exact.clone().filter(is_useful), of.required);
        exact = union(exact, of.exact);
        required = union(required, best);
    }
    Known { exact, required }
}

/// The literals of parts that follow each other.
struct Joined {
    /// The texts of the last parts, as far as they are known without a gap.
    run: Texts,
    /// Whether `run` begins with the first part.
    is_whole: bool,
    required: Option<Texts>,
    /// All that was required, each once.
    found: BTreeSet<Texts>,
}

impl Joined {
    fn new() -> Self {
        Self { run: empty(), is_whole: true, required: None, found: BTreeSet::new() }
    }

    fn add(&mut self, part: &Node) {
        match &part.form {
            Form::Concat(parts) => parts.iter().for_each(|part| self.add(part)),
            Form::Repeat { node, min, max } => {
                let of = known(node);
                match (&of.exact, max) {
                    (Some(texts), Some(1)) if *min == 0 => {
                        let mut texts = texts.clone();
                        texts.insert(Vec::new());
                        self.add_known(Known { exact: Some(texts), required: None });
                    }
                    (Some(texts), _) => {
                        // All copies if they are few, else the first ones, a gap, and the last one.
                        let copies = (*min).min(u32::try_from(LITERAL_BYTES_MAX).unwrap_or(0));
                        for _ in 0..copies {
                            self.add_known(Known { exact: Some(texts.clone()), required: None });
                        }
                        if *max != Some(copies) {
                            self.end_run();
                            // Blanks before the next literal tell no more than it does.
                            if *min > 0 && weight(texts) > 0 {
                                self.run = texts.clone();
                            }
                        }
                    }
                    (None, _) => {
                        self.end_run();
                        if *min > 0 {
                            self.require(of.required);
                        }
                    }
                }
            }
            _ => self.add_known(known(part)),
        }
    }

    fn add_known(&mut self, Known { exact, required }: Known) {
        self.require(required);
        let Some(texts) = exact else {
            self.end_run();
            return;
        };
        // A literal of some letters says enough without each kind of blank after it.
        let are_blanks = texts.len() > 1 && weight(&texts) == 0 && weight(&self.run) >= LONG;
        match product(&self.run, &texts).filter(|_| !are_blanks) {
            Some(run) => self.run = run,
            None => {
                self.end_run();
                self.run = if are_blanks { empty() } else { texts };
            }
        }
    }

    /// Ends the run: the next part does not follow it directly, or would make it too large.
    fn end_run(&mut self) {
        let run = std::mem::replace(&mut self.run, empty());
        self.require(Some(run).filter(is_useful));
        self.is_whole = false;
    }

    fn require(&mut self, literals: Option<Texts>) {
        if self.found.len() < SETS_MAX {
            self.found.extend(literals.clone());
        }
        self.required = better(self.required.take(), literals);
    }

    fn finish(mut self) -> Known {
        if self.is_whole {
            return Known { exact: Some(self.run), required: self.required };
        }
        self.end_run();
        Known { exact: None, required: self.required }
    }
}

fn empty() -> Texts {
    Texts::from([Vec::new()])
}

fn is_small(texts: &Texts) -> bool {
    texts.len() <= LITERALS_MAX && texts.iter().all(|text| text.len() <= LITERAL_BYTES_MAX)
}

fn is_useful(texts: &Texts) -> bool {
    !texts.is_empty() && texts.iter().all(|text| text.len() >= LITERAL_BYTES_MIN)
}

fn union(left: Option<Texts>, right: Option<Texts>) -> Option<Texts> {
    let joined = left?.into_iter().chain(right?).collect();
    Some(joined).filter(is_small)
}

fn product(left: &Texts, right: &Texts) -> Option<Texts> {
    if left.len() * right.len() > LITERALS_MAX {
        return None;
    }
    let joined =
        left.iter().flat_map(|left| right.iter().map(move |right| [&**left, right].concat()));
    Some(joined.collect()).filter(is_small)
}

/// Returns the bytes of the shortest text, without blanks, which are in every command.
fn weight(texts: &Texts) -> usize {
    let bytes = |text: &Vec<u8>| text.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
    texts.iter().map(bytes).min().unwrap_or_default()
}

/// Returns the literals that fewer texts have.
fn better(left: Option<Texts>, right: Option<Texts>) -> Option<Texts> {
    let worth = |texts: &Texts| (weight(texts).min(8), LITERALS_MAX.saturating_sub(texts.len()));
    match (left, right) {
        (Some(left), Some(right)) => Some(if worth(&right) > worth(&left) { right } else { left }),
        (left, right) => left.or(right),
    }
}
