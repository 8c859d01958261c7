//! The operators, as a filter, which is the only way to bound them in minijinja.

use std::sync::LazyLock;

use hashbrown::HashMap;
use minijinja::value::{Tuple, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Expression, UndefinedBehavior, Value, context};

/// Each operator as an expression of its own.
static OPERATORS: LazyLock<HashMap<&str, Expression<'static, 'static>>> = LazyLock::new(|| {
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

/// `a|_operate(name, b, …)`: the result of the operator.
pub(super) fn operate(
    a: Value,
    name: &str,
    b: Value,
    c: Option<Value>,
    d: Option<Value>,
) -> Result<Value, Error> {
    let operator = OPERATORS.get(name).ok_or(ErrorKind::UnknownFunction)?;
    let backwards = d.as_ref().and_then(Value::as_i64).filter(|step| name == "[:]" && *step < 0);
    if let Some(step) = backwards
        && let Some(slice) = slice_backwards(&a, &b, c.as_ref(), step)
    {
        return Ok(slice);
    }
    let operands = context! { a, b, c, d };
    // The error's place is in the expression above; the engine adds that of the call.
    operator.eval(operands).map_err(|error| match error.detail() {
        Some(detail) => Error::new(error.kind(), detail.to_owned()),
        None => Error::from(error.kind()),
    })
}

/// Returns `value[start:stop:step]` with a negative step, if the value is a text or a list.
/// minijinja's own indexes out of bounds, subtracts below zero, and stops in wrong places.
fn slice_backwards(value: &Value, start: &Value, stop: Option<&Value>, step: i64) -> Option<Value> {
    let text: Option<Vec<char>> = value.as_str().map(|text| text.chars().collect());
    let is_list = matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable);
    let items: Vec<Value> = match text {
        Some(_) => Vec::new(),
        None if is_list => value.try_iter().ok()?.collect(),
        None => return None,
    };
    let len = i64::try_from(text.as_ref().map_or(items.len(), Vec::len)).ok()?;
    // As in Python: a negative bound counts from the end, and a bound outside is the nearest end.
    let bound = |bound: Option<&Value>, missing: i64| match bound.filter(|bound| !bound.is_none()) {
        None => Some(missing),
        Some(bound) => {
            let bound = bound.as_i64()?;
            Some(if bound < 0 { bound.saturating_add(len).max(-1) } else { bound.min(len - 1) })
        }
    };
    let (start, stop) = (bound(Some(start), len - 1)?, bound(stop, -1)?);
    let indexes = std::iter::successors(Some(start), |index| index.checked_add(step))
        .take_while(|index| *index > stop)
        .filter_map(|index| usize::try_from(index).ok());
    Some(match text {
        Some(text) => indexes.filter_map(|index| text.get(index)).collect::<String>().into(),
        None => {
            let taken: Vec<_> = indexes.filter_map(|index| items.get(index).cloned()).collect();
            if value.is_tuple() { Tuple::from(taken).into() } else { taken.into() }
        }
    })
}
