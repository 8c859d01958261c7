//! Random patterns in the syntax that Python and Rust share, against the `regex` crate.

use regex::bytes::RegexBuilder;
use relay_bundle::{Automata, AutomataWriter};
use relay_compiler::automaton::{RegexFault, compile};

use super::answers;
use crate::random::Random;

/// Random patterns, and texts for each.
const PATTERNS: usize = 1_500;
const TEXTS: usize = 10;

impl Random {
    fn one_of<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    fn pattern(&mut self, depth: usize) -> String {
        let mut pattern = String::new();
        for branch in 0..[1, 1, 1, 2, 3][self.below(5)] {
            pattern += if branch > 0 { "|" } else { "" };
            for _ in 0..self.below(5) {
                pattern += &self.part(depth);
            }
        }
        pattern
    }

    fn part(&mut self, depth: usize) -> String {
        // Neither repeats a condition, and both read the others alike.
        let part = match self.below(10) {
            0..=3 => self.one_of(&["a", "b", "B", "1", " ", r"\n", "_", "é", "-"]).to_owned(),
            4 => self.one_of(&[".", r"\w", r"\s", r"\d", r"\W", r"\S", r"\D"]).to_owned(),
            5 => self.one_of(&["[ab]", "[^a]", "[^ab1]", r"[\w-]", r"[^\s]", "[a-c_]"]).to_owned(),
            6 => {
                let looks = ["^", r"\b", r"\B", r"\A", r"\z", "(?m:^)", "(?m:$)"];
                return self.one_of(&looks).to_owned();
            }
            _ if depth == 0 => "a".to_owned(),
            _ => {
                let opening = self.one_of(&["(", "(?:", "(?:", "(?i:", "(?s:", "(?-i:"]);
                format!("{opening}{})", self.pattern(depth - 1))
            }
        };
        let repetitions = ["", "", "", "", "*", "+", "?", "*?", "{2}", "{1,3}", "{2,}", "{0,2}?"];
        part + self.one_of(&repetitions)
    }

    fn text(&mut self) -> Vec<u8> {
        let pieces: &[&[u8]] =
            &[b"a", b"b", b"B", b"1", b" ", b"\n", b"_", "é".as_bytes(), b"-", b"\xff", b"\xc3"];
        (0..self.below(9)).flat_map(|_| pieces[self.below(pieces.len())]).copied().collect()
    }
}

#[test]
fn an_independent_engine_gives_the_same_answers() {
    let mut random = Random(0x5eed_0027);
    let (mut writer, mut patterns, mut matched) = (AutomataWriter::default(), Vec::new(), 0);
    for _ in 0..PATTERNS {
        let pattern = random.pattern(2);
        let parts = match compile(&pattern) {
            Ok(parts) => parts,
            // `é` where case is ignored.
            Err(error) if error.fault == RegexFault::LetterCase => continue,
            Err(error) => panic!("{pattern:?}: {error}"),
        };
        let regex = RegexBuilder::new(&pattern).unicode(false).build().unwrap();
        for _ in 0..TEXTS {
            let text = random.text();
            let expected = regex.is_match(&text);
            matched += usize::from(expected);
            assert_eq!(answers(&parts, &text), expected, "{pattern:?} in {text:?}");
        }
        patterns.push((writer.add(&parts), regex, pattern));
    }
    assert!((PATTERNS..PATTERNS * (TEXTS - 1)).contains(&matched), "{matched} matches");
    // The index of literals leaves no match out.
    let table = writer.finish();
    let automata = Automata::open(&table).unwrap();
    for _ in 0..200 {
        let text = random.text();
        let found = automata.matching(&text);
        assert!(found.is_sorted_by(|left, right| left < right));
        for (number, regex, pattern) in &patterns {
            let expected = regex.is_match(&text);
            assert_eq!(found.contains(number), expected, "{pattern:?} in {text:?}");
        }
    }
}
