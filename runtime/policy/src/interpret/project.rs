//! Files of a project that the text writes and that a build tool then runs by their name.
//!
//! A build runs code of its project, which the text does not show (docs/tiers.md 7.6). Code written
//! by the text itself is visible, so it counts like any other code of the text.

use super::machine::Machine;
use super::own::{Own, Program};
use super::role;
use crate::effect::Hidden;
use crate::facts::{Role, matches};
use crate::language::project::{Recipes, scripts};
use crate::state::Built;
use crate::value::{Field, Text};

/// The format of a file with code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Recipes of targets, each an indented line of a shell.
    Recipes,
    /// Scripts of a shell by name, in JSON.
    Scripts,
    /// Code of a language; `Code` for an unsupported language.
    Language(Role),
}

use Form::{Language, Recipes as Targets, Scripts};

/// Programs, or their sub-commands, with the names of the files that they run. Tests are code of
/// the project, even if the text writes them.
const RUN_BY: &[(&[&str], &[&str], Form)] = &[
    (&["make", "gmake"], &["Makefile", "makefile", "GNUmakefile", "*.mk"], Targets),
    (&["just"], &["justfile", "Justfile", ".justfile"], Targets),
    (
        &["npm", "npx", "yarn", "pnpm", "bun", "composer"],
        &["package.json", "composer.json"],
        Scripts,
    ),
    (
        &["pytest", "py.test", "tox", "nox", "unittest"],
        &["conftest.py", "noxfile.py", "sitecustomize.py"],
        Language(Role::Python),
    ),
    (&["pip", "pip3", "pipx", "uv", "poetry"], &["setup.py"], Language(Role::Python)),
    (
        &["scons", "invoke", "inv", "fab"],
        &["SConstruct", "tasks.py", "fabfile.py"],
        Language(Role::Python),
    ),
    (
        &["rake", "bundle", "vagrant"],
        &["Rakefile", "Gemfile", "*.gemspec", "Vagrantfile"],
        Language(Role::Ruby),
    ),
    (
        &[
            "jest",
            "vitest",
            "mocha",
            "webpack",
            "rollup",
            "vite",
            "eslint",
            "gulp",
            "grunt",
            "next",
            "tsc",
            "babel",
            "playwright",
            "run",
            "run-script",
            "test",
        ],
        &[
            "*.config.js",
            "*.config.ts",
            "*.config.mjs",
            "*.config.cjs",
            ".eslintrc.js",
            ".eslintrc.cjs",
            "gulpfile.js",
            "Gruntfile.js",
        ],
        Language(Role::Javascript),
    ),
    (&["cargo"], &["build.rs", "Cargo.toml"], Language(Role::Code)),
    (&["cmake", "ctest"], &["CMakeLists.txt", "*.cmake"], Language(Role::Code)),
    (
        &["gradle", "gradlew"],
        &["*.gradle", "*.gradle.kts", "gradle-wrapper.properties", "gradle-wrapper.jar"],
        Language(Role::Code),
    ),
    (
        &["mvn", "mvnw", "ant"],
        &["pom.xml", "build.xml", "maven-wrapper.properties", "maven-wrapper.jar"],
        Language(Role::Code),
    ),
    (
        &["bazel", "meson", "mix", "sbt", "lein", "task"],
        &[
            "BUILD",
            "BUILD.bazel",
            "*.bzl",
            "meson.build",
            "mix.exs",
            "build.sbt",
            "project.clj",
            "Taskfile.yml",
        ],
        Language(Role::Code),
    ),
    (&["pre-commit"], &[".pre-commit-config.yaml"], Language(Role::Code)),
];

/// Interprets the files of the project that a program runs and that the text wrote or fetched.
pub(super) fn runs(run: &mut Machine<'_>, program: &Program<'_, '_>, own: &mut Own) {
    if run.files.is_empty() {
        return;
    }
    let call = program.call;
    if call.given.iter().any(|given| given.name.is_none()) {
        return;
    }
    let subs = call.subs.iter().filter_map(|sub| program.words.get(*sub));
    let subs = subs.map(|field| &*field.text.bytes);
    let names: Vec<&[u8]> = std::iter::once(program.name).chain(subs.clone()).collect();
    let operands = call.operands.iter().map(|field| &*field.text.bytes);
    let goals: Vec<&[u8]> = subs.chain(operands).collect();
    let only_looks =
        call.given.iter().any(|given| given.flag.only_looks() && given.is_whole && !given.is_off);
    let span = call.span;
    for (programs, files, form) in RUN_BY {
        let is_run = |name: &&[u8]| programs.iter().any(|program| program.as_bytes() == *name);
        if !names.iter().any(is_run) {
            continue;
        }
        let built = run.files.named(|name| files.iter().any(|file| matches(file, name)));
        for file in built {
            match file {
                Built::Fetched => own.runs(Hidden::Network, span, "runs code from a network"),
                Built::Made => {
                    let reason = "it runs code that the text makes and does not show";
                    own.runs(Hidden::Made, span, reason);
                }
                Built::Text(text) => {
                    for code in code_of(*form, &text, &goals, only_looks) {
                        let role = match form {
                            Language(role) => *role,
                            Targets | Scripts => Role::Shell,
                        };
                        role::role(run, role, &Field::new(code), program, own);
                    }
                }
            }
        }
    }
}

/// Returns the code of a file that runs for some goals.
fn code_of<'t>(form: Form, text: &Text<'t>, goals: &[&[u8]], only_looks: bool) -> Vec<Text<'t>> {
    match form {
        Targets => {
            let recipes = Recipes::of(&text.bytes);
            let lines = if only_looks { recipes.evaluated() } else { recipes.lines(goals) };
            lines.into_iter().map(|(start, end)| text.part(start, end)).collect()
        }
        Scripts => scripts(&text.bytes, goals)
            .into_iter()
            .map(|script| Text::from_span(script, text.span))
            .collect(),
        Language(_) => vec![text.clone()],
    }
}
