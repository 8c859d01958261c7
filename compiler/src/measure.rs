//! Measures: values that are written as a whole number with a unit, `(bytes)"8KiB"`.

/// A measure: its annotation and its units.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Measure {
    /// The annotation in front of a value.
    pub(crate) annotation: &'static str,
    /// Its values, for people: `a number of bytes`.
    pub(crate) values: &'static str,
    /// A value, as an author writes it.
    pub(crate) example: &'static str,
    /// Whether a number may stand without a unit: it is one of the first unit.
    pub(crate) may_be_bare: bool,
    /// The units, the smallest first, each with its number of the first one.
    units: &'static [(&'static str, u64)],
    /// Other spellings of units, each with the unit that is probably meant.
    alike: &'static [(&'static str, &'static str)],
    /// The units, in words.
    meaning: &'static str,
}

/// Sizes. Each unit has one meaning: a kB is 1000 bytes to some and 1024 to others.
pub(crate) static BYTES: Measure = Measure {
    annotation: "bytes",
    values: "a number of bytes",
    example: "(bytes)\"8KiB\"",
    may_be_bare: true,
    units: &[("B", 1), ("KiB", 1024), ("MiB", 1024 * 1024)],
    alike: &[
        ("", "B"),
        ("b", "B"),
        ("byte", "B"),
        ("bytes", "B"),
        ("k", "KiB"),
        ("kb", "KiB"),
        ("kib", "KiB"),
        ("m", "MiB"),
        ("mb", "MiB"),
        ("mib", "MiB"),
    ],
    meaning: "the units are B, KiB (1024 B) and MiB (1024 KiB)",
};

/// Durations, in seconds.
pub(crate) static DURATION: Measure = Measure {
    annotation: "duration",
    values: "a duration",
    example: "(duration)\"60s\"",
    may_be_bare: false,
    units: &[("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)],
    alike: &[
        ("", "s"),
        ("s", "s"),
        ("sec", "s"),
        ("secs", "s"),
        ("second", "s"),
        ("seconds", "s"),
        ("m", "m"),
        ("min", "m"),
        ("mins", "m"),
        ("minute", "m"),
        ("minutes", "m"),
        ("h", "h"),
        ("hour", "h"),
        ("hours", "h"),
        ("d", "d"),
        ("day", "d"),
        ("days", "d"),
    ],
    meaning: "the units are s, m (60 s), h and d",
};

impl Measure {
    /// Returns the number of a text: its digits and its unit, without a blank.
    pub(crate) fn read(&self, text: &str) -> Option<i128> {
        let (number, unit) = split(text);
        let (_, factor) = self.units.iter().find(|(name, _)| *name == unit)?;
        number.parse::<i128>().ok()?.checked_mul(i128::from(*factor))
    }

    /// Returns a number as an author writes it, in the largest unit that it is a multiple of.
    pub(crate) fn written(&self, number: u64) -> String {
        if self.may_be_bare {
            return format!("({}){number}", self.annotation);
        }
        let (count, unit) = self.in_largest(number);
        format!("({})\"{count}{unit}\"", self.annotation)
    }

    /// Returns a number in the largest unit that it is a multiple of.
    pub(crate) fn in_largest(&self, number: u64) -> (u64, &'static str) {
        let mut units = self.units.iter().rev();
        let found = units.find(|(_, factor)| number != 0 && number.is_multiple_of(*factor));
        let first = || self.units.first().map_or((number, ""), |(unit, _)| (number, *unit));
        found.map_or_else(first, |(unit, factor)| (number / factor, *unit))
    }

    /// Returns the correct form of a text: `8KB` is taken for KiB, since all units count in powers
    /// of 1024.
    pub(crate) fn help(&self, text: &str) -> String {
        let Self { annotation, example, meaning, .. } = self;
        let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (number, written_unit) = split(&compact);
        let lower = written_unit.to_ascii_lowercase();
        let unit = self.alike.iter().find(|(spelling, _)| *spelling == lower);
        let (Ok(_), Some((_, unit))) = (number.parse::<u64>(), unit) else {
            return format!("write a whole number and its unit, as in `{example}`; {meaning}");
        };
        let written = format!("write `({annotation})\"{number}{unit}\"`");
        match self.read(text) {
            Some(_) => written,
            None => format!("{written}; {meaning}"),
        }
    }
}

/// Splits a text after its digits.
fn split(text: &str) -> (&str, &str) {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    text.split_at_checked(digits).unwrap_or_default()
}
