//! As `entry`, for the compiler: what must hold for every text of a project.

use std::collections::BTreeMap;

use relay_bundle::encode;
use relay_compiler::{
    Diagnostics, FileId, Files, Listed, Options, ReadError, Sources, compile, format,
};

use super::sample;
use crate::shipped;

/// Projects to begin with.
pub(crate) const PROJECTS: [&str; 4] = [
    concat!(
        "/- kdl-version 2\nproject p version=\"1\" epoch=1 { title \"T\"; owner \"o\" }\n",
        "include \"other.kdl\"\nmessages { session-greeting \"Hi.\" }\n",
        "prompts {\n    folder \"prompts\"\n    commands \"commands\" on-error=skip\n",
        "    prompt a priority=10 title=\"A\" {\n        summary \"S\"; chapters X Y\n",
        "        text \"T\"\n    }\n",
        "    prompt b template=#true {\n        arg c required=#true { one-of x y }\n",
        "        arg d default=e\n        text \"{% if c == 'x' %}{{ d }}{% endif %}\"\n    }\n",
        "    prompt m { message role=user { image file=\"a.png\" }; message role=assistant { text U } }\n",
        "}\n",
    ),
    concat!(
        "project p epoch=1\nresources {\n    resource \"r://a\" mime=\"text/plain\" file=\"a.md\"\n",
        "    resource \"r://{b}.md\" template=#true { arg b; text \"{{ b }}\" }\n}\n",
    ),
    concat!(
        "project p\nroles { role r tier=2 }\nusers { anyone role=r }\n",
        "policy guarded {\n    floors { unknown-program 3 }\n    paths { class c \"/srv/**\" { except \"/srv/x\" } }\n",
        "    deny d because=\"B\" { reads secret c; except { program ls } match \"cat /srv/a\" }\n",
        "    deny e (regex)#\"rm\\s+-r\"# observe=#true\n    approve f { tier min=3 }\n",
        "    allow g { program git; sub push; flags \"-u\"; operands origin \"f/*\" }\n    tier h 3 { program x }\n",
        "    scope role=r host=\"db-*\" { mode readonly; deny i { tool \"a*\"; arg p \"*\" } }\n}\n",
    ),
    "project p\nprompts { prompt a file=\"a.md.j2\" }\nwhen e { prompts { prompt a { text \"E\" } } }\n",
];

/// Files of a commands folder to begin with.
pub(crate) const COMMANDS: [&str; 4] = [
    "---\ndescription: Fix an issue\nargument-hint: [issue]\nallowed-tools: Bash(git:*)\n---\nFix $ARGUMENTS.\n",
    "---\r\ntitle: \"T\"\r\ndescription: >-\r\n  a\r\n  b\r\npriority: 7\r\nchapters: [A, \"B: c\"]\r\n---\r\nBody",
    "---\ndescription: it's: a slip\nmodel: *x\n---\n",
    "No front matter.\n",
];

/// Compiles any bytes as a project's document, next to some files that it may name.
pub(crate) fn project(bytes: &[u8]) {
    check(&Memory::of(&[("project.kdl", bytes)]));
}

/// Compiles any bytes as a command, under each way to treat a faulty one.
pub(crate) fn front_matter(bytes: &[u8]) {
    for on_error in ["fail", "skip", "repair"] {
        let project = format!(
            "project p epoch=1\nprompts {{ commands \"commands\" on-error={on_error}; folder \"prompts\" }}\n"
        );
        let files = [
            ("project.kdl", project.as_bytes()),
            ("commands/a.md", bytes),
            ("prompts/b.md", bytes),
        ];
        check(&Memory::of(&files));
    }
}

/// Templates to begin with; the project of [`template`] says what they may use.
pub(crate) const TEMPLATES: [&str; 7] = [
    "Hi {{ name }}{% if note %}: {{ note }}{% endif %} in {{ place }}, {{ tier or 'none' }}.\n",
    "{%- for x in range(3) if x is odd -%}{{ loop.index }}{{ place|upper }}{% else %}-{% endfor -%}\n",
    "{% macro m(a, b='B') %}{{ a }}{{ caller() }}{% endmacro %}{% call m(1) %}{{ name }}{% endcall %}",
    "{% set x %}{{ name }}!{% endset %}{{ x }}{% include 'a.md.j2' %}{% import 'm.j2' as m %}{{ m.m(x) }}",
    "{{ {'a': [1, -2 ** 3]}.a[::-1]|join(', ') ~ ('x' if debug and not tier else \"y\\n\") }}{# no #}",
    "{{ [1]|batch(18446744073709551615, 0) }}{{ 'a'|indent(9) * 3 }}{{ 'abc'[-1:9223372036854775807:-2]|int(base=16) }}",
    "{% extends 'base.j2' %}{% block b %}{{ super() }}{% with y = 'abc'[1:] %}{{ y * 3 }}{% endwith %}{% endblock %}",
];

/// Compiles any bytes as a template.
pub(crate) fn template(bytes: &[u8]) {
    let project = concat!(
        "project p epoch=1\nprompts { prompt t file=\"t.j2\" template=#true {\n",
        "    arg name required=#true\n    arg note\n    arg tier { one-of gold silver }\n",
        "    arg place required=#true { one-of here there }\n    arg debug default=#false type=boolean\n",
        "} }\n",
    );
    check(&Memory::of(&[("project.kdl", project.as_bytes()), ("t.j2", bytes)]));
}

/// The pieces that [`guard`] makes documents of, 64 apart by `|`: everything that opens, closes, hides or ends something in KDL.
const PIECES: &str = concat!(
    "{|}|(|)|\"|\"\"\"|#\"|\"#|##\"|\"##|#|\\|/-|//|/*|*/|=|;|",
    "\n|\r|\r\n|\u{b}|\u{c}|\u{85}|\u{2028}|\u{2029}| |\t|\u{a0}|\u{3000}|\u{feff}|\u{200e}|\0|\u{1b}|[|]|“|",
    "a|prompt |project p\n|prompts {\n|text |\"\"\"\n|\\n|\\u{|\\s|\\  \n|\\\"|#true|#null|#-inf|1|0x_f|",
    "-1.5e999|99999999999999999999999999999999999999999999|.|-|:|when e {\n|/-{|a=1 |a=\"b\"|",
    "arg x { one-of y }\n|é",
);

/// Compiles and formats a document of pieces: of each byte, six bits name a piece and two how often it comes, which may be
/// more than a document may nest.
pub(crate) fn guard(bytes: &[u8]) {
    let pieces: Vec<_> = PIECES.split('|').collect();
    assert_eq!(pieces.len(), 64);
    let piece =
        |byte: &u8| pieces[usize::from(byte % 64)].repeat([1, 2, 5, 33][usize::from(byte / 64)]);
    project(bytes.iter().take(256).map(piece).collect::<String>().as_bytes());
}

/// Inputs of [`guard`] to begin with: each piece once, and some that open and close.
pub(crate) fn guard_seeds() -> Vec<Vec<u8>> {
    let nested = [0x27, 0x28, 0x26, 0x40, 0x80, 0x00, 0x41, 0x81, 0x01];
    vec![(0..64).collect(), nested.to_vec(), vec![0x27, 0xc0, 0x05, 0xc4, 0xd1]]
}

/// Compiles twice: the answers agree, spans lie in their files, and what comes out is a bundle.
fn check(files: &Memory) {
    let sources = Sources::new(files, "project.kdl").with_facts(shipped::facts());
    let compiled = compile(&sources, &Options::default());
    assert_eq!(compiled.bundle.is_none(), compiled.diagnostics.has_errors());
    for report in compiled.diagnostics.sorted() {
        assert!(report.at.start <= report.at.end, "{}", report.code());
        let length = sources.file(report.at.file).bytes().len();
        assert!(report.at.end as usize <= length, "{}: after the end", report.code());
        assert!(
            !report.diagnostic.to_string().contains('\n'),
            "{}: {}",
            report.code(),
            report.diagnostic
        );
        let _ = sources.place(report.at);
    }
    let sources = Sources::new(files, "project.kdl").with_facts(shipped::facts());
    let again = compile(&sources, &Options::default());
    assert_eq!(codes(&again.diagnostics), codes(&compiled.diagnostics));
    assert!(again.bundle == compiled.bundle, "two builds differ");
    if let Some(bytes) = &compiled.bundle {
        let bundle = sample::open(bytes).expect("what was written opens");
        bundle.check_all().expect("it was hashed");
        let contents = bundle.contents().expect("it can be read");
        assert!(encode(&contents).as_ref() == Ok(bytes), "another bundle is read");
        let names: Vec<_> = contents.prompts.iter().map(|prompt| &prompt.name).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    }
    check_format(&sources);
}

/// Formatting has nothing more to do the second time.
fn check_format(sources: &Sources<'_>) {
    let Ok(file) = sources.load("project.kdl") else { return };
    let Some(once) = formatted(sources, file) else { return };
    let files = Memory::of(&[("project.kdl", once.as_bytes())]);
    let sources = Sources::new(&files, "project.kdl");
    let file = sources.load("project.kdl").expect("it is there");
    assert_eq!(formatted(&sources, file), Some(once));
}

fn formatted(sources: &Sources<'_>, file: FileId) -> Option<String> {
    format(sources, file, &mut Diagnostics::new(false))
}

fn codes(diagnostics: &Diagnostics) -> Vec<(String, relay_compiler::Span)> {
    diagnostics.sorted().iter().map(|report| (report.code(), report.at)).collect()
}

/// A project's files: those given, and some that every project may name.
struct Memory(BTreeMap<String, Vec<u8>>);

impl Memory {
    fn of(files: &[(&str, &[u8])]) -> Self {
        let standing: [(&str, &[u8]); 8] = [
            ("a.md", b"# A\n"),
            ("a.md.j2", b"{{ x }}\n{% include 'a.md' %}\n"),
            ("a.png", b"\x89PNG\r\n\x1a\n"),
            ("base.j2", b"<{% block b %}{{ name }}{% endblock %}>"),
            ("commands/c.md", b"---\ndescription: C\n---\n$ARGUMENTS\n"),
            ("m.j2", b"{% macro m(x) %}{{ x }}{{ x }}{% endmacro %}"),
            ("other.kdl", b"prompts { prompt other { summary S; text T } }\n"),
            ("prompts/d.md", b"---\ndescription: D\npriority: 3\n---\nText\n"),
        ];
        let all = standing.iter().chain(files);
        Self(all.map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect())
    }
}

impl Files for Memory {
    fn read(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        self.0.get(path).cloned().ok_or(ReadError::NotFound)
    }

    fn list(&self, folder: &str) -> Result<Vec<Listed>, ReadError> {
        let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let paths = self.0.keys().filter(|path| path.starts_with(&below));
        Ok(paths.map(|path| Listed { path: path.clone(), link: false, fault: None }).collect())
    }
}
