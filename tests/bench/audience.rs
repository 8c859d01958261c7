//! Audiences: placing a caller, what masks cost, and what selection under a mask does.

use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

use harness::command;
use relay_bundle::{Audience, Audiences, Bundle, Contents, Kind, Mask, Visible, encode};
use relay_engine::place::{Identity, place};
use relay_engine::select::{BUDGET_BYTES, Limits, TAGS_MAX, Tags, select};
use relay_engine::sent::Sent;
use relay_engine::view::View;

use crate::cost::cost;
use crate::figures::number::median;
use crate::figures::{Figure, Part, Report, of};
use crate::select::{ENTRIES_MAX, TAGS};
use crate::{Result, Setting, generate};

pub(crate) const FIGURES: &[Figure] = &[MOST, HALF, PLACING, MASKS, ROLE];

const MOST: Figure = Figure {
    id: "audiences/most",
    work: "selection for an audience that sees 15 of 16 of 10,000 prompts, of that for everyone",
    parts: MASKED,
    note: "",
};
const HALF: Figure = Figure {
    id: "audiences/half",
    work: "the same for one that sees half of them",
    parts: MASKED,
    note: "",
};
const MASKED: &[Part] = &[
    of("5 tags", "×").at_most(1.1),
    of("10 tags", "×").at_most(1.1),
    of("5 of two letters", "×").at_most(1.1),
];
const PLACING: Figure = Figure {
    id: "audiences/placing",
    work: "place a caller among 1,000 users",
    parts: &[
        of("by id", "ns").at_most(1000.0),
        of("by the second of two groups", "ns").at_most(1000.0),
        of("as anyone", "ns").at_most(1000.0),
    ],
    note: "",
};
const MASKS: Figure = Figure {
    id: "audiences/masks",
    work: "masks of 10,000 prompts and 10 audiences, for each prompt and audience",
    parts: &[of("", "bits").at_most(2.0)],
    note: "",
};
const ROLE: Figure = Figure {
    id: "audiences/role",
    work: "a role that everyone has, beside no roles",
    parts: &[of("more", "bytes").at_most(1024.0)],
    note: "",
};

const PROMPTS: usize = 10_000;
const USERS: usize = 1_000;
const TENANTS: usize = 4;
/// Rounds of a measurement, of which the median is printed.
const ROUNDS: usize = 201;

/// All of it.
pub(crate) fn audiences(setting: &Setting, report: &mut Report) -> Result<()> {
    masked_selection(report)?;
    let several = build(setting, "several", &access(), true)?;
    placing(&several, report)?;
    let count = several.audiences().count();
    let masks = length(&several, Kind::AudienceMasks);
    report.put_all(&MASKS, &[bits(masks) / (PROMPTS * count) as f64])?;
    let everyone = "roles { role reader }\nusers { anyone role=reader }\n";
    let none = build(setting, "none", "", false)?;
    let one = build(setting, "one", everyone, false)?;
    let size = |bundle: &Bundle| bundle.sections().iter().map(|it| it.length).sum::<u64>();
    report.put_all(&ROLE, &[size(&one).saturating_sub(size(&none)) as f64])
}

/// Places callers by id, by group and as anyone.
fn placing(bundle: &Bundle, report: &mut Report) -> Result<()> {
    let ids: Vec<String> =
        (0..USERS).map(|n| format!("user-{:04}@acme.example", n * 7 % USERS)).collect();
    let groups = vec!["nobody".to_owned(), "sre".to_owned()];
    for (what, known, groups) in [
        ("by id", true, [].as_slice()),
        ("by the second of two groups", false, groups.as_slice()),
        ("as anyone", false, &[]),
    ] {
        let mut rounds = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let start = Instant::now();
            for id in &ids {
                let id = if known { id.as_str() } else { "stranger@acme.example" };
                let identity = Identity { id, tenant: Some("tenant-1"), groups, role: None };
                black_box(place(bundle, &identity)?)?;
            }
            rounds.push(start.elapsed().as_secs_f64() * 1e9 / USERS as f64);
        }
        report.put(&PLACING, what, median(&mut rounds))?;
    }
    Ok(())
}

/// Selects with a mask and with all visible, in turn, over the same prompts.
fn masked_selection(report: &mut Report) -> Result<()> {
    let contents = generate::summaries(PROMPTS, 50_000);
    let unmasked = Bundle::open(Box::new(encode(&contents)?))?;
    for (figure, seen) in [(&MOST, 15), (&HALF, 8)] {
        let visible =
            Visible { rows: Mask::of(PROMPTS, |prompt| prompt % 16 < seen), pages: Vec::new() };
        let list = vec![Audience { prompts: visible, ..Audience::default() }];
        let audiences = Audiences { tenant_classes: vec![0], table: vec![0], list };
        let contents = Contents { audiences: Some(audiences), ..contents.clone() };
        let masked = Bundle::open(Box::new(encode(&contents)?))?;
        for (part, _, given) in TAGS {
            let given = Tags::new(given, TAGS_MAX)?;
            let (mut with, mut without) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                with.push(selected(&masked, &given)?);
                without.push(selected(&unmasked, &given)?);
            }
            let (with, without) = (median(&mut with), median(&mut without));
            report.put(figure, part, with / without)?;
        }
    }
    Ok(())
}

/// The microseconds of one selection.
fn selected(bundle: &Bundle, tags: &Tags) -> Result<f64> {
    let limits =
        Limits { budget_bytes: BUDGET_BYTES, entries_max: ENTRIES_MAX, named_in_full: true };
    let start = Instant::now();
    let view = View::of_audience(bundle, 0)?;
    black_box(select(&view, tags, &Sent::default(), limits)?);
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

/// Tenants, roles, and users of each tenant.
fn access() -> String {
    let mut text = String::from("tenants {\n");
    for tenant in 0..TENANTS {
        _ = writeln!(text, "    tenant tenant-{tenant}");
    }
    text.push_str("}\nroles { role operator tier=2; role reader }\nusers {\n");
    for user in 0..USERS {
        _ = writeln!(
            text,
            "    user \"user-{user:04}@acme.example\" tenant=tenant-1 role=operator"
        );
    }
    text.push_str("    group sre role=operator\n    anyone role=reader\n}\n");
    text
}

/// Builds a project of prompts, most of them with a `for` if `readers` says so.
fn build(setting: &Setting, name: &str, access: &str, readers: bool) -> Result<Bundle> {
    let mut text = format!("project {name} version=\"1.0.0\" epoch=1\n{access}prompts {{\n");
    for prompt in 0..PROMPTS {
        let reader = match prompt % 6 {
            tenant if readers && tenant < TENANTS => format!("for tenant=tenant-{tenant}; "),
            4 if readers => "for role=operator; ".to_owned(),
            _ => String::new(),
        };
        writeln!(
            text,
            "    prompt prompt-{prompt:05} {{ {reader}text \"Rule {prompt} of the platform.\" }}"
        )?;
    }
    text.push_str("}\n");
    let project = format!("{name}.kdl");
    fs::write(setting.folder.join(&project), text)?;
    let mut build = command(&setting.relay, &setting.folder);
    let bundle = format!("{name}.relay");
    build.args(["build", &project, "--unsigned", "-q", "-o", &bundle]);
    cost(build, 0)?;
    Ok(Bundle::open(Box::new(fs::read(setting.folder.join(bundle))?))?)
}

fn length(bundle: &Bundle, kind: Kind) -> u64 {
    let section = bundle.sections().iter().find(|section| section.number == kind.number());
    section.map_or(0, |section| section.length)
}

fn bits(bytes: u64) -> f64 {
    bytes as f64 * 8.0
}
