//! `docs/diagnostics.md`, generated from the types of diagnostics in the sources of the compiler: code,
//! severity, message and help are their attributes, the reason is their doc comment or, in `check`, the
//! opening of their file after its title, and the example is the shortest report in the snapshots of
//! the cases.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Ident, Item, Lit, LitStr, Meta, Token};

use super::{relative, root, sources, walk};

const INTRODUCTION: &str = "\
# Diagnostics

Generated from the sources of the compiler; a test keeps it current. `relay rules` prints it, `relay rules CODE` one of them.

An error means that no bundle can be built. A warning means that the bundle is probably not what you want; `--strict` makes it an
error. A note says something about a sound project; it changes no exit code, and `--strict` ignores it.
`fix` marks diagnostics that `relay fmt --fix` may correct. In a `commands` folder `on-error` decides what becomes of a file with a fault. `{name}` is a part that differs from case to case.
";

/// The mark of a diagnostic that may have a correction.
const FIX: &str = "- fix: `relay fmt --fix` corrects it where the correction is certain\n";

/// A code, with the types that have it.
#[derive(Default)]
struct Rule {
    forms: Vec<Form>,
    why: Vec<String>,
}

/// A message of a code.
struct Form {
    severity: &'static str,
    message: String,
    help: Option<String>,
    /// Whether it may have a correction that a program writes.
    is_fixable: bool,
}

/// The integer constants of the compiler by name: of each file, and those that have one value in all.
struct Constants {
    of_files: BTreeMap<(String, String), Option<u64>>,
    of_all: BTreeMap<String, Option<u64>>,
}

/// A format string and its arguments.
struct Format {
    text: String,
    arguments: Vec<Expr>,
}

/// Returns the document.
pub(super) fn document() -> String {
    let (rules, examples) = (rules(), examples());
    let mut text = INTRODUCTION.to_owned();
    let mut area = "";
    for (code, rule) in &rules {
        let (of, _) = code.split_once("::").unwrap();
        if of != area {
            area = of;
            text.push_str(&format!("\n## {area}\n"));
        }
        text.push_str(&format!("\n### {code}\n\n"));
        for Form { severity, message, help, is_fixable } in &rule.forms {
            text.push_str(&format!("- {severity}: {message}\n"));
            if let Some(help) = help {
                text.push_str(&format!("- help: {help}\n"));
            }
            if *is_fixable {
                text.push_str(FIX);
            }
        }
        for paragraph in &rule.why {
            text.push_str(&format!("\n{paragraph}\n"));
        }
        if let Some(example) = examples.get(code) {
            text.push_str(&format!("\n```text\n{example}```\n"));
        }
    }
    text
}

fn rules() -> BTreeMap<String, Rule> {
    let files: Vec<(String, syn::File)> = sources("compiler/src")
        .iter()
        .map(|path| (relative(path), syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap()))
        .collect();
    // A message may name a limit of another crate.
    let limits = ["runtime/engine/src/agent_skill.rs", "runtime/policy/src/path_rules.rs"];
    let limits: Vec<_> = limits
        .into_iter()
        .map(|path| {
            let path = root().join(path);
            (relative(&path), syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap())
        })
        .collect();
    let constants = Constants::of(files.iter().chain(&limits));
    let mut rules = BTreeMap::new();
    for (path, file) in &files {
        let opening = match path.starts_with("compiler/src/check/") {
            true => documentation(&file.attrs),
            false => Vec::new(),
        };
        let fixable = fixable(file);
        each_item(&file.items, &mut |item| match item {
            Item::Struct(it) => {
                let is_fixable = fixable.contains(&it.ident.to_string());
                declared(path, (&it.attrs, is_fixable), &opening, &constants, &mut rules);
            }
            Item::Enum(it) => {
                for variant in &it.variants {
                    declared(path, (&variant.attrs, false), &opening, &constants, &mut rules);
                }
            }
            _ => {}
        });
    }
    let missing: Vec<_> = rules.iter().filter(|(_, rule)| rule.why.is_empty()).collect();
    let missing: Vec<_> = missing.into_iter().map(|(code, _)| code.as_str()).collect();
    assert!(missing.is_empty(), "no doc comment says why these exist: {}", missing.join(", "));
    rules
}

/// Returns the names of the types in a file with `impl Fixable`.
fn fixable(file: &syn::File) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    each_item(&file.items, &mut |item| {
        let Item::Impl(it) = item else { return };
        let of = it.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        if let (Some(of), syn::Type::Path(own)) = (of, &*it.self_ty)
            && of.ident == "Fixable"
        {
            names.extend(own.path.segments.last().map(|own| own.ident.to_string()));
        }
    });
    names
}

/// Calls `visit` with each item outside of tests.
fn each_item<'f>(items: &'f [Item], visit: &mut impl FnMut(&'f Item)) {
    for item in items {
        match item {
            Item::Mod(module) if !module.attrs.iter().any(|it| it.path().is_ident("cfg")) => {
                each_item(module.content.as_ref().map_or(&[], |(_, items)| items), visit);
            }
            item => visit(item),
        }
    }
}

fn declared(
    path: &str,
    (attributes, is_fixable): (&[Attribute], bool),
    opening: &[String],
    constants: &Constants,
    rules: &mut BTreeMap<String, Rule>,
) {
    let find = |name: &str| attributes.iter().find(|attribute| attribute.path().is_ident(name));
    let Some(attribute) = find("diagnostic") else { return };
    let Diagnostic { code, severity, help } = attribute.parse_args().unwrap();
    let Some(code) = code else { return };
    let message: Format = find("error").unwrap().parse_args().unwrap();
    let mut message = message.form(path, constants);
    let own = documentation(attributes);
    let (title, why) = match (own.is_empty(), has_words(&message)) {
        (true, _) => split_title(opening.to_vec()),
        (false, false) => split_title(own),
        (false, true) => (String::new(), own),
    };
    // A message that only a run knows is replaced by what its documentation says first.
    if !has_words(&message) && !title.is_empty() {
        message = title[..1].to_lowercase() + &title[1..];
    }
    let rule = rules.entry(code).or_default();
    for paragraph in why {
        if !rule.why.contains(&paragraph) {
            rule.why.push(paragraph);
        }
    }
    let help = help.map(|help| help.form(path, constants)).filter(|help| has_words(help));
    rule.forms.push(Form { severity, message, help, is_fixable });
}

/// Returns the paragraphs of a doc comment.
fn documentation(attributes: &[Attribute]) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("doc")) {
        let Meta::NameValue(meta) = &attribute.meta else { continue };
        let Expr::Lit(ExprLit { lit: Lit::Str(line), .. }) = &meta.value else { continue };
        let (line, last) = (line.value(), paragraphs.last_mut().unwrap());
        match (line.trim(), last.is_empty()) {
            ("", true) => {}
            ("", false) => paragraphs.push(String::new()),
            (line, true) => last.push_str(line),
            (line, false) => last.push_str(&format!(" {line}")),
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs
}

/// Splits off the first sentence, which says what is wrong.
fn split_title(mut paragraphs: Vec<String>) -> (String, Vec<String>) {
    let Some(first) = paragraphs.first_mut() else { return (String::new(), paragraphs) };
    let (title, rest) = first.split_once(". ").unwrap_or((first, ""));
    let (title, rest) = (title.trim_end_matches('.').to_owned(), rest.to_owned());
    match rest.is_empty() {
        true => drop(paragraphs.remove(0)),
        false => *first = rest,
    }
    (title, paragraphs)
}

/// The attribute `diagnostic` of a type.
struct Diagnostic {
    code: Option<String>,
    severity: &'static str,
    help: Option<Format>,
}

impl Parse for Diagnostic {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut diagnostic = Self { code: None, severity: "error", help: None };
        while !input.is_empty() {
            let name: Ident = input.parse()?;
            let content;
            syn::parenthesized!(content in input);
            match name.to_string().as_str() {
                "code" => {
                    let path = content.parse::<syn::Path>()?;
                    let words: Vec<_> =
                        path.segments.iter().map(|it| it.ident.to_string()).collect();
                    diagnostic.code = Some(words.join("::"));
                }
                "severity" => {
                    diagnostic.severity = match content.parse::<Ident>()?.to_string().as_str() {
                        "Warning" => "warning",
                        "Advice" => "note",
                        other => panic!("a diagnostic has the severity `{other}`"),
                    };
                }
                "help" => diagnostic.help = Some(content.parse()?),
                other => panic!("a diagnostic has the unknown attribute `{other}`"),
            }
            let _ = input.parse::<Option<Token![,]>>()?;
        }
        Ok(diagnostic)
    }
}

impl Parse for Format {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let text = input.parse::<LitStr>()?.value();
        let _ = input.parse::<Option<Token![,]>>()?;
        let arguments = Punctuated::<Expr, Token![,]>::parse_terminated(input)?;
        Ok(Self { text, arguments: arguments.into_iter().collect() })
    }
}

impl Format {
    /// Returns the text as a reader sees it: braces only around what differs from case to case.
    fn form(&self, path: &str, constants: &Constants) -> String {
        let mut arguments = self.arguments.iter();
        let mut text = String::new();
        let mut rest = self.text.replace('\n', " ");
        while let Some(at) = rest.find(['{', '}']) {
            text.push_str(&rest[..at]);
            let doubled = rest[at..].starts_with("{{") || rest[at..].starts_with("}}");
            if doubled {
                text.push_str(&rest[at..=at]);
                rest = rest[at + 2..].to_owned();
                continue;
            }
            let end = at + rest[at..].find('}').unwrap();
            let name = rest[at + 1..end].split(':').next().unwrap().to_owned();
            let name = match (name.as_str(), name.is_empty().then(|| arguments.next().unwrap())) {
                (_, Some(Expr::Path(it))) => it.path.segments.last().unwrap().ident.to_string(),
                (_, Some(_)) => String::new(),
                (name, None) => name.to_owned(),
            };
            let after = &rest[end + 1..];
            // What is glued to a word is its ending, or an optional remark after the message.
            let is_word = |c: char| c.is_alphanumeric() || "`}".contains(c);
            let is_glued = text.ends_with(is_word) && (after.is_empty() || name.is_empty());
            let is_glued = is_glued || (text.ends_with(is_word) && after.starts_with('{'));
            match constants.value(path, &name) {
                Some(value) => text.push_str(&value.to_string()),
                None if is_glued => {}
                None => text.push_str(&format!("{{{name}}}")),
            }
            rest = after.to_owned();
        }
        text + &rest
    }
}

/// Returns whether a form says something in each case.
fn has_words(form: &str) -> bool {
    let mut depth = 0;
    form.chars().any(|letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0 && letter.is_alphabetic()
    })
}

impl Constants {
    fn of<'f>(files: impl IntoIterator<Item = &'f (String, syn::File)>) -> Self {
        let mut constants = Self { of_files: BTreeMap::new(), of_all: BTreeMap::new() };
        for (path, file) in files {
            each_item(&file.items, &mut |item| {
                let Item::Const(it) = item else { return };
                let (name, value) = (it.ident.to_string(), value(&it.expr));
                constants.of_files.insert((path.clone(), name.clone()), value);
                let all = constants.of_all.entry(name).or_insert(value);
                *all = all.filter(|other| value == Some(*other));
            });
        }
        constants
    }

    /// Returns the value of the constant that a file calls so, if it is a constant.
    fn value(&self, path: &str, name: &str) -> Option<u64> {
        let is_constant = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        if name.is_empty() || !name.chars().all(is_constant) {
            return None;
        }
        let own = self.of_files.get(&(path.to_owned(), name.to_owned()));
        let value = own.or_else(|| self.of_all.get(name)).copied().flatten();
        assert!(value.is_some(), "{path}: the value of {name} is not known");
        value
    }
}

/// Returns the value of a product of integers, or of a shift.
fn value(expression: &Expr) -> Option<u64> {
    match expression {
        Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => number.base10_parse().ok(),
        Expr::Binary(it) if matches!(it.op, syn::BinOp::Mul(_)) => {
            Some(value(&it.left)? * value(&it.right)?)
        }
        Expr::Binary(it) if matches!(it.op, syn::BinOp::Shl(_)) => {
            Some(value(&it.left)? << value(&it.right)?)
        }
        _ => None,
    }
}

/// Returns the shortest report of each code in the snapshots of the cases.
fn examples() -> BTreeMap<String, String> {
    let mut best: BTreeMap<String, (bool, usize, String)> = BTreeMap::new();
    for path in walk(&root().join("tests/cases")) {
        if path.extension().is_none_or(|ending| ending != "snap") {
            continue;
        }
        let text = fs::read_to_string(path).unwrap();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            if super::codes_in(&format!("code({line})")).len() != 1 {
                continue;
            }
            let mut report = String::new();
            while let Some(line) = lines.next_if(|line| line.is_empty() || line.starts_with(' ')) {
                // The notes are of the test.
                let line = line.split("//~").next().unwrap_or_default().trim_end();
                report.push_str(&format!("{line}\n"));
            }
            let report = format!("{}\n", report.trim_matches('\n'));
            let has_mark = ["skipped: ", "repaired: ", "(with --env"];
            let is_special = has_mark.iter().any(|mark| report.contains(mark));
            let candidate = (is_special, report.len(), report);
            match best.get(line) {
                Some(other) if *other <= candidate => {}
                _ => drop(best.insert(line.to_owned(), candidate)),
            }
        }
    }
    best.into_iter().map(|(code, (_, _, report))| (code, report)).collect()
}

#[test]
fn forms_are_written_for_readers() {
    let check = |tokens: &str, expected: &str| {
        let tokens: syn::File =
            syn::parse_str(&format!("const LIMIT: u8 = 2 * 3; #[error({tokens})] struct It;"))
                .unwrap();
        let files = [("it.rs".to_owned(), tokens)];
        let Item::Struct(it) = &files[0].1.items[1] else { panic!("a struct") };
        let format = it.attrs[0].parse_args_with(Format::parse).unwrap();
        assert_eq!(format.form("it.rs", &Constants::of(&files)), expected);
    };
    check(r#""unknown `{name}`""#, "unknown `{name}`");
    check(r#""over {LIMIT} of {}", limit::LIMIT"#, "over 6 of 6");
    check(r#""write `{{{{ {name} }}}}`""#, "write `{{ {name} }}`");
    check(r#""{count} value{} here", if true { "" } else { "s" }"#, "{count} value here");
    check(r#""{detail}{with}{line}""#, "{detail}");
    check(r#""U+{code:04X}""#, "U+{code}");
}
