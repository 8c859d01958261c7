//! The parts of a program's facts from which its effects follow: all but the tiers.

use relay_policy::facts::{Form, Node, Operand, Role, Special, Value};
use relay_policy::tier::Tier;

/// Returns the facts of a program without its tiers and words: two programs with equal ones have the
/// same effects, and rules read their commands alike.
pub(super) fn of(node: &Node) -> Node {
    let mut node = Node { tier: None, says: String::new(), ..node.clone() };
    for flag in &mut node.flags {
        (flag.tier, flag.cap) = (Tier::ReadOnly, None);
        flag.says.clear();
        values(&mut flag.values);
    }
    operands(&mut node.operands);
    for form in &mut node.forms {
        form.tier = Tier::ReadOnly;
        form.says.clear();
        operands(&mut form.operands);
    }
    node.subs = node.subs.iter().map(of).collect();
    node
}

fn values(list: &mut [Value]) {
    for value in list {
        (value.tier, value.cap) = (Tier::ReadOnly, None);
        value.says.clear();
    }
}

fn operands(list: &mut [Operand]) {
    list.iter_mut().for_each(|operand| values(&mut operand.values));
}

/// Returns whether a program may run others, whose calls then follow from its facts too.
pub(super) fn runs_others(node: &Node) -> bool {
    let of_operand = |operand: &Operand| {
        operand.role.is_code() || operand.values.iter().any(|value| value.role.is_code())
    };
    let of_form = |form: &Form| {
        let stdin = form.stdin.is_some_and(Role::is_code);
        stdin
            || form.operands.iter().any(of_operand)
            || form.roles.iter().any(|(_, role)| role.is_code())
    };
    node.special != Special::Nothing
        || node.stdin.is_code()
        || node
            .flags
            .iter()
            .any(|flag| flag.role.is_code() || flag.values.iter().any(|value| value.role.is_code()))
        || node.operands.iter().any(of_operand)
        || node.forms.iter().any(of_form)
        || node.subs.iter().any(runs_others)
}
