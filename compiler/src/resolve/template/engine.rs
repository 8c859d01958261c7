//! minijinja with every native operation bounded.
//!
//! minijinja counts the instructions of a template (its fuel) but not what one instruction does:
//! `[0] * 100000000`, a `replace`, or a text doubled in a loop would take any time and memory.
//! Here each filter, test and function measures what it is given before it runs and what it made
//! after, and pays for both from one budget; [`rewrite`](super::rewrite) turns operators into
//! such filters. There is no clock, environment or file in reach.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use minijinja::functions as builtin;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{
    Environment, Error, ErrorKind, Expression, State, UndefinedBehavior, Value, context, filters,
    tests,
};
use thiserror::Error as ThisError;

use super::limit;

/// The first character of a slot; the argument's index and [`SLOT_END`] follow.
pub(super) const SLOT_START: char = '\u{FDD0}';
/// The last character of a slot.
pub(super) const SLOT_END: char = '\u{FDD1}';
/// Delimiters of the templates that [`rewrite`](super::rewrite) makes: no author can write them.
pub(super) const BLOCK_START: &str = "\u{FDD2} ";
pub(super) const BLOCK_END: &str = " \u{FDD3}";
pub(super) const PRINT_START: &str = "\u{FDD4} ";
pub(super) const PRINT_END: &str = " \u{FDD5}";

/// Filters that only rewritten templates have: measure a value, pay for bytes, and operate.
pub(super) const MEASURE: &str = "_measure";
pub(super) const PAY: &str = "_pay";
pub(super) const OPERATE: &str = "_operate";

/// What a template may not do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ThisError)]
pub(super) enum Excess {
    #[error("the budget for work is spent")]
    Work,
    #[error("a value is too large")]
    Value,
    #[error("a value nests too deep")]
    Depth,
    #[error("free text is used")]
    Slot,
}

/// The templates of one prompt, ready to be rendered.
pub(super) struct Engine {
    environment: Environment<'static>,
    budget: Budget,
}

/// What the rendering under way may still read and write.
#[derive(Clone)]
struct Budget(Arc<AtomicU64>);

/// Why a text could not be rendered.
pub(super) enum Failure {
    /// The engine stopped.
    Stopped(Error),
    /// The text passed [`limit::TEXT_BYTES_MAX`].
    TooLarge,
}

impl Engine {
    pub(super) fn new() -> Self {
        let budget = Budget(Arc::default());
        let mut environment = Environment::empty();
        environment.set_debug(false);
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment.set_fuel(Some(limit::STEPS_MAX));
        environment.set_recursion_limit(limit::CALLS_MAX);
        if let Some(syntax) = made_syntax() {
            environment.set_syntax(syntax);
        }
        for (name, filter, estimate) in known_filters() {
            let bounded = bounded(&budget, filter, estimate);
            environment.add_filter(name, bounded);
        }
        for (name, test) in known_tests() {
            environment.add_test(name, bounded(&budget, test, no_growth));
        }
        for name in PRESENCE_TESTS {
            let [defined, none] = [*name == "defined", *name == "none"];
            environment.add_test(*name, move |value: &Value| {
                if none { value.is_none() } else { value.is_undefined() != defined }
            });
        }
        for (name, function, estimate) in known_functions() {
            environment.add_function(name, bounded(&budget, function, estimate));
        }
        environment.add_filter(OPERATE, bounded(&budget, Value::from_function(operate), operated));
        let payer = budget.clone();
        environment.add_filter(PAY, move |bytes: u64| payer.pay(bytes).map(|()| ""));
        let payer = budget.clone();
        environment
            .add_filter(MEASURE, move |value: &Value| payer.measure(value).map(|()| value.clone()));
        let payer = budget.clone();
        environment.set_formatter(move |out, _, value| {
            match value.as_str() {
                // Text with slots inside may be printed, and only that.
                Some(text) => {
                    payer.pay(text.len() as u64)?;
                    out.write_str(text)?;
                }
                None if value.is_undefined() => {}
                None => {
                    payer.measure(value)?;
                    write!(out, "{value}")?;
                }
            }
            Ok(())
        });
        Self { environment, budget }
    }

    /// Adds a rewritten template.
    pub(super) fn add(&mut self, name: String, made: String) -> Result<(), Error> {
        self.environment.add_template_owned(name, made)
    }

    /// Renders one template with the values of the arguments.
    pub(super) fn render(
        &self,
        name: &str,
        values: &BTreeMap<String, Value>,
    ) -> Result<String, Failure> {
        self.budget.refill();
        let template = self.environment.get_template(name).map_err(Failure::Stopped)?;
        let mut text = Capped::default();
        let values = Value::from(values.clone());
        let rendered = template.render_captured_to(values, &mut text).map(drop);
        match rendered {
            _ if text.over => Err(Failure::TooLarge),
            Err(error) => Err(Failure::Stopped(error)),
            Ok(()) => Ok(String::from_utf8_lossy(&text.bytes).into_owned()),
        }
    }
}

/// How authors write templates: a tag takes the line end behind it and the spaces before it
/// along, so that tags on lines of their own leave no trace; nothing else is trimmed.
pub(super) fn written_syntax() -> Option<SyntaxConfig> {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build().ok()
}

fn made_syntax() -> Option<SyntaxConfig> {
    SyntaxConfig::builder()
        .block_delimiters(BLOCK_START.trim(), BLOCK_END.trim())
        .variable_delimiters(PRINT_START.trim(), PRINT_END.trim())
        .comment_delimiters("\u{FDD6}", "\u{FDD7}")
        .keep_trailing_newline(true)
        .build()
        .ok()
}

/// Returns the filters that templates have.
pub(super) fn filter_names() -> impl Iterator<Item = &'static str> {
    known_filters().into_iter().map(|(name, ..)| name)
}

/// Returns the tests that templates have.
pub(super) fn test_names() -> impl Iterator<Item = &'static str> {
    known_tests().into_iter().map(|(name, _)| name).chain(PRESENCE_TESTS.iter().copied())
}

/// Returns the functions that templates have.
pub(super) fn function_names() -> impl Iterator<Item = &'static str> {
    known_functions().into_iter().map(|(name, ..)| name)
}

/// Tests that look at no content, which is why free text may be tested with them.
pub(super) const PRESENCE_TESTS: &[&str] = &["defined", "undefined", "none"];

/// All arguments of a call.
type Arguments = Rest<ValueOrKwargs>;

/// Says how many bytes a call could make beyond what its arguments have.
type Estimate = fn(&[Value]) -> u64;

/// The estimate of a call that minijinja must not get: it computes with offsets and lengths
/// without a look at overflow.
const OUT_OF_RANGE: u64 = u64::MAX;

/// The filters of minijinja but for those whose cost no argument tells: `format` pads to any
/// width, `chain` nests without end, `pprint` shows what is inside the engine.
fn known_filters() -> Vec<(&'static str, Value, Estimate)> {
    vec![
        ("abs", Value::from_function(filters::abs), no_growth),
        ("attr", Value::from_function(filters::attr), no_growth),
        ("batch", Value::from_function(filters::batch), counted),
        ("bool", Value::from_function(filters::bool), no_growth),
        ("capitalize", Value::from_function(filters::capitalize), no_growth),
        ("count", Value::from_function(filters::length), no_growth),
        ("d", Value::from_function(filters::default), no_growth),
        ("default", Value::from_function(filters::default), no_growth),
        ("dictsort", Value::from_function(filters::dictsort), per_item),
        ("e", Value::from_function(filters::escape), no_growth),
        ("escape", Value::from_function(filters::escape), no_growth),
        ("first", Value::from_function(filters::first), no_growth),
        ("float", Value::from_function(filters::float), no_growth),
        ("groupby", Value::from_function(filters::groupby), per_item),
        ("indent", Value::from_function(filters::indent), indented),
        ("int", Value::from_function(filters::int), no_growth),
        ("items", Value::from_function(filters::items), no_growth),
        ("join", Value::from_function(filters::join), per_item),
        ("last", Value::from_function(filters::last), no_growth),
        ("length", Value::from_function(filters::length), no_growth),
        ("lines", Value::from_function(filters::lines), no_growth),
        ("list", Value::from_function(filters::list), no_growth),
        ("lower", Value::from_function(filters::lower), no_growth),
        ("map", Value::from_function(filters::map), per_item),
        ("max", Value::from_function(filters::max), per_item),
        ("min", Value::from_function(filters::min), per_item),
        ("reject", Value::from_function(filters::reject), per_item),
        ("rejectattr", Value::from_function(filters::rejectattr), per_item),
        ("replace", Value::from_function(filters::replace), replaced),
        ("reverse", Value::from_function(filters::reverse), no_growth),
        ("round", Value::from_function(filters::round), no_growth),
        ("safe", Value::from_function(filters::safe), no_growth),
        ("select", Value::from_function(filters::select), per_item),
        ("selectattr", Value::from_function(filters::selectattr), per_item),
        ("slice", Value::from_function(filters::slice), counted),
        ("sort", Value::from_function(filters::sort), per_item),
        ("split", Value::from_function(filters::split), no_growth),
        ("string", Value::from_function(filters::string), no_growth),
        ("sum", Value::from_function(filters::sum), summed),
        ("title", Value::from_function(filters::title), no_growth),
        ("trim", Value::from_function(filters::trim), trimmed),
        ("unique", Value::from_function(filters::unique), per_item),
        ("upper", Value::from_function(filters::upper), no_growth),
        ("zip", Value::from_function(filters::zip), no_growth),
    ]
}

fn known_tests() -> Vec<(&'static str, Value)> {
    let [eq, ne] = [Value::from_function(tests::is_eq), Value::from_function(tests::is_ne)];
    let [lt, le] = [Value::from_function(tests::is_lt), Value::from_function(tests::is_le)];
    let [gt, ge] = [Value::from_function(tests::is_gt), Value::from_function(tests::is_ge)];
    vec![
        ("boolean", Value::from_function(tests::is_boolean)),
        ("divisibleby", Value::from_function(is_divisible)),
        ("endingwith", Value::from_function(tests::is_endingwith)),
        ("eq", eq.clone()),
        ("equalto", eq.clone()),
        ("==", eq),
        ("even", Value::from_function(tests::is_even)),
        ("false", Value::from_function(tests::is_false)),
        ("float", Value::from_function(tests::is_float)),
        ("ge", ge.clone()),
        (">=", ge),
        ("greaterthan", gt.clone()),
        ("gt", gt.clone()),
        (">", gt),
        ("in", Value::from_function(tests::is_in)),
        ("integer", Value::from_function(tests::is_integer)),
        ("iterable", Value::from_function(tests::is_iterable)),
        ("le", le.clone()),
        ("<=", le),
        ("lessthan", lt.clone()),
        ("lower", Value::from_function(tests::is_lower)),
        ("lt", lt.clone()),
        ("<", lt),
        ("mapping", Value::from_function(tests::is_mapping)),
        ("ne", ne.clone()),
        ("!=", ne),
        ("number", Value::from_function(tests::is_number)),
        ("odd", Value::from_function(tests::is_odd)),
        ("sameas", Value::from_function(tests::is_sameas)),
        ("sequence", Value::from_function(tests::is_sequence)),
        ("startingwith", Value::from_function(tests::is_startingwith)),
        ("string", Value::from_function(tests::is_string)),
        ("true", Value::from_function(tests::is_true)),
        ("upper", Value::from_function(tests::is_upper)),
    ]
}

fn known_functions() -> Vec<(&'static str, Value, Estimate)> {
    vec![
        ("dict", Value::from_function(builtin::dict), no_growth),
        ("namespace", Value::from_function(builtin::namespace), no_growth),
        ("range", Value::from_function(builtin::range), ranged),
    ]
}

/// `a is divisibleby(b)`; minijinja's own divides by zero.
fn is_divisible(a: &Value, b: &Value) -> bool {
    match [a, b].map(|value| i128::try_from(value.clone())) {
        [Ok(a), Ok(b)] => a.checked_rem(b) == Some(0),
        _ => false,
    }
}

/// Wraps a native operation: what it takes and what it makes is measured and paid for.
fn bounded(
    budget: &Budget,
    operation: Value,
    estimate: Estimate,
) -> impl Fn(&mut State<'_, '_>, Arguments) -> Result<Value, Error> + Send + Sync + 'static {
    let budget = budget.clone();
    move |state, arguments| {
        let arguments = arguments.into_values();
        for argument in &arguments {
            budget.measure(argument)?;
        }
        let growth = estimate(&arguments);
        if growth == OUT_OF_RANGE {
            return Err(Error::new(ErrorKind::InvalidOperation, "a number is out of range"));
        }
        if growth > limit::VALUE_MAX {
            return Err(Excess::Value.into());
        }
        budget.pay(growth)?;
        let made = settled(operation.call(state, &arguments)?);
        budget.measure(&made)?;
        Ok(made)
    }
}

/// Makes a list of what would be computed anew at each look, and nest with each call.
fn settled(value: Value) -> Value {
    if value.kind() != ValueKind::Iterable {
        return value;
    }
    // One item more than any value may have shows that there are too many.
    let items_max = limit::VALUE_MAX / limit::ITEM_BYTES + 1;
    match value.try_iter() {
        Ok(items) => items.take(usize::try_from(items_max).unwrap_or(usize::MAX)).collect(),
        Err(_) => value,
    }
}

impl Budget {
    fn refill(&self) {
        self.0.store(limit::WORK_MAX, Ordering::Relaxed);
    }

    fn pay(&self, bytes: u64) -> Result<(), Error> {
        let left = self.0.load(Ordering::Relaxed);
        self.0.store(left.saturating_sub(bytes), Ordering::Relaxed);
        if bytes > left { Err(Excess::Work.into()) } else { Ok(()) }
    }

    /// Pays for one look at all that a value holds.
    fn measure(&self, value: &Value) -> Result<(), Error> {
        let mut room = limit::VALUE_MAX;
        let fits = measure(value, 0, &mut room);
        self.pay(limit::VALUE_MAX - room)?;
        fits.map_err(Error::from)
    }
}

/// Takes the size of a value from `room`. A value that holds itself nests too deep.
fn measure(value: &Value, depth: usize, room: &mut u64) -> Result<(), Excess> {
    let own = match value.kind() {
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default();
            if text.contains(SLOT_START) {
                return Err(Excess::Slot);
            }
            text.len() as u64
        }
        ValueKind::Bytes => value.len().unwrap_or(0) as u64,
        _ => 1,
    };
    *room = room.checked_sub(own).ok_or(Excess::Value)?;
    let is_map = value.kind() == ValueKind::Map;
    if !is_map && !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Ok(());
    }
    if depth == limit::VALUE_DEPTH_MAX {
        return Err(Excess::Depth);
    }
    for item in value.try_iter().into_iter().flatten() {
        *room = room.checked_sub(limit::ITEM_BYTES).ok_or(Excess::Value)?;
        measure(&item, depth + 1, room)?;
        if is_map && let Ok(held) = value.get_item(&item) {
            measure(&held, depth + 1, room)?;
        }
    }
    Ok(())
}

impl From<Excess> for Error {
    fn from(excess: Excess) -> Self {
        Error::new(ErrorKind::InvalidOperation, excess.to_string()).with_source(excess)
    }
}

/// The operators, each as an expression of its own: minijinja has no other door to them.
static OPERATORS: LazyLock<BTreeMap<&str, Expression<'static, 'static>>> = LazyLock::new(|| {
    static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
        let mut environment = Environment::empty();
        environment.set_debug(false);
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment
    });
    [
        ("+", "a + b"),
        ("-", "a - b"),
        ("*", "a * b"),
        ("/", "a / b"),
        ("//", "a // b"),
        ("%", "a % b"),
        ("**", "a ** b"),
        ("~", "a ~ b"),
        ("[]", "a[b]"),
        ("[:]", "a[b:c:d]"),
    ]
    .into_iter()
    .filter_map(|(name, written)| Some((name, ENVIRONMENT.compile_expression(written).ok()?)))
    .collect()
});

/// `a|_operate(name, b, …)`: what the operator makes of its operands.
fn operate(
    a: Value,
    name: &str,
    b: Value,
    c: Option<Value>,
    d: Option<Value>,
) -> Result<Value, Error> {
    let operator = OPERATORS.get(name).ok_or(ErrorKind::UnknownFunction)?;
    // The place that the error has is in the expression above; the engine adds that of the call.
    operator.eval(context! { a, b, c, d }).map_err(|error| match error.detail() {
        Some(detail) => Error::new(error.kind(), detail.to_owned()),
        None => Error::from(error.kind()),
    })
}

fn no_growth(_: &[Value]) -> u64 {
    0
}

/// An argument by position or by name.
fn given(arguments: &[Value], index: usize, name: &str) -> Option<Value> {
    let named = arguments.last().filter(|last| last.is_kwargs());
    let by_name = named.and_then(|named| named.get_item(&Value::from(name)).ok());
    let by_index = arguments.get(index).filter(|argument| !argument.is_kwargs()).cloned();
    by_index.or(by_name).filter(|value| !value.is_undefined())
}

fn items(value: Option<&Value>) -> u64 {
    value.and_then(Value::len).unwrap_or(0) as u64
}

fn number(value: Option<Value>) -> u64 {
    value.and_then(|value| value.as_i64()).map_or(0, |number| u64::try_from(number).unwrap_or(0))
}

fn text_len(value: &Value) -> u64 {
    value.as_str().map_or(0, |text| text.len() as u64)
}

/// Looks at its longest text once for each item.
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
    // Without a set of characters, it looks at white space alone.
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

/// Adding texts or lists one by one copies all that was added before.
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

/// A text that stops growing at [`limit::TEXT_BYTES_MAX`].
#[derive(Default)]
struct Capped {
    bytes: Vec<u8>,
    over: bool,
}

impl io::Write for Capped {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + more.len() > limit::TEXT_BYTES_MAX {
            self.over = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
