//! minijinja with every native operation bounded.
//!
//! minijinja counts the instructions of a template (its fuel) and leaves out the work of one
//! instruction: `[0] * 100000000`, a `replace`, or a text doubled in a loop would take any time and
//! memory. Here each filter, test and function measures its arguments before it runs and its result
//! after, and pays for both from one budget; [`rewrite`](super::rewrite) turns operators into such
//! filters. Templates reach no clock, environment or file.

mod budget;
mod builtin;
mod operator;

use std::collections::BTreeMap;
use std::io;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Rest, ValueKind, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, Value};

pub(super) use self::budget::Stop;
use self::budget::{Budget, is_data};
use self::builtin::{Builtin, FILTERS, FUNCTIONS, OPERATOR, OUT_OF_RANGE, TESTS};
use super::limit;
use super::slot::{Slot, only_free_text};

/// Delimiters of the templates that [`rewrite`](super::rewrite) makes, which authors cannot write.
pub(super) const BLOCK_START: &str = "\u{FDD2} ";
pub(super) const BLOCK_END: &str = " \u{FDD3}";
pub(super) const PRINT_START: &str = "\u{FDD4} ";
pub(super) const PRINT_END: &str = " \u{FDD5}";

/// Filters that only rewritten templates have. `value|_operate(operator, …)` is an operator.
pub(super) const OPERATE: &str = "_operate";
/// `value|_measure`: the value, which is paid for as a whole.
pub(super) const MEASURE: &str = "_measure";
/// `bytes|_pay`: an empty text, to pay for repeated text.
pub(super) const PAY: &str = "_pay";
/// `value|_truth`: the value, whose truth must be the same for all values from callers.
pub(super) const TRUTH: &str = "_truth";
/// `value|_argument(callee)`: the value; only a macro may get free text.
pub(super) const ARGUMENT: &str = "_argument";
/// `value|_store(namespace)`: the value, which must not hold the namespace: such a circle would
/// never be freed.
pub(super) const STORE: &str = "_store";

/// Tests that leave the content unread, so that free text may be tested with them.
pub(super) const PRESENCE_TESTS: &[&str] = &["defined", "undefined", "none"];

/// The templates of one prompt, ready to be rendered.
pub(super) struct Engine {
    environment: Environment<'static>,
    budget: Budget,
}

/// The error of rendering a text.
pub(super) enum Failure {
    /// The engine stopped.
    Stopped(Error),
    /// The text passed [`limit::TEXT_BYTES_MAX`].
    TooLarge,
}

impl Engine {
    pub(super) fn new() -> Self {
        let budget = Budget::default();
        let mut environment = Environment::empty();
        environment.set_debug(false);
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment.set_fuel(Some(limit::STEPS_MAX));
        environment.set_recursion_limit(limit::CALLS_MAX);
        if let Some(syntax) = made_syntax() {
            environment.set_syntax(syntax);
        }
        for (name, filter) in &*FILTERS {
            environment.add_filter(*name, bounded(&budget, filter));
        }
        for (name, test) in &*TESTS {
            environment.add_test(*name, bounded(&budget, test));
        }
        for (name, function) in &*FUNCTIONS {
            environment.add_function(*name, bounded(&budget, function));
        }
        for name in PRESENCE_TESTS {
            let [defined, none] = [*name == "defined", *name == "none"];
            environment.add_test(*name, move |value: &Value| {
                if none { value.is_none() } else { value.is_undefined() != defined }
            });
        }
        environment.add_filter(OPERATE, bounded(&budget, &OPERATOR));
        add_guards(&mut environment, &budget);
        let payer = budget.clone();
        environment.set_formatter(move |out, state, value| {
            payer.note_steps(state);
            match value.as_str() {
                // A text that holds free text may only be printed.
                Some(text) => {
                    payer.pay(text.len() as u64)?;
                    out.write_str(text)?;
                }
                None if value.downcast_object_ref::<Slot>().is_some() => write!(out, "{value}")?,
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
        let rendered = template.render_captured_to(values, &mut text);
        let rendered = rendered.map(|captured| self.budget.note_steps(captured.state()));
        match rendered {
            _ if text.over => Err(Failure::TooLarge),
            Err(error) => {
                self.budget.note_failure(&error);
                Err(Failure::Stopped(error))
            }
            Ok(()) => Ok(String::from_utf8_lossy(&text.bytes).into_owned()),
        }
    }

    /// Returns the cost of the last rendering; see [`limit::PROJECT_COST_MAX`].
    pub(super) fn cost(&self) -> u64 {
        let (bytes, steps) = self.budget.spent();
        bytes.saturating_add(steps.saturating_mul(limit::STEP_COST))
    }
}

fn add_guards(environment: &mut Environment<'_>, budget: &Budget) {
    let payer = budget.clone();
    environment.add_filter(PAY, move |bytes: u64| payer.pay(bytes).map(|()| ""));
    let payer = budget.clone();
    environment
        .add_filter(MEASURE, move |value: &Value| payer.measure(value).map(|()| value.clone()));
    environment.add_filter(TRUTH, |value: Value| match only_free_text(&value) {
        Some(index) => Err(Stop::FreeText(index).into()),
        None => Ok(value),
    });
    let payer = budget.clone();
    environment.add_filter(ARGUMENT, move |value: Value, callee: &Value| {
        // Of all callable values, only macros have this attribute.
        if callee.get_attr("arguments").is_ok_and(|names| !names.is_undefined()) {
            return Ok(value);
        }
        payer.measure(&value)?;
        if is_data(&value) {
            return Ok(value);
        }
        // A loop keeps the arguments of its `changed`: if one held the loop, it would never be
        // freed.
        Err(Error::new(ErrorKind::InvalidOperation, "only data can be given to what is no macro"))
    });
    let payer = budget.clone();
    environment.add_filter(STORE, move |value: Value, namespace: &Value| {
        payer.measure_stored(&value, namespace).map(|()| value)
    });
}

/// The syntax of authors: Jinja's default for white space. Tags trim at a `-` alone, and the one
/// line end at the end of a template is dropped.
pub(super) fn written_syntax() -> Option<SyntaxConfig> {
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(false).lstrip_blocks(false).keep_trailing_newline(false).build().ok()
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

/// Returns the filters of templates.
pub(super) fn filter_names() -> impl Iterator<Item = &'static str> {
    FILTERS.iter().map(|(name, _)| *name)
}

/// Returns the tests of templates.
pub(super) fn test_names() -> impl Iterator<Item = &'static str> {
    TESTS.iter().map(|(name, _)| name).chain(PRESENCE_TESTS).copied()
}

/// Returns the functions of templates.
pub(super) fn function_names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

/// All arguments of a call.
type Arguments = Rest<ValueOrKwargs>;

/// Wraps a native operation: its arguments and its result are measured and paid for.
fn bounded(
    budget: &Budget,
    builtin: &Builtin,
) -> impl Fn(&mut State<'_, '_>, Arguments) -> Result<Value, Error> + Send + Sync + 'static {
    let budget = budget.clone();
    let Builtin { function, estimate } = builtin.clone();
    move |state, arguments| {
        budget.note_steps(state);
        let arguments = arguments.into_values();
        for argument in &arguments {
            budget.measure(argument)?;
        }
        let growth = estimate(&arguments);
        if growth == OUT_OF_RANGE {
            return Err(Error::new(ErrorKind::InvalidOperation, "a number is out of range"));
        }
        if growth > limit::VALUE_MAX {
            return Err(Stop::Value.into());
        }
        budget.pay(growth)?;
        let made = settled(function.call(state, &arguments)?);
        budget.measure(&made)?;
        Ok(made)
    }
}

/// Makes a list of a lazy value, which would be computed anew at each use and nest with each call.
fn settled(value: Value) -> Value {
    if value.kind() != ValueKind::Iterable {
        return value;
    }
    // One item more than the limit shows that there are too many.
    let items_max = limit::VALUE_MAX / limit::ITEM_BYTES + 1;
    match value.try_iter() {
        Ok(items) => items.take(usize::try_from(items_max).unwrap_or(usize::MAX)).collect(),
        Err(_) => value,
    }
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
