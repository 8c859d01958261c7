//! Templates that would take unlimited time or memory, or make minijinja panic.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::{TemplateText, TextPlace, at, file, outcome, render, run, templates};
use crate::diagnostic::Diagnostics;
use crate::resolve::template::limit;

#[test]
fn every_template_ends() {
    let doubling = "{% set x = x ~ x %}".repeat(60);
    let capture = "{% set x %}{{ x }}{{ x }}{% endset %}".repeat(60);
    let lists = "{% set x = [x, x] %}".repeat(60);
    let raw = format!(
        "{{% set y %}}{{% for a in range(10000) %}}{}{{% endfor %}}{{% endset %}}",
        "r".repeat(100_000)
    );
    let ns = |body: &str| {
        format!(
            "{{% set ns = namespace(x=['a']) %}}{{% for i in range(20000) %}}{body}{{% endfor %}}{{{{ ns.x }}}}"
        )
    };
    for (template, code) in [
        ("{{ [0] * 100000000 }}".into(), "template::value_too_large"),
        ("{{ 'a' * 100000000 }}".into(), "template::value_too_large"),
        ("{{ 'a' * 9999999 * 99999999 }}".into(), "template::value_too_large"),
        ("{{ ('a' * 1000000)|replace('', 'b' * 1000000) }}".into(), "template::value_too_large"),
        ("{{ ('a' * 1000000)|replace('a', 'b' * 1000) }}".into(), "template::value_too_large"),
        ("{{ range(50000)|join('b' * 100000) }}".into(), "template::value_too_large"),
        ("{{ 'a'|indent(1000000000000, true) }}".into(), "template::value_too_large"),
        ("{{ 'a'|indent(width=1000000000000, first=true) }}".into(), "template::value_too_large"),
        ("{{ [1]|batch(1000000000000, 0)|list }}".into(), "template::value_too_large"),
        ("{{ [1]|slice(1000000000000)|list }}".into(), "template::value_too_large"),
        ("{{ range(100000)|list }}".into(), "template::value_too_large"),
        ("{{ range(2000)|map('string')|sum(start='') }}".into(), "template::value_too_large"),
        (format!("{{% set x = 'aaaaaaaa' %}}{doubling}"), "template::value_too_large"),
        (format!("{{% set x = 'aaaaaaaa' %}}{capture}"), "template::too_much_work"),
        (format!("{{% set x = 'a' %}}{lists}{{{{ x }}}}"), "template::value_too_large"),
        ("{% set ns = namespace() %}{% set ns.a = ns %}{{ ns }}".into(), "template::too_deep"),
        (
            "{% set ns = namespace() %}{% set ns.a = ns %}{{ ns == ns }}".into(),
            "template::too_deep",
        ),
        (ns("{% set ns.x = [ns.x] %}"), "template::too_deep"),
        (ns("{% set ns.x = ns.x[0:] %}"), ""),
        (ns("{% set ns.x = ns.x|reverse %}"), ""),
        (ns("{% set ns.x = ns.x + ['a'] %}"), "template::too_much_work"),
        (
            "{% for a in range(10000) %}{% for b in range(10000) %}{% endfor %}{% endfor %}".into(),
            "template::too_many_steps",
        ),
        (
            "{% for a in range(10000) %}{{ 'abcdefgh' * 100 }}{% endfor %}".into(),
            "template::text_too_large",
        ),
        (raw, "template::too_much_work"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}".into(), "template::too_deep"),
        ("{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}".into(), "template::too_deep"),
        ("(".repeat(200_000), ""),
        (format!("{{{{ {} }}}}", "(".repeat(100_000)), "template::too_deep"),
        (format!("{{{{ {}1 }}}}", "not ".repeat(60_000)), "template::too_deep"),
        (format!("{{{{ {}1 }}}}", "-".repeat(60_000)), "template::too_deep"),
        (format!("{{{{ 1{} }}}}", "+1".repeat(60_000)), "template::too_deep"),
        (format!("{{{{ 1{} }}}}", " if 1 else 1".repeat(20_000)), "template::too_deep"),
        (format!("{{{{ x{} }}}}", "|upper".repeat(20_000)), "template::too_deep"),
        (
            format!("{{% if 1 %}}{}{{% endif %}}", "{% elif 1 %}".repeat(20_000)),
            "template::too_deep",
        ),
        ("{% if 1 %}".repeat(25_000), "template::too_deep"),
        ("a".repeat(300_000), "template::too_large"),
        ("\n".repeat(250_000), ""),
        // At the limit it works.
        (format!("{}{}", "{% if 1 %}".repeat(49), "{% endif %}".repeat(49)), ""),
        (format!("{{% if 0 %}}{}{{% endif %}}", "{% elif 0 %}".repeat(97)), ""),
        (format!("{{{{ {}1{} }}}}", "(".repeat(12), ")".repeat(12)), ""),
        (format!("{{{{ {}1{} }}}}", "[".repeat(12), "]".repeat(12)), ""),
        (format!("{{{{ 1{} }}}}", "+1".repeat(290)), ""),
        (format!("{{{{ 1{} }}}}", " if 1 else 1".repeat(140)), ""),
        (format!("{{{{ 1{} }}}}", "|string".repeat(290)), ""),
        (format!("{{{{ {}1 }}}}", "not ".repeat(50)), ""),
        (format!("{{{{ {}1 }}}}", "-".repeat(50)), ""),
        (format!("{{% set x = {{}} %}}{{{{ x{} is defined }}}}", ".a"), ""),
    ] {
        let start = Instant::now();
        let outcome = outcome(&template);
        let excerpt: String = template.chars().take(120).collect();
        let first: String = outcome.chars().take(200).collect();
        if code.is_empty() {
            assert!(!outcome.starts_with("template::"), "{excerpt}: {first}");
        } else {
            assert!(outcome.starts_with(code), "{excerpt}: {first}");
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{excerpt}: {:?}", start.elapsed());
    }
}

#[test]
fn extremes_do_not_panic() {
    let [small, large] = ["-9223372036854775808", "9223372036854775807"];
    let huge = "170141183460469231731687303715884105727";
    let numbers = [
        small,
        large,
        huge,
        "18446744073709551615",
        "1e18",
        "-1",
        "0",
        "1",
        "1.5",
        "1e308",
        "340282366920938463463374607431768211455",
        "'é'",
        "[1]",
        "none",
        "true",
    ];
    for a in numbers {
        for b in numbers {
            for operator in ["+", "-", "*", "/", "//", "%", "**", "~", "==", "<", "in"] {
                outcome(&format!("{{{{ {a} {operator} {b} }}}}"));
            }
            for call in [
                "range({a}, {b}, -1)",
                "range({a}, {b})",
                "{a}|round({b})",
                "{a}|int({b})",
                "'11'|int(0, {b})",
                "'11'|int(base={b})",
                "{a}|batch({b})",
                "[1,2]|batch({b}, 0)|list",
                "[1,2]|slice({b})",
                "[1,2]|slice({b}, 0)|list",
                "'aba'|replace('a', 'b', {b})",
                "'aé'[{a}:{b}:-1]",
                "[1,2][{a}:{b}:{b}]",
                "'é'[{a}:{b}]",
                "[1,2][{a}:{b}:{a}]",
                "'aé'[{a}]",
                "'a'|indent({b})",
                "{a}|abs",
                "-{a}",
                "{a}|trim({b})",
                "{a}|split('', {b})",
                "{a}|default({b})",
                "{a} is divisibleby({b})",
                "{a}|float",
                "{a}|title",
                "{a}|replace({b}, 'x')",
                "[{a},{b}]|sort|unique|list",
                "[{a},{b}]|sum",
                "[{a},{b}]|join({b})",
                "{a}|first",
                "{a}|string|reverse",
                "range({a})|length",
                "{{a: {b}}}|dictsort",
                "[{a}]|zip({b})|list",
                "[{a}]|groupby({b})",
                "{a}|attr({b})",
                "{a}|upper",
                "{a}|escape",
            ] {
                let call =
                    call.replace("{a}", a).replace("{b}", b).replace("{{", "{").replace("}}", "}");
                outcome(&format!("{{{{ {call} }}}}"));
            }
        }
    }
    for (template, code) in [
        ("{% block a %}{{ self.a() }}{% endblock %}", "template::too_deep"),
        ("{% block a %}{{ super() }}{% endblock %}", "template::render"),
        (
            "{% macro a() %}{% for x in [1] %}{{ a() }}{% endfor %}{% endmacro %}{{ a() }}",
            "template::too_deep",
        ),
        ("{% for x in [[1]] recursive %}{{ loop([x]) }}{% endfor %}", "template::too_deep"),
        ("{% extends 'base.j2' %}{% extends 'base.j2' %}", "template::render"),
        ("{% for x in [1] %}{{ loop.cycle() }}{% endfor %}", "template::syntax"),
        ("{% for x in [1] %}{{ loop.cycle(*[]) }}{% endfor %}", "template::syntax"),
        ("{% for x in [1] %}{{ loop.changed() }}{{ loop.nope() }}{% endfor %}", "template::render"),
        ("{% for x in [1] %}{{ (loop)(1) }}{{ loop() }}{% endfor %}", "template::render"),
        ("{{ loop(1) }}", "template::render"),
        ("{{ super() }}", "template::render"),
        ("{{ self.x() }}", "template::render"),
        ("{% set a, b = 1 %}", "template::render"),
        ("{{ range(**{1: 2}) }}", "template::render"),
        (
            "{{ {}|first }}{{ 1.5|round(400, 'ceil') }}{{ 1.5|round(-400, 'floor') }}{{ nope }}",
            "template::unknown",
        ),
        (
            "{{ 1.5|round(2147483647, 'ceil') }}{{ 1.5|round(-2147483648) }}{{ 1/0 }}",
            "template::render",
        ),
        ("{% macro a() %}{{ caller() }}{% endmacro %}{{ a() }}", "template::render"),
    ] {
        let outcome = outcome(template);
        assert!(outcome.starts_with(code), "{template}: {outcome}");
    }
}

/// Any order of pieces of templates gives one of the two answers instead of a panic.
#[test]
fn takes_any_text() {
    const PIECES: &[&str] = &[
        "{{",
        "}}",
        "{%",
        "%}",
        "{#",
        "#}",
        " if ",
        " else ",
        " for ",
        " in ",
        "endif",
        "endfor",
        " set ",
        "x",
        "name",
        "note",
        "tier",
        "env_name",
        "=",
        "|",
        "upper",
        "(",
        ")",
        "[",
        "]",
        "'a'",
        "1",
        "~",
        "+",
        "-",
        ".",
        ",",
        " is ",
        "defined",
        "not ",
        "{% if note %}",
        "{% endif %}",
        "{% for x in [1,2] %}",
        "{% endfor %}",
        "{{ name }}",
        "{% set x = 1 %}",
        "é",
        "\n",
        "\"",
        "\\",
        "{% include 'hello.j2' %}",
        "{% block b %}",
        "{% endblock %}",
        "{% macro x(a) %}",
        "{% endmacro %}",
        "{% extends 'base.j2' %}",
        "{{ x }}",
        "{{ x(1) }}",
    ];
    let mut state = 1u64;
    for _ in 0..4000 {
        let mut template = String::new();
        for _ in 0..12 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            template.push_str(PIECES[(state >> 33) as usize % PIECES.len()]);
        }
        let (rendered, out) = run(&template, TextPlace::Verbatim(file(0)));
        assert_eq!(rendered.is_none(), out.has_errors(), "{template}");
    }
}

/// Where minijinja indexes out of bounds, subtracts below zero, or takes one item too many.
#[test]
fn slices_backwards_of_little_do_not_panic() {
    for (template, expected) in [
        ("{{ ''[::-1] }}.", "."),
        ("{{ [][::-1] }}", "[]"),
        ("{{ ()[::-1] }}", "()"),
        ("{{ range(0)[::-1] }}", "[]"),
        ("{{ ''[3:1:-1] }}.", "."),
        ("{{ 'abc'[0:2:-1] }}.", "."),
        ("{{ [1, 2, 3][0:2:-1] }}", "[]"),
        ("{{ (1, 2, 3)[0:2:-1] }}", "()"),
        ("{{ 'abc'[5:4:-1] }}.", "."),
        ("{{ 'abc'[::-1] }}{{ [1, 2, 3][2:0:-1] }}{{ 'abc'[-1:-3:-1] }}", "cba[3, 2]cb"),
        ("{{ none[::-1] }}", "[]"),
    ] {
        assert_eq!(outcome(template), expected, "{template}");
    }
}

#[test]
fn a_namespace_cannot_hold_itself() {
    for template in [
        "{% set ns = namespace() %}{% set ns.a = ns %}",
        "{% set ns = namespace() %}{% set ns.a = [{'b': ns}] %}",
        "{% set a = namespace() %}{% set b = namespace(a=a) %}{% set a.b = b %}",
        "{% set ns = namespace() %}{% set (x, ns.a) = (1, ns) %}",
        "{% set ns = namespace() %}{% with ns.a = ns %}{% endwith %}",
        "{% set ns = namespace() %}{% with x = 1, ns.a = ns %}{% endwith %}",
    ] {
        let outcome = outcome(template);
        assert!(outcome.starts_with("template::"), "{template}: {outcome}");
    }
    let nested =
        "{% set a = namespace(x=1) %}{% set b = namespace() %}{% set b.a = a %}{{ b.a.x }}";
    assert_eq!(outcome(nested), "1");
    let kept =
        "{% for i in [1] %}{% set ns = namespace(l=loop) %}{{ loop.changed(ns) }}{% endfor %}";
    assert!(outcome(kept).starts_with("template::render"), "{}", outcome(kept));
}

#[test]
fn the_templates_of_a_project_share_a_budget() {
    let spent = Cell::new(limit::PROJECT_COST_MAX);
    let codes = |template: &str| {
        let mut out = Diagnostics::new(false);
        let texts = [TemplateText { text: template, at: TextPlace::Value(at()) }];
        let rendered = render(&templates(&texts, &[]), &spent, &|_, _| None, &mut out);
        let codes: Vec<_> = out.sorted().iter().map(|report| report.code()).collect();
        (rendered.is_some(), codes.join(" "))
    };
    let costly = "{% for i in range(20000) %}{% set x = i + 1 %}{% endfor %}";
    // The free part of each prompt's cost is not counted.
    assert_eq!(codes("{{ 1 + 1 }}"), (true, String::new()));
    assert_eq!(codes(costly), (false, "template::project_too_large".into()));
    // It is reported once.
    assert_eq!(codes(costly), (false, String::new()));
    assert_eq!(codes("{{ 1 + 1 }}"), (true, String::new()));
    // A failed rendering is paid for, too.
    spent.set(limit::PROJECT_COST_MAX);
    assert_eq!(codes(&format!("{costly}{{{{ 1 / 0 }}}}")).1, "template::project_too_large");
    spent.set(0);
    assert_eq!(codes(costly), (true, String::new()));
    assert!(spent.get() > 0);
}
