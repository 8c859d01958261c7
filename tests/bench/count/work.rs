//! Work in this process: each row prepares its files once, without being counted, and then does rounds of work.

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use relay_bundle::{Bundle, encode, trust};
use relay_compiler::{Files, Listed, Options, ReadError, Sources};
use relay_engine::authority::Authority;
use relay_engine::cascade::locate;
use relay_engine::decide::{Call, Door, decide};
use relay_engine::place::{Identity, place};
use relay_engine::prompt;
use relay_engine::select::{BUDGET_BYTES, Limits, TAGS_MAX, Tags, select};
use relay_engine::sent::Sent;
use relay_engine::tool::{SHELL, command_arguments};
use relay_engine::view::View;
use relay_machine::audit::AuditFile;
use relay_policy::classify::{Rules, classify};
use relay_policy::facts::Facts;
use relay_policy::location::Location;

use crate::cascade;
use crate::classify::{labelled, shipped_table, usual_commands};
use crate::select::{ENTRIES_MAX, TAGS};
use crate::setting::keys;
use crate::{Result, Setting, decide as rules, generate};

/// A row.
pub(crate) struct Work {
    pub(crate) id: &'static str,
    pub(crate) work: &'static str,
    pub(crate) prepare: fn(&Setting) -> Result<()>,
    /// Does so many rounds and returns how many operations they are.
    pub(crate) run: fn(&Path, usize) -> Result<u64>,
    /// The rounds of the two counts that are compared.
    pub(crate) rounds: [usize; 2],
}

/// All of them.
pub(crate) const WORKS: &[Work] = &[
    of("classify/corpus", "classify a command of the corpora", nothing, corpus, [1, 2]),
    of("classify/open", "open the table of the shipped facts", nothing, open_facts, [1, 3]),
    of("decide/rules", "a decision under 1,000 rules", rules::of_all_kinds, decisions, [1, 3]),
    of("decide/load", "read 1,000 rules at load", rules::of_all_kinds, authority, [1, 11]),
    of("select/5-tags", "selection by 5 tags of 10,000 prompts", summaries, five_tags, [1, 11]),
    of("select/10-tags", "selection by 10 tags of 10,000 prompts", summaries, ten_tags, [1, 11]),
    of("cascade/names", "find a tenant, a tool and a user", skills, find_names, [1, 3]),
    of("cascade/matched", "the skills of a call, of 10,000", skills, matched, [1, 3]),
    of("load/open", "open and verify a bundle of 1,000 prompts", prompts, open, [1, 11]),
    of("read/first", "find and fill a prompt of 4 KB", prompts, first_reads, [1, 2]),
    of("read/again", "the same once its pages are checked", prompts, reads, [1, 2]),
    of("audit/record", "an audit record in batches of 64", nothing, records, [10, 110]),
    of("compile/project", "compile 100 prompts, 100 skills, 100 rules", nothing, compile, [1, 2]),
    of("diff/bundles", "compare bundles of 1,000 prompts, 31 changed", pair, compare, [1, 2]),
];

const fn of(
    id: &'static str,
    work: &'static str,
    prepare: fn(&Setting) -> Result<()>,
    run: fn(&Path, usize) -> Result<u64>,
    rounds: [usize; 2],
) -> Work {
    Work { id, work, prepare, run, rounds }
}

/// The prompts of a small bundle, and the file that holds it.
const PROMPTS: usize = 1_000;
const PROMPTS_FILE: &str = "prompts.relay";
/// The file of a bundle with summaries of a language's words.
const SUMMARIES_FILE: &str = "summaries.relay";

fn nothing(_: &Setting) -> Result<()> {
    Ok(())
}

fn prompts(setting: &Setting) -> Result<()> {
    setting.bundle(PROMPTS_FILE, &generate::contents(PROMPTS)).map(|_| ())
}

fn summaries(setting: &Setting) -> Result<()> {
    let path = setting.folder.join(SUMMARIES_FILE);
    if path.exists() {
        return Ok(());
    }
    Ok(fs::write(path, encode(&generate::summaries(10_000, 50_000))?)?)
}

fn skills(setting: &Setting) -> Result<()> {
    cascade::build(setting, true).map(|_| ())
}

fn pair(setting: &Setting) -> Result<()> {
    for name in ["a", "b"] {
        let folder = setting.folder.join(name);
        generate::project(&folder, PROMPTS)?;
        if name == "b" {
            generate::change(&folder, PROMPTS)?;
        }
        let mut build = harness::command(&setting.relay, &setting.folder);
        build.args(["build", name, "--unsigned", "-q", "-o", &format!("{name}.relay")]);
        let ended = harness::run(build);
        if ended.code != Some(0) {
            return Err(ended.stderr.into());
        }
    }
    Ok(())
}

fn bundle(folder: &Path, name: &str) -> Result<Bundle> {
    Ok(Bundle::open(Box::new(fs::read(folder.join(name))?))?)
}

fn corpus(_: &Path, rounds: usize) -> Result<u64> {
    let table = shipped_table()?;
    let (facts, rules, all) = (Facts::open(&table)?, Rules::default(), labelled());
    for _ in 0..rounds {
        for row in &all {
            black_box(classify(black_box(&row.command), &facts, &rules));
        }
    }
    Ok((rounds * all.len()) as u64)
}

fn open_facts(_: &Path, rounds: usize) -> Result<u64> {
    let table = shipped_table()?;
    for _ in 0..rounds {
        black_box(Facts::open(black_box(&table))?);
    }
    Ok(rounds as u64)
}

fn decisions(folder: &Path, rounds: usize) -> Result<u64> {
    let bundle = bundle(folder, rules::BUNDLE)?;
    let authority = Authority::of(&bundle)?;
    let placement = place(&bundle, &Identity::default())?.map_err(|_| "no place")?;
    let view = View::of(&bundle, &placement)?;
    let (location, commands) = (Location::default(), usual_commands());
    for _ in 0..rounds {
        for text in &commands {
            let arguments = command_arguments(SHELL, text, None).map_err(|_| "no command")?;
            let door = Door::Elsewhere;
            let (arguments, location) = (&arguments, &location);
            let call = Call { tool: SHELL, arguments, client: None, location, door };
            black_box(decide(&view, &authority, black_box(&call))?);
        }
    }
    Ok((rounds * commands.len()) as u64)
}

fn authority(folder: &Path, rounds: usize) -> Result<u64> {
    let bundle = bundle(folder, rules::BUNDLE)?;
    for _ in 0..rounds {
        black_box(Authority::of(black_box(&bundle))?);
    }
    Ok(rounds as u64)
}

fn five_tags(folder: &Path, rounds: usize) -> Result<u64> {
    selections(folder, rounds, 0)
}

fn ten_tags(folder: &Path, rounds: usize) -> Result<u64> {
    selections(folder, rounds, 1)
}

fn selections(folder: &Path, rounds: usize, set: usize) -> Result<u64> {
    let bundle = bundle(folder, SUMMARIES_FILE)?;
    let (_, _, given) = TAGS.get(set).ok_or("no tags")?;
    let tags = Tags::new(given, TAGS_MAX)?;
    let limits =
        Limits { budget_bytes: BUDGET_BYTES, entries_max: ENTRIES_MAX, named_in_full: true };
    let view = View::of_audience(&bundle, 0)?;
    for _ in 0..rounds {
        black_box(select(&view, black_box(&tags), &Sent::default(), limits)?);
    }
    Ok(rounds as u64)
}

fn find_names(folder: &Path, rounds: usize) -> Result<u64> {
    let (bundle, names) = (bundle(folder, cascade::BUNDLE)?, cascade::names());
    for _ in 0..rounds {
        for names in &names {
            black_box(locate(&bundle, cascade::question(names))?);
        }
    }
    Ok((rounds * names.len()) as u64)
}

fn matched(folder: &Path, rounds: usize) -> Result<u64> {
    let (bundle, names) = (bundle(folder, cascade::BUNDLE)?, cascade::names());
    let mut located = Vec::with_capacity(names.len());
    for names in &names {
        located.push(locate(&bundle, cascade::question(names))?.ok_or("no skills")?);
    }
    for _ in 0..rounds {
        for located in &located {
            black_box(black_box(located).matched());
        }
    }
    Ok((rounds * names.len()) as u64)
}

fn open(folder: &Path, rounds: usize) -> Result<u64> {
    let bytes: std::sync::Arc<[u8]> = fs::read(folder.join(PROMPTS_FILE))?.into();
    let (_, _, trusted) = keys()?;
    for _ in 0..rounds {
        let bundle = Bundle::open(Box::new(std::sync::Arc::clone(&bytes)))?;
        black_box(trust::verify(&bundle, &trusted, 1)?);
    }
    Ok(rounds as u64)
}

/// Each prompt of a bundle in turn; a bundle a round.
fn first_reads(folder: &Path, rounds: usize) -> Result<u64> {
    for _ in 0..rounds {
        read_all(&bundle(folder, PROMPTS_FILE)?)?;
    }
    Ok((rounds * PROMPTS) as u64)
}

fn reads(folder: &Path, rounds: usize) -> Result<u64> {
    let bundle = bundle(folder, PROMPTS_FILE)?;
    for _ in 0..rounds {
        read_all(&bundle)?;
    }
    Ok((rounds * PROMPTS) as u64)
}

fn read_all(bundle: &Bundle) -> Result<()> {
    for number in 0..PROMPTS {
        let found = bundle.find_prompt(&generate::name(number))?.ok_or("not found")?;
        black_box(prompt::fill(found.rendering(), &BTreeMap::default())?);
    }
    Ok(())
}

fn records(folder: &Path, rounds: usize) -> Result<u64> {
    const BATCH: usize = 64;
    let path = folder.join("counted.jsonl");
    _ = fs::remove_file(&path);
    let mut file = AuditFile::open(&path)?;
    let record = format!("{{\"tool\":\"shell_exec\",\"tier\":0,\"args\":{:?}}}", "x".repeat(300));
    for _ in 0..rounds {
        file.append_all(std::iter::repeat_n(record.as_str(), BATCH))?;
    }
    Ok((rounds * BATCH) as u64)
}

fn compile(_: &Path, rounds: usize) -> Result<u64> {
    let (files, table) = (Document(generate::mixed(100)), shipped_table()?);
    let options = Options { epoch: Some(1), ..Options::default() };
    for _ in 0..rounds {
        let sources = Sources::new(&files, "project.kdl").with_facts(&table);
        let compiled = relay_compiler::compile(&sources, &options);
        if compiled.bundle.is_none() {
            let errors = compiled.diagnostics.error_count();
            return Err(format!("the project has {errors} errors").into());
        }
        black_box(compiled);
    }
    Ok(rounds as u64)
}

/// The files of a project of one document.
struct Document(String);

impl Files for Document {
    fn read(&self, path: &str) -> std::result::Result<Vec<u8>, ReadError> {
        if path == "project.kdl" {
            Ok(self.0.clone().into_bytes())
        } else {
            Err(ReadError::NotFound)
        }
    }

    fn list(&self, _: &str) -> std::result::Result<Vec<Listed>, ReadError> {
        Err(ReadError::NotFound)
    }
}

fn compare(folder: &Path, rounds: usize) -> Result<u64> {
    let (a, b) = (bundle(folder, "a.relay")?, bundle(folder, "b.relay")?);
    for _ in 0..rounds {
        black_box(relay_diff::compare(black_box(&a), black_box(&b))?);
    }
    Ok(rounds as u64)
}
