use std::sync::Arc;
use std::time::{Duration, Instant};

use miette::SourceSpan;
use relay_bundle::Segment;

use super::{
    Include, RenderedTexts, TemplateArgument, TemplateArgumentKind, TemplateText, TextPlace, render,
};
use crate::diagnostic::Diagnostics;
use crate::source::{FileId, Span};

fn file(number: u64) -> FileId {
    Span::from(SourceSpan::new(usize::try_from(number << 32).unwrap().into(), 0)).file
}

fn at() -> Span {
    file(99).span(0, 1)
}

/// The arguments of all tests: `name` is required, `note` optional, `title` has a default; `env`
/// is a choice with a default, `tier` an optional one; `debug` is a required truth value.
fn arguments(choices: &[String]) -> Vec<TemplateArgument<'_>> {
    let argument = |name, kind, required, default| TemplateArgument {
        name,
        kind,
        required,
        default,
        at: at(),
    };
    vec![
        argument("name", TemplateArgumentKind::Text, true, None),
        argument("note", TemplateArgumentKind::Text, false, None),
        argument("title", TemplateArgumentKind::Text, false, Some("x")),
        argument("env-name", TemplateArgumentKind::Choice(choices), false, Some("dev")),
        argument("tier", TemplateArgumentKind::Choice(choices), false, None),
        argument("debug", TemplateArgumentKind::Boolean, true, None),
    ]
}

/// The files that tests include.
const FILES: &[(&str, &str)] = &[
    ("hello.j2", "Hello {{ name }}!"),
    ("macros.j2", "{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}"),
    ("base.j2", "<{% block body %}base{% endblock %}>"),
    ("bad.j2", "ok\n{{ nme }}"),
    ("self.j2", "{% include 'self.j2' %}"),
    ("loopy.j2", "{{ outer }}{{ loop.index }};"),
];

fn run(template: &str, place: TextPlace) -> (Option<RenderedTexts>, Diagnostics) {
    let mut out = Diagnostics::new(false);
    let choices = ["dev".to_owned(), "prod".to_owned()];
    let include: &Include<'_> = &|_, path| {
        let index = FILES.iter().position(|(name, _)| *name == path)?;
        Some((file(index as u64 + 1), Arc::from(FILES[index].1)))
    };
    let texts = [TemplateText { text: template, at: place }];
    let rendered = render(&texts, &arguments(&choices), at(), include, &mut out);
    (rendered, out)
}

/// All variants, joined by `|`, with slots as `[index]`; or the faults: code, text at the label,
/// message.
fn outcome(template: &str) -> String {
    let (rendered, out) = run(template, TextPlace::Verbatim(file(0)));
    let Some(rendered) = rendered else {
        let faults = out.sorted().into_iter().map(|report| {
            let Span { file: at, start, end } = report.at;
            let text = match (0..=FILES.len() as u64).find(|number| file(*number) == at) {
                Some(0) => template,
                Some(number) => FILES[number as usize - 1].1,
                None => "",
            };
            let label = text.get(start as usize..end as usize).unwrap_or("(prompt)");
            format!("{} `{label}`: {}", report.code(), report.diagnostic)
        });
        return faults.collect::<Vec<_>>().join("\n");
    };
    assert!(!out.has_errors());
    let shown = |segments: &Vec<Segment>| {
        let one = |segment: &Segment| match segment {
            Segment::Literal(text) => text.clone(),
            Segment::Slot(index) => format!("[{index}]"),
        };
        segments.iter().map(one).collect::<String>()
    };
    let variants = rendered.variants.iter().map(|texts| shown(&texts[0]));
    variants.collect::<Vec<_>>().join("|")
}

#[test]
fn renders() {
    for (template, expected) in [
        ("", ""),
        ("plain { } text\n", "plain { } text\n"),
        ("Hi {{ name }}{{ title }}", "Hi [0][2]"),
        ("{{ env_name }}", "dev|prod"),
        ("{% if tier %}{{ tier }}{% else %}none{% endif %}", "dev|prod|none"),
        ("{% if tier is defined %}{{ tier }}{% endif %}.", "dev.|prod.|."),
        ("{{ 'on' if debug else 'off' }} {{ debug }}", "on True|off False"),
        ("{{ env_name }}{{ debug }}", "devTrue|prodTrue|devFalse|prodFalse"),
        ("{% if note %}N: {{ note }}{% endif %}", "N: [1]|"),
        ("{% if note is not none and note is defined %}{{ note }}{% endif %}", "[1]|"),
        ("{{ note if note else '-' }}", "[1]|-"),
        ("{{ note or '-' }}", "[1]|-"),
        ("{% if not note %}no{% else %}yes{% endif %}", "yes|no"),
        // Tags on lines of their own leave no trace; the last line end stays.
        ("a\n  {% if true %}\nb\n  {% endif %}\nc\n", "a\nb\nc\n"),
        ("a {%- if true %} b {% endif -%} c", "a b c"),
        ("{% raw %}{{ x }}{% endraw %}{# no #}", "{{ x }}"),
        // What is made nests in brackets and chains as it was written.
        ("{{ 1 + 2 * 3 - 4 }} {{ (1 + 2) * 3 }} {{ 7 // 2 ** 2 % 3 }}", "3 9 1"),
        ("{{ -2 ** 2 }} {{ -[1,2][1] }} {{ not 1 == 2 }}", "4 -2 True"),
        (
            "{{ 'a' ~ 1 ~ 'b' }} {{ 'ab'[1] }} {{ 'abcd'[1:3] }} {{ [1,2,3][::-1] }}",
            "a1b b bc [3, 2, 1]",
        ),
        (
            "{{ 1 < 2 < 3 }} {{ 1 in [1] }} {{ 1 not in [1] }} {{ 2 is not even }}",
            "True True False False",
        ),
        ("{{ 1 if false else 2 if false else 3 }} {{ (1 if true) or 2 }}", "3 1"),
        ("{{ 'a' is in ['a'] and 4 is divisibleby 2 }} {{ 3 is odd }}", "True True"),
        ("{{ {'a': [1, (2,)]}.a[1][0] }} {{ (1, 2) }} {{ () }} {{ 'x' 'y' }}", "2 (1, 2) () xy"),
        ("{{ ['b','A']|sort|join(', ')|upper }} {{ 'aXbX'|replace('X', '-') }}", "A, B a-b-"),
        ("{{ '-' * 5 }} {{ [0] * 3 }} {{ 'a\\nb'|indent(2) }}", "----- [0, 0, 0] a\n  b"),
        ("{% for k, v in {'a': 1}|items %}{{ k }}={{ v }}{{ loop.last }}{% endfor %}", "a=1True"),
        ("{% for i in range(5) if i is odd %}{{ i }}{% else %}-{% endfor %}", "13"),
        (
            "{% for x in [1, [2]] recursive %}{{ loop(x) if x is iterable else x }}{% endfor %}",
            "12",
        ),
        (
            "{% set ns = namespace(n=0) %}{% for i in [1,2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
            "3",
        ),
        ("{% set a, (b, c) = 1, (2, 3) %}{{ a }}{{ b }}{{ c }}", "123"),
        ("{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}", "3"),
        (
            "{% macro m(a, b='B') %}{{ a }}{{ b }}{% endmacro %}{{ m('x') }}{{ m(b=1, a=2) }}",
            "xB21",
        ),
        (
            "{% macro m(x) %}<{{ caller(x) }}>{% endmacro %}{% call(y) m(3) %}{{ y }}{{ name }}{% endcall %}",
            "<3[0]>",
        ),
        ("{% set x %}t {{ name }}{% endset %}{{ x }}{{ x }}", "t [0]t [0]"),
        ("{% filter upper %}{{ env_name }}{% endfilter %}", "DEV|PROD"),
        ("{% set x | upper | replace('A', 'b') %}a{% endset %}{{ x }}", "b"),
        ("{% include 'hello.j2' %}{% include 'none.j2' ignore missing %}", "Hello [0]!"),
        ("{% from 'macros.j2' import twice as t %}{{ t(env_name) }}", "devdev|prodprod"),
        ("{% import 'macros.j2' as m %}{{ m.twice(1) }}", "11"),
        (
            "{% extends 'base.j2' %}{% block body %}{{ super() }}+{{ name }}{% endblock %}",
            "<base+[0]>",
        ),
        ("{% set outer = 1 %}{% for i in [1, 2] %}{% include 'loopy.j2' %}{% endfor %}", "11;12;"),
        ("{% if env_name == 'dev' %}a{% elif tier %}b{% else %}c{% endif %}", "a|b|a|b|a|c"),
        ("{{ tier|default('none') }}", "dev|prod|none"),
        ("{{ [1, 2]|map('string')|list }} {{ [1, 2]|select('odd')|list }}", "['1', '2'] [1]"),
        ("{% do [1]|first %}{{ 'a b'|split|last }}", ""),
    ] {
        if template.contains("{% do") {
            assert!(outcome(template).starts_with("template::syntax"), "{template}");
        } else {
            assert_eq!(outcome(template), expected, "{template}");
        }
    }
}

#[test]
fn counts_only_what_is_mentioned() {
    let (rendered, _) =
        run("{{ env_name }}{% if note %}{% endif %}{{ debug }}", TextPlace::Value(at()));
    let rendered = rendered.unwrap();
    assert_eq!(rendered.strides, [0, 1, 0, 2, 0, 4]);
    assert_eq!(rendered.variants.len(), 8);
    assert_eq!(rendered.used, [false, true, false, true, false, true]);
}

#[test]
fn refuses() {
    for (template, expected) in [
        ("{{ nme }}", "template::unknown_variable `nme`: unknown variable `nme`"),
        ("a\n{% if x.y %}{% endif %}", "template::unknown_variable `x`: unknown variable `x`"),
        ("{{ now() }}", "template::unknown_variable `now`: unknown variable `now`"),
        ("{{ env_name|uper }}", "template::render `uper`: unknown filter `uper`"),
        ("{{ 1 is evn }}", "template::render `evn`: unknown test `evn`"),
        ("{% include 'bad.j2' %}", "template::unknown_variable `nme`: unknown variable `nme`"),
        (
            "{% include 'no.j2' %}",
            "template::include_not_found `'no.j2'`: there is no text file `no.j2`",
        ),
        (
            "{% include env_name %}",
            "template::include_not_plain `env_name`: the name of an included file must be a plain text",
        ),
        (
            "{% set env_name = 1 %}",
            "template::shadowed_argument `env_name`: the template sets `env_name`, which is an argument",
        ),
        (
            "{% for name in [1] %}{% endfor %}",
            "template::shadowed_argument `name`: the template sets `name`, which is an argument",
        ),
        (
            "{% macro m(tier) %}{% endmacro %}",
            "template::shadowed_argument `tier`: the template sets `tier`, which is an argument",
        ),
        (
            "{% macro debug() %}{% endmacro %}",
            "template::shadowed_argument `debug`: the template sets `debug`, which is an argument",
        ),
        ("{{ note }}", "template::maybe_absent `note`: argument `note` may be absent here"),
        (
            "{% if note %}{% endif %}{{ note }}",
            "template::maybe_absent `note`: argument `note` may be absent here",
        ),
        ("{{ tier }}", "template::maybe_absent `tier`: argument `tier` may be absent here"),
        (
            "{% if 'a' ~ tier == 'x' %}{% endif %}",
            "template::maybe_absent `tier`: argument `tier` may be absent here",
        ),
        (
            "{{ name|upper }}",
            "template::free_text `name`: `name` is free text and may only be printed",
        ),
        (
            "{% if name == 'x' %}{% endif %}",
            "template::free_text `name`: `name` is free text and may only be printed",
        ),
        (
            "{{ 'a' ~ name }}",
            "template::free_text `name`: `name` is free text and may only be printed",
        ),
        (
            "{{ name[0] }}",
            "template::free_text `name`: `name` is free text and may only be printed",
        ),
        (
            "{% set x = name %}",
            "template::free_text `name`: `name` is free text and may only be printed",
        ),
        (
            "{% for c in name %}{% endfor %}",
            "template::free_text `name`: `name` is free text and may only be printed",
        ),
        (
            "{{ range(name) }}",
            "template::free_text `name`: `name` is free text and may only be printed",
        ),
        (
            "{% filter upper %}{{ name }}{% endfilter %}",
            "template::free_text `upper`: `upper` holds free text and may only be printed",
        ),
        (
            "{% set x %}{{ name }}{% endset %}{{ x ~ 'a' }}",
            "template::free_text `x ~ 'a'`: `x ~ 'a'` holds free text and may only be printed",
        ),
        (
            "{% set x %}{{ name }}{% endset %}{{ [x] }}",
            "template::free_text `[x]`: `[x]` holds free text and may only be printed",
        ),
        ("{% if %}", "template::syntax `{% if %}`: `if` is never closed"),
        ("a {% for x in [1] %} b", "template::syntax `{% for x in [1] %}`: `for` is never closed"),
        ("{{ 1 + }}", "template::syntax `}}`: unexpected `}}`"),
        ("{{ a b }}", "template::syntax `b`: unexpected a name, expected `}}`"),
        ("{% nope %}", "template::syntax `nope`: unknown tag nope"),
        ("{{ 'a", "template::syntax ``: unexpected end of string"),
        (
            "{% autoescape true %}{% endautoescape %}",
            "template::unsupported `true`: `autoescape` is not supported",
        ),
        ("a\u{FDD0}", "template::reserved_character `\u{FDD0}`: the character U+FDD0 is reserved"),
        (
            "{{ 'a' - 1 }}",
            "template::render `'a' - 1`: tried to use - operator on unsupported types string and number",
        ),
        (
            "x {{ [1].foo.bar }}",
            "template::render `[1].foo.bar`: something in `[1].foo.bar` is undefined",
        ),
        (
            "{% if env_name == 'prod' %}{{ 1 / 0 }}{% endif %}",
            "template::render `1 / 0`: unable to calculate 1 / 0 with env-name=prod",
        ),
        ("{{ 'a'.upper() }}", "template::render `'a'.upper()`: string has no method named upper"),
        (
            "{{ u }}{% if false %}{% set u = 1 %}{% endif %}",
            "template::render `u`: something in `u` is undefined",
        ),
        (
            "{% include 'self.j2' %}",
            "template::too_deep `'self.j2'`: calls and includes nest too deep, over the limit of 200",
        ),
    ] {
        assert_eq!(outcome(template), expected, "{template}");
    }
}

#[test]
fn names_the_line_of_an_inline_template() {
    let place = TextPlace::Value(file(0).span(10, 20));
    let (_, out) = run("a\nb\n{{ nme }}", place);
    let [report] = out.sorted()[..] else { panic!() };
    assert_eq!(report.diagnostic.to_string(), "unknown variable `nme` (line 3 of the template)");
    assert_eq!(report.at, file(0).span(10, 20));
    assert_eq!(report.diagnostic.help().unwrap().to_string(), "did you mean `name`?");
}

#[test]
fn counts_combinations() {
    let mut out = Diagnostics::new(false);
    let choices: Vec<_> = (0..9).map(|number| number.to_string()).collect();
    let arguments = ["a", "b"].map(|name| TemplateArgument {
        name,
        kind: TemplateArgumentKind::Choice(&choices),
        required: name == "a",
        default: None,
        at: at(),
    });
    let texts = [TemplateText { text: "{{ a }}{{ b }}", at: TextPlace::Value(at()) }];
    assert!(render(&texts, &arguments, at(), &|_, _| None, &mut out).is_none());
    let [report] = out.sorted()[..] else { panic!() };
    assert_eq!(
        report.diagnostic.to_string(),
        "the arguments have 90 combinations, over the limit of 64"
    );
    let help = report.diagnostic.help().unwrap().to_string();
    assert!(help.contains("`a` with 9 states, `b` with 10 states"), "{help}");
}

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
        // As deep as it may be, it works.
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
        let shown: String = template.chars().take(120).collect();
        let first: String = outcome.chars().take(200).collect();
        if code.is_empty() {
            assert!(!outcome.starts_with("template::"), "{shown}: {first}");
        } else {
            assert!(outcome.starts_with(code), "{shown}: {first}");
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{shown}: {:?}", start.elapsed());
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
                "[1,2]|slice({b})",
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

/// Pieces of templates in any order: no panic, and one of the two answers.
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
