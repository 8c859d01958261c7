//! Free text is only printed: it decides nothing, it stays unread, and no other text passes for it.

use super::outcome;

/// Sets `x` to a caller's value alone.
const CAPTURE: &str = "{% set x %}{{ name }}{% endset %}";
/// Sets `y` to a text that holds free text.
const AROUND: &str = "{% set y %}<{{ name }}>{% endset %}";

fn check(template: &str, expected: &str) {
    let template = template.replace("CAPTURE", CAPTURE).replace("AROUND", AROUND);
    let outcome = outcome(&template);
    assert!(outcome.starts_with(expected), "{template}: {outcome}");
}

#[test]
fn a_text_of_free_text_alone_is_no_truth_value() {
    for (template, label) in [
        ("CAPTURE{% if x %}a{% endif %}", "x"),
        ("CAPTURE{% if not x %}a{% endif %}", "x"),
        ("CAPTURE{{ 'a' if x else 'b' }}", "x"),
        ("CAPTURE{{ x or 'b' }}", "x"),
        ("CAPTURE{{ x and 'b' }}", "x"),
        ("CAPTURE{% if debug and (x or tier) %}a{% endif %}", "x"),
        ("CAPTURE{% if (x if true else 1) %}a{% endif %}", "x if true else 1"),
        ("CAPTURE{% for i in [1] if x %}a{% endfor %}", "x"),
        ("CAPTURE{% set ns = namespace() %}{% set ns.a = x %}{% if ns.a %}a{% endif %}", "ns.a"),
        ("{% macro m() %}{{ name }}{% endmacro %}{% if m() %}a{% endif %}", "m()"),
        ("{% macro m(x) %}{% if x %}a{% endif %}{% endmacro %}CAPTURE{{ m(x) }}", "x"),
    ] {
        check(template, &format!("template::free_text `{label}`: `{label}` holds free text"));
    }
    // A text with any other character is true for every value from the caller.
    check("AROUND{% if y %}a{% else %}b{% endif %}", "a");
    check("AROUND{{ y or 'b' }}{{ y and 'c' }}", "<[0]>c");
    check("{% set x %}{% endset %}{% if x %}a{% else %}b{% endif %}", "b");
    // A test of the argument itself asks for its presence.
    check("{{ 'a' if name else 'b' }}{{ name and 'a' }}", "template::free_text `name`");
    check("{{ 'a' if name else 'b' }}{{ name or 'a' }}", "a[0]");
}

#[test]
fn no_method_looks_at_free_text() {
    for template in [
        "AROUND{% for i in [1, 2] %}{{ loop.changed(y) }}{% endfor %}",
        "AROUND{% for i in [1, 2] %}{% set l = loop %}{{ l.changed(1, y) }}{% endfor %}",
        "AROUND{% for i in [1] recursive %}{{ loop(y) if loop.depth == 1 else 'a' }}{% endfor %}",
        "AROUND{% for i in [1] recursive %}{% set l = loop %}{{ l(y) if l.depth == 1 }}{% endfor %}",
        "AROUND{% for i in [1] %}{% call loop.changed(y) %}{% endcall %}{% endfor %}",
        "{% import 'hello.j2' as m %}{{ m is startingwith('Hello') }}",
        "{% import 'hello.j2' as m %}{{ [m]|select('startingwith', 'Hello')|list|length }}",
        "AROUND{% set ns = namespace() %}{% set ns.a = y %}{{ ns }}",
        "AROUND{{ y in ['a'] }}",
        "AROUND{{ {y: 1} }}",
        "AROUND{{ y[1:] }}",
        "AROUND{{ y|length }}",
        "AROUND{{ y is string }}",
    ] {
        check(template, "template::free_text");
    }
    // Macros, blocks and loops pass it on.
    check("{% from 'macros.j2' import twice %}AROUND{{ twice(y) }}", "<[0]><[0]>");
    check(
        "{% import 'macros.j2' as m %}AROUND{{ m.twice(y) }}{{ m.twice(x=y) }}",
        "<[0]><[0]><[0]",
    );
    check(
        "{% macro m() %}{{ caller(y) }}{% endmacro %}AROUND{% call(z) m() %}{{ z }}{% endcall %}",
        "",
    );
    check(
        "{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{{ loop.cycle('a', 'b') }}{% endfor %}",
        "TrueaFalsebTruea",
    );
    check(
        "{% for i in [1, [2]] recursive %}{{ loop(i) if i is iterable else i }}{% endfor %}",
        "12",
    );
}

#[test]
fn slots_cannot_be_forged_or_swallowed() {
    for (template, label) in [
        ("{{ '\\ufdd01\\ufdd1' }}", "'\\ufdd01\\ufdd1'"),
        ("{{ '\\ufdd0' }}{{ name }}", "'\\ufdd0'"),
        ("{{ 'a' ~ '\\ufdd1' }}", "'\\ufdd1'"),
        ("{{ {'\\ufdd0': 1} }}", "'\\ufdd0'"),
        ("{{ env_name|replace('d', '\\ufdd0') }}", "'\\ufdd0'"),
        ("{{ 'a' '\\ufdef' }}", "'a' '\\ufdef'"),
    ] {
        check(template, &format!("template::reserved_character `{label}`"));
    }
    check("{{ '\\ufdcf' }}{{ name }}", "\u{fdcf}[0]");
}
