mod bounds;
mod free_text;
mod offsets;

use std::cell::Cell;

use miette::SourceSpan;
use relay_bundle::Segment;

use super::{
    Include, RenderedTexts, Steering, TemplateArgument, TemplateArgumentKind, TemplateText,
    Templates, TextPlace, render,
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
        Some((file(index as u64 + 1), FILES[index].1.into()))
    };
    let texts = [TemplateText { text: template, at: place }];
    let rendered =
        render(&templates(&texts, &arguments(&choices)), &Cell::new(0), include, &mut out);
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
            Segment::Literal(text) => text.to_string(),
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
        ("plain { } text\n", "plain { } text"),
        ("two\n\n", "two\n"),
        ("Hi {{ name }}{{ title }}", "Hi [0][2]"),
        // A choice that is only printed is a slot; the presence of an optional one counts.
        ("{{ env_name }}", "[3]"),
        ("{{ env_name }}{{ tier or 'none' }}", "[3][4]|[3]none"),
        ("{% if env_name %}{{ env_name }}{% endif %}", "[3]"),
        ("{{ env_name }}{{ env_name|upper }}", "devDEV|prodPROD"),
        ("{% set x %}{{ env_name }}!{% endset %}{{ x }}", "[3]!"),
        ("{% set x %}{{ env_name }}!{% endset %}{{ x|upper }}", "DEV!|PROD!"),
        (
            "{% set x %}{{ env_name }}!{% endset %}{{ x|upper }}{{ tier or '-' }}",
            "DEV![4]|PROD![4]|DEV!-|PROD!-",
        ),
        ("{% if tier %}{{ tier }}{% else %}none{% endif %}", "[4]|none"),
        ("{% if tier is defined %}{{ tier }}{% endif %}.", "[4].|."),
        ("{{ tier|upper if tier }}.", "DEV.|PROD.|."),
        ("{{ 'on' if debug else 'off' }} {{ debug }}", "on True|off False"),
        ("{{ env_name }}{{ debug }}", "[3]True|[3]False"),
        ("{% if note %}N: {{ note }}{% endif %}", "N: [1]|"),
        ("{% if note is not none and note is defined %}{{ note }}{% endif %}", "[1]|"),
        ("{{ note if note else '-' }}", "[1]|-"),
        ("{{ note or '-' }}", "[1]|-"),
        ("{% if not note %}no{% else %}yes{% endif %}", "yes|no"),
        // White space follows Jinja's defaults.
        ("a\n  {% if true %}\nb\n  {% endif %}\nc\n", "a\n  \nb\n  \nc"),
        ("a\n  {%- if true %}\nb\n  {%- endif %}\nc\n", "a\nb\nc"),
        (
            "{% for i in 'abc'|list %}{{ loop.previtem|default(0) }}<{{ i }}{% if not loop.last %}>{{ loop.nextitem }}{% endif %};{% endfor %}",
            "0<a>b;a<b>c;b<c;",
        ),
        (
            "{{ {'b': 1, 'a': 2} }}{% for k in {'b': 1, 'a': 2} %}{{ k }}{% endfor %}",
            "{'b': 1, 'a': 2}ba",
        ),
        (
            "{{ dict(z=1, a=2)|items|list }}{{ {'b': 1, 'a': 2}|dictsort }}",
            "[('z', 1), ('a', 2)][('a', 2), ('b', 1)]",
        ),
        ("a {%- if true %} b {% endif -%} c", "a b c"),
        ("{% raw %}{{ x }}{% endraw %}{# no #}", "{{ x }}"),
        // Rewritten expressions keep their brackets and chains.
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
        ("{% if env_name == 'dev' %}a{% elif tier %}b{% else %}c{% endif %}", "a|b|a|c"),
        ("{{ tier|default('none') }}", "dev|prod|none"),
        ("{{ [1, 2]|map('string')|list }} {{ [1, 2]|select('odd')|list }}", "['1', '2'] [1]"),
        // Results of Jinja where minijinja differs.
        (
            "{{ 'x'|int }} {{ ' 12 '|int }} {{ '3.9'|int }} {{ 'ff'|int(base=16) }} {{ []|int(7) }}",
            "0 12 3 255 7",
        ),
        ("{{ 'x'|float }} {{ ' 1.5'|float }} {{ 'x'|float(default=2.5) }}", "0.0 1.5 2.5"),
        (
            "{{ 'lala'|replace('l', 'L', 1) }} {{ 'lala'|replace('l', 'L', count=-1) }} {{ 12|replace(1, 3) }}",
            "Lala LaLa 32",
        ),
        (
            "{{ 'abcd'[5:0:-1] }} {{ 'a'[-2:-1:-1] }} {{ [1, 2, 3, 4][-2::-2] }} {{ (1, 2, 3)[::-1] }}",
            "dcb  [3, 1] (3, 2, 1)",
        ),
        (
            "{{ 'abc'[1:-5:-1] }} {{ ['a'][5:0:-1] }} {{ 'abc'[:1:-1] }} {{ 'abc'[-9::-1] }}",
            "ba [] c ",
        ),
        (
            "{% set a = 5 %}{% with a = 1, b = a, (c, d) = (2, a) %}{{ a }}{{ b }}{{ c }}{{ d }}{% endwith %}{% with %}{{ a }}{% endwith %}",
            "15255",
        ),
        (
            "{% set x %}{{ name }}!{% endset %}{% with a = x, b = 1 %}{{ a }}{{ b }}{% endwith %}",
            "[0]!1",
        ),
        (
            "{{ 'a\nb\n'|indent(2) }}<{{ ''|indent(2, true) }}><{{ 'a\n\nb'|indent(1, blank=true) }}>",
            "a\n  b\n<  ><a\n \n b>",
        ),
        (
            "{{ 's' is sequence }} {{ {} is sequence }} {{ () is sequence }} {{ 1 is sequence }}",
            "True True True False",
        ),
        (
            "{% macro m(a, b=a, c=b + 1) %}{{ a }}{{ b }}{{ c }} {% endmacro %}{{ m(1) }}{{ m(1, 5) }}{{ m(1, c=2) }}",
            "112 156 112 ",
        ),
        (
            "{% macro m(a) %}{{ caller(a) }}{% endmacro %}{% call(x, y=x + 1) m(1) %}{{ x }}{{ y }}{% endcall %}",
            "12",
        ),
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
        run("{{ env_name|lower }}{% if note %}{% endif %}{{ debug }}", TextPlace::Value(at()));
    let rendered = rendered.unwrap();
    let strides: Vec<_> = rendered.steering.iter().map(|steering| steering.stride).collect();
    assert_eq!(strides, [0, 1, 0, 2, 0, 4]);
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
            "template::include_not_found `'no.j2'`: text file `no.j2` not found",
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
        // A printed list would hold a word for it.
        ("{{ [tier] }}", "template::maybe_absent `tier`: argument `tier` may be absent here"),
        ("{{ {'a': tier} }}", "template::maybe_absent `tier`: argument `tier` may be absent here"),
        (
            "{{ [{}]|map(attribute='a')|list }}",
            "template::render `map(attribute='a')`: something in `map(attribute='a')` is undefined",
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
    let text = "{{ a|upper }}{{ b|upper if b }}";
    let texts = [TemplateText { text, at: TextPlace::Value(at()) }];
    assert!(
        render(&templates(&texts, &arguments), &Cell::new(0), &|_, _| None, &mut out).is_none()
    );
    let [report] = out.sorted()[..] else { panic!() };
    assert_eq!(
        report.diagnostic.to_string(),
        "the arguments have 90 combinations, over the limit of 64"
    );
    let help = report.diagnostic.help().unwrap().to_string();
    assert!(help.contains("`a` with 9 states, `b` with 10 states"), "{help}");
}

#[test]
fn a_choice_that_is_only_printed_multiplies_nothing() {
    let mut out = Diagnostics::new(false);
    let services: Vec<_> = (0..70).map(|number| format!("service-{number}")).collect();
    let places = ["here".to_owned(), "there".to_owned()];
    let arguments = [("service", &services[..]), ("place", &places[..])].map(|(name, choices)| {
        let kind = TemplateArgumentKind::Choice(choices);
        TemplateArgument { name, kind, required: true, default: None, at: at() }
    });
    let text = "{{ service }}{% if place == 'there' %} far{% endif %}";
    let texts = [TemplateText { text, at: TextPlace::Value(at()) }];
    let rendered =
        render(&templates(&texts, &arguments), &Cell::new(0), &|_, _| None, &mut out).unwrap();
    let steering = |stride, only_printed| Steering { stride, only_printed };
    assert_eq!(rendered.steering, [steering(0, true), steering(1, false)]);
    assert_eq!((rendered.variants.len(), rendered.used), (2, vec![true, true]));
}

#[test]
fn only_the_presence_of_an_optional_choice_that_is_printed_multiplies() {
    let mut out = Diagnostics::new(false);
    let services: Vec<_> = (0..70).map(|number| format!("service-{number}")).collect();
    let places = ["here".to_owned(), "there".to_owned()];
    let argument = |name, choices, required| {
        let kind = TemplateArgumentKind::Choice(choices);
        TemplateArgument { name, kind, required, default: None, at: at() }
    };
    let arguments = [
        argument("service", &services[..], false),
        argument("place", &places[..], true),
        argument("other", &services[..], false),
    ];
    // A capture that is read costs the combinations of its own arguments alone.
    let text = "{{ service or 'all' }}{% set at %}{{ place }}!{% endset %}{{ at|upper }}\
                {% if other %}, not {{ other }}{% endif %}";
    let texts = [TemplateText { text, at: TextPlace::Value(at()) }];
    let rendered =
        render(&templates(&texts, &arguments), &Cell::new(0), &|_, _| None, &mut out).unwrap();
    let steering = |stride, only_printed| Steering { stride, only_printed };
    assert_eq!(rendered.steering, [steering(1, true), steering(2, false), steering(4, true)]);
    assert_eq!(rendered.variants.len(), 8);
}

#[test]
fn an_empty_value_of_a_choice_is_false() {
    let mut out = Diagnostics::new(false);
    let choices = [String::new(), "a".to_owned()];
    let kind = TemplateArgumentKind::Choice(&choices);
    let arguments = [TemplateArgument { name: "c", kind, required: true, default: None, at: at() }];
    let texts = [TemplateText { text: "{{ c or '-' }}", at: TextPlace::Value(at()) }];
    let rendered =
        render(&templates(&texts, &arguments), &Cell::new(0), &|_, _| None, &mut out).unwrap();
    let said = |text: &str| vec![vec![Segment::Literal(text.into())]];
    assert_eq!(rendered.variants, [said("-"), said("a")]);
}

fn templates<'t>(
    texts: &'t [TemplateText<'t>],
    arguments: &'t [TemplateArgument<'t>],
) -> Templates<'t> {
    Templates { texts, arguments, at: at() }
}
