//! The operators, as a filter: minijinja has no other way to bound them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use minijinja::{Environment, Error, ErrorKind, Expression, UndefinedBehavior, Value, context};

/// Each operator as an expression of its own.
static OPERATORS: LazyLock<BTreeMap<&str, Expression<'static, 'static>>> = LazyLock::new(|| {
    static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
        let mut environment = Environment::empty();
        environment.set_debug(false);
        environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
        environment
    });
    let written = ["+", "-", "*", "/", "//", "%", "**", "~"].map(|name| (name, "a ? b", name));
    let items = [("[]", "a[b]", ""), ("[:]", "a[b:c:d]", "")];
    let expressions = written.into_iter().chain(items);
    expressions
        .filter_map(|(name, written, operator)| {
            let written = written.replace('?', operator);
            Some((name, ENVIRONMENT.compile_expression_owned(written).ok()?))
        })
        .collect()
});

/// `a|_operate(name, b, …)`: what the operator makes of its operands.
pub(super) fn operate(
    a: Value,
    name: &str,
    b: Value,
    c: Option<Value>,
    d: Option<Value>,
) -> Result<Value, Error> {
    let operator = OPERATORS.get(name).ok_or(ErrorKind::UnknownFunction)?;
    let operands = if name == "[:]" && takes_nothing(&a, &b, c.as_ref(), d.as_ref()) {
        context! { a, b => 0, c => 0, d => 1 }
    } else {
        context! { a, b, c, d }
    };
    // The place that the error has is in the expression above; the engine adds that of the call.
    operator.eval(operands).map_err(|error| match error.detail() {
        Some(detail) => Error::new(error.kind(), detail.to_owned()),
        None => Error::from(error.kind()),
    })
}

/// Whether a slice goes backwards and takes nothing: minijinja then indexes out of bounds, or
/// subtracts below zero.
fn takes_nothing(value: &Value, start: &Value, stop: Option<&Value>, step: Option<&Value>) -> bool {
    let bound = |value: Option<&Value>| value.and_then(Value::as_i64);
    let text_len = value.as_str().map(|text| text.chars().count());
    let Some(len) = text_len.or_else(|| value.len()).and_then(|len| i64::try_from(len).ok()) else {
        return false;
    };
    let last = len.saturating_sub(1);
    let from = |bound: i64| if bound < 0 { len.saturating_add(bound).max(0) } else { bound };
    let start = bound(Some(start)).map_or(last, from).min(last);
    let stop = bound(stop).map_or(0, from);
    bound(step).is_some_and(|step| step < 0) && (len == 0 || start < stop)
}
