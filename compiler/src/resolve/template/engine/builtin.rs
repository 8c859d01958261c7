//! The filters, tests and functions of templates, each with the most that a call can make.
//!
//! They are those of minijinja except for a few whose cost is independent of their arguments:
//! `format` pads to any width, `chain` nests to any depth, `pprint` prints the inside of the
//! engine.

use std::sync::LazyLock;

use minijinja::{Value, filters, functions, tests};

use super::operator::operate;
use crate::resolve::template::limit;

/// A native operation.
#[derive(Clone)]
pub(super) struct Builtin {
    pub(super) function: Value,
    pub(super) estimate: Estimate,
}

/// Returns the bytes that a call could make beyond those of its arguments.
pub(super) type Estimate = fn(&[Value]) -> u64;

/// The estimate of a call that must be kept from minijinja: it computes unchecked offsets and
/// lengths, which may overflow.
pub(super) const OUT_OF_RANGE: u64 = u64::MAX;

/// Each name, with its function.
type Builtins = LazyLock<Vec<(&'static str, Builtin)>>;

macro_rules! builtins {
    ($($module:ident $estimate:ident: $($name:literal $function:ident),+;)+) => {
        Vec::from([$($((
            $name,
            Builtin { function: Value::from_function($module::$function), estimate: $estimate },
        ),)+)+])
    };
}

pub(super) static FILTERS: Builtins = LazyLock::new(|| {
    builtins! {
        filters no_growth:
            "abs" abs, "attr" attr, "bool" bool, "capitalize" capitalize, "count" length,
            "d" default, "default" default, "e" escape, "escape" escape, "first" first,
            "items" items, "last" last, "length" length, "lines" lines,
            "list" list, "lower" lower, "reverse" reverse, "round" round, "safe" safe,
            "split" split, "string" string, "title" title, "upper" upper, "zip" zip;
        filters per_item:
            "dictsort" dictsort, "groupby" groupby, "join" join, "map" map, "max" max, "min" min,
            "reject" reject, "rejectattr" rejectattr, "select" select, "selectattr" selectattr,
            "sort" sort, "unique" unique;
        filters counted: "batch" batch, "slice" slice;
        own indented: "indent" indent;
        own replaced: "replace" replace;
        own no_growth: "float" float, "int" int;
        filters summed: "sum" sum;
        filters trimmed: "trim" trim;
    }
});

pub(super) static TESTS: Builtins = LazyLock::new(|| {
    builtins! {
        tests no_growth:
            "boolean" is_boolean, "endingwith" is_endingwith, "eq" is_eq, "equalto" is_eq,
            "==" is_eq, "even" is_even, "false" is_false, "float" is_float, "ge" is_ge,
            ">=" is_ge, "greaterthan" is_gt, "gt" is_gt, ">" is_gt, "in" is_in,
            "integer" is_integer, "iterable" is_iterable, "le" is_le, "<=" is_le,
            "lessthan" is_lt, "lower" is_lower, "lt" is_lt, "<" is_lt, "mapping" is_mapping,
            "ne" is_ne, "!=" is_ne, "number" is_number, "odd" is_odd, "sameas" is_sameas,
            "startingwith" is_startingwith, "string" is_string,
            "true" is_true, "upper" is_upper;
        own no_growth: "divisibleby" is_divisible, "sequence" is_sequence;
    }
});

pub(super) static FUNCTIONS: Builtins = LazyLock::new(|| {
    builtins! {
        functions no_growth: "dict" dict, "namespace" namespace;
        functions ranged: "range" range;
    }
});

/// The filter for all operators.
pub(super) static OPERATOR: LazyLock<Builtin> =
    LazyLock::new(|| Builtin { function: Value::from_function(operate), estimate: operated });

/// The filters and tests that minijinja implements in another way than Jinja.
mod own {
    use minijinja::value::{Kwargs, ValueKind};
    use minijinja::{Error, ErrorKind, State, Value, filters};

    /// `value|int(default, base)`: the default for a value other than a number.
    pub(super) fn int(
        state: &State<'_, '_>,
        value: &Value,
        default: Option<Value>,
        base: Option<u32>,
        named: Kwargs,
    ) -> Result<Value, Error> {
        let base = match base {
            Some(base) => Some(base),
            None => named.get("base")?,
        };
        let read = |value: &Value| filters::int(state, value, None, base, unnamed());
        number(value, default, &named, Value::from(0), &read)
    }

    /// `value|float(default)`: the default for a value other than a number.
    pub(super) fn float(
        state: &State<'_, '_>,
        value: &Value,
        default: Option<Value>,
        named: Kwargs,
    ) -> Result<Value, Error> {
        let read = |value: &Value| filters::float(state, value, None, unnamed());
        number(value, default, &named, Value::from(0.0), &read)
    }

    fn unnamed() -> Kwargs {
        std::iter::empty::<(&str, Value)>().collect()
    }

    fn number(
        value: &Value,
        default: Option<Value>,
        named: &Kwargs,
        zero: Value,
        read: &dyn Fn(&Value) -> Result<Value, Error>,
    ) -> Result<Value, Error> {
        let default = match default {
            Some(default) => Some(default),
            None => named.get("default")?,
        };
        named.assert_all_used()?;
        let default = default.unwrap_or(zero);
        if value.is_none() {
            return Ok(default);
        }
        let trimmed = value.as_str().map(|text| Value::from(text.trim()));
        match read(trimmed.as_ref().unwrap_or(value)) {
            Err(error) if value.is_undefined() => Err(error),
            number => Ok(number.unwrap_or(default)),
        }
    }

    /// `value|replace(old, new, count)`.
    pub(super) fn replace(
        value: &Value,
        from: &Value,
        to: &Value,
        count: Option<i64>,
        named: Kwargs,
    ) -> Result<String, Error> {
        let count = match count {
            Some(count) => Some(count),
            None => named.get::<Option<i64>>("count")?,
        };
        named.assert_all_used()?;
        if [value, from, to].iter().any(|text| text.is_undefined()) {
            return Err(ErrorKind::UndefinedError.into());
        }
        let [text, from, to] = [value, from, to].map(Value::to_string);
        Ok(match count.map(usize::try_from) {
            Some(Ok(count)) => text.replacen(&from, &to, count),
            None | Some(Err(_)) => text.replace(&from, &to),
        })
    }

    /// `value|indent(width, first, blank)`: keeps a line end at the end, and indents an empty text.
    pub(super) fn indent(
        value: &Value,
        width: Option<usize>,
        first: Option<bool>,
        blank: Option<bool>,
        named: Kwargs,
    ) -> Result<String, Error> {
        let width = width.map_or_else(|| named.get("width"), |width| Ok(Some(width)))?;
        let first = first.map_or_else(|| named.get("first"), |first| Ok(Some(first)))?;
        let blank = blank.map_or_else(|| named.get("blank"), |blank| Ok(Some(blank)))?;
        named.assert_all_used()?;
        if value.is_undefined() {
            return Err(ErrorKind::UndefinedError.into());
        }
        let indent = " ".repeat(width.unwrap_or(4));
        let mut out = String::new();
        for (number, line) in value.to_string().split('\n').enumerate() {
            out.push_str(if number == 0 { "" } else { "\n" });
            let indents = match number {
                0 => first.unwrap_or(false),
                _ => blank.unwrap_or(false) || !line.is_empty(),
            };
            out.push_str(if indents { &indent } else { "" });
            out.push_str(line);
        }
        Ok(out)
    }

    /// `value is sequence`: true for a value with a length and items.
    pub(super) fn is_sequence(value: &Value) -> bool {
        matches!(value.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Map)
            && value.len().is_some()
    }

    /// `a is divisibleby(b)`; minijinja's own divides by zero.
    pub(super) fn is_divisible(a: &Value, b: &Value) -> bool {
        match [a, b].map(|value| i128::try_from(value.clone())) {
            [Ok(a), Ok(b)] => a.checked_rem(b) == Some(0),
            _ => false,
        }
    }
}

fn no_growth(_: &[Value]) -> u64 {
    0
}

/// Returns an argument by position or by name.
fn given(arguments: &[Value], index: usize, name: &str) -> Option<Value> {
    let named = arguments.last().filter(|last| last.is_kwargs());
    let by_name = named.and_then(|named| named.get_item(&Value::from(name)).ok());
    let by_index = arguments.get(index).filter(|argument| !argument.is_kwargs()).cloned();
    by_index.or(by_name).filter(|value| !value.is_undefined())
}

fn items(value: Option<&Value>) -> u64 {
    value.and_then(Value::len).unwrap_or(0) as u64
}

/// Returns a number of repetitions: 0 for a negative number, the maximum for one of more than 64
/// bits.
fn number(value: Option<Value>) -> u64 {
    let Some(value) = value else { return 0 };
    match i128::try_from(value.clone()) {
        Ok(number) => u64::try_from(number.max(0)).unwrap_or(u64::MAX),
        Err(_) if value.is_integer() => u64::MAX,
        Err(_) => 0,
    }
}

fn text_len(value: &Value) -> u64 {
    value.as_str().map_or(0, |text| text.len() as u64)
}

/// Returns the length of the longest text, once for each item.
fn per_item(arguments: &[Value]) -> u64 {
    let named = arguments.last().filter(|last| last.is_kwargs());
    let names = named.and_then(|named| named.try_iter().ok()).into_iter().flatten();
    let by_name = names.filter_map(|name| named?.get_item(&name).ok());
    let by_index = arguments.iter().skip(1).cloned();
    let longest = by_index.chain(by_name).map(|value| text_len(&value)).max();
    items(arguments.first()).saturating_mul(longest.unwrap_or(0))
}

fn trimmed(arguments: &[Value]) -> u64 {
    let text = arguments.first().map_or(0, text_len);
    let set = arguments.get(1).map_or(0, text_len);
    // By default only white space is trimmed.
    text.saturating_mul(set)
}

fn ranged(arguments: &[Value]) -> u64 {
    let fits = |value: &Value| {
        !value.is_integer() || value.as_i64().is_some_and(|number| i32::try_from(number).is_ok())
    };
    if arguments.iter().all(fits) { 0 } else { OUT_OF_RANGE }
}

fn counted(arguments: &[Value]) -> u64 {
    number(given(arguments, 1, "count")).saturating_mul(limit::ITEM_BYTES)
}

fn indented(arguments: &[Value]) -> u64 {
    let lines = arguments.first().and_then(Value::as_str).map_or(0, |text| text.lines().count());
    number(given(arguments, 1, "width").or(Some(4.into()))).saturating_mul(lines as u64 + 1)
}

fn replaced(arguments: &[Value]) -> u64 {
    let [text, from, to] = [0, 1, 2].map(|index| arguments.get(index).map(Value::to_string));
    let (text, from, to) =
        (text.unwrap_or_default(), from.unwrap_or_default(), to.unwrap_or_default());
    (text.matches(&*from).count() as u64).saturating_mul(to.len() as u64)
}

/// Returns the bytes of a sum: each text or list that is added copies all earlier ones.
fn summed(arguments: &[Value]) -> u64 {
    let start = given(arguments, 2, "start").filter(|start| !start.is_number());
    let copied = if start.is_some() { items(arguments.first()) } else { 1 };
    per_item(arguments).max(items(arguments.first()).saturating_mul(copied))
}

fn operated(arguments: &[Value]) -> u64 {
    let [Some(a), Some(name), Some(b)] = [0, 1, 2].map(|index| arguments.get(index)) else {
        return 0;
    };
    match name.as_str() {
        Some("*") => {}
        Some("[:]") => return ranged(arguments),
        _ => return 0,
    }
    let times = |value: &Value, count: &Value| {
        let list = || items(Some(value)).saturating_mul(limit::ITEM_BYTES);
        let one = if value.as_str().is_some() { text_len(value) } else { list() };
        let held = if value.is_number() { 0 } else { one };
        held.saturating_mul(number(Some(count.clone())))
    };
    times(a, b).max(times(b, a))
}
