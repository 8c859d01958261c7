//! The result of a comparison, for every form.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use relay_bundle::{Bundle, Digest, Place};
use relay_diff::{Area, Change, Claim, Comparer, Direction, Finding, Places, TOKEN_BYTES};
use relay_diff::{compare_derived, compare_signers};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::FORMAT_VERSION;
use crate::command::diff::anchor::Anchors;
use crate::command::diff::pair::{Facts, InEnvironment, Pair, SideFacts};
use crate::command::diff::side::{Content, Side};
use crate::command::verify::Signature;
use crate::failure::Failure;
use crate::level::Level;
use crate::project::DOCUMENT;

/// The comparison of one project, or of several.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Comparison {
    /// The version of this format.
    pub(crate) format_version: u32,
    /// Whether all answers of a server stay the same; hidden findings count too.
    pub(crate) same_meaning: bool,
    /// The areas whose findings are shown.
    pub(crate) areas: Vec<Area>,
    /// Each project.
    pub(crate) projects: Vec<Compared>,
    /// Facts that a reader must know and that concern several projects.
    pub(crate) notes: Vec<String>,
}

/// The comparison of one project.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Compared {
    /// The side before.
    pub(crate) a: Described,
    /// The side after.
    pub(crate) b: Described,
    /// The environments that were compared in; `null` is the project without one.
    pub(crate) environments: Vec<Option<String>>,
    /// Whether all answers of a server stay the same.
    pub(crate) same_meaning: bool,
    /// How many source files there are on either side; `null` if both are the same bundle.
    pub(crate) files_of: Option<usize>,
    /// The paths of the source files that differ, from the project's folder.
    pub(crate) files: Vec<String>,
    /// Facts that a reader must know to understand the comparison.
    pub(crate) notes: Vec<String>,
    /// The differences, the most dangerous first; of an area, those that are accepted last.
    pub(crate) findings: Vec<Found>,
    /// How many differences are of areas that are left out.
    pub(crate) not_shown: usize,
}

/// One side of a comparison.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Described {
    /// The argument of the command, or `HEAD` and `work tree` by default.
    pub(crate) subject: String,
    /// The hash of its commit, if it is from one.
    pub(crate) commit: Option<String>,
    /// The identity of its bundle; absent if the side is nothing.
    pub(crate) bundle: Option<Identity>,
    /// The signatures of a bundle: checked if there is a trust file.
    pub(crate) signers: Vec<Signature>,
    /// The prefix of a path from the project's folder in a checkout.
    #[serde(skip)]
    pub(crate) folder: String,
}

/// The identity of a bundle, as it is written in it. Of a project it is the bundle of the first environment.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Identity {
    /// The project's name.
    pub(crate) project: String,
    /// The project's version.
    pub(crate) version: Option<String>,
    /// The epoch.
    pub(crate) epoch: u64,
    /// The digest.
    pub(crate) digest: String,
    /// The compiler and its version.
    pub(crate) compiler: String,
    /// The version of the bundle format.
    pub(crate) format: String,
    /// The path of its document from the project's folder.
    #[serde(skip)]
    pub(crate) document: Option<String>,
}

/// A difference, and where it was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Found {
    /// The name of the difference in any run: area, kind, name and part.
    pub(crate) id: String,
    /// 16 hexadecimal digits of this very change in this project, and in these environments if
    /// others lack it. They stay when lines move.
    pub(crate) fingerprint: String,
    /// The difference.
    #[serde(flatten)]
    pub(crate) finding: Finding,
    /// The line of the second side where it is marked, if it is about a line. A removed thing is
    /// marked at the block that contained it.
    pub(crate) anchor: Option<Place>,
    /// An estimate of the tokens that agents get more or fewer: a quarter of the bytes.
    pub(crate) tokens_estimated: i64,
    /// The environments that have it; `null` is the project without one.
    pub(crate) environments: Vec<Option<String>>,
    /// The environments whose briefings have it with other numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) beside: Vec<Beside>,
    /// Why it is accepted; `null` if it is still open.
    pub(crate) accepted: Option<Accepted>,
    /// Why this change accepts it, if it does. That is too late: only acceptance in the commit of
    /// the first side counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accepted_here: Option<Accepted>,
    /// Whether it fails the run.
    #[serde(skip)]
    pub(crate) trips: bool,
}

/// The numbers of a change of briefings in other environments.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Beside {
    /// The environments.
    pub(crate) environments: Vec<Option<String>>,
    /// With how many tags a prompt is lost that came in full.
    pub(crate) losing: usize,
    /// With how many tags another prompt comes in full.
    pub(crate) gaining: usize,
    /// How many tags were tried.
    pub(crate) tried: usize,
}

/// That a difference is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Accepted {
    /// Why.
    pub(crate) reason: String,
}

/// The line for a reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The file, as it is found in a checkout.
    pub(crate) file: String,
    /// The line, from 1.
    pub(crate) line: u32,
}

/// The findings of one project while its environments are compared.
#[derive(Default)]
pub(crate) struct Gathered {
    identities: Option<[Option<Identity>; 2]>,
    environments: Vec<Option<String>>,
    findings: Vec<Found>,
    /// The place of a finding in the list, by its fingerprint.
    known: BTreeMap<String, usize>,
    comparer: Comparer,
}

impl Comparison {
    pub(crate) fn of(projects: Vec<Compared>) -> Self {
        let same_meaning = projects.iter().all(|project| project.same_meaning);
        let areas = vec![Area::Authority, Area::Contexts, Area::Surface];
        Self { format_version: FORMAT_VERSION, same_meaning, areas, projects, notes: Vec::new() }
    }

    /// Keeps the findings of these areas, and counts the others.
    pub(crate) fn keep(&mut self, areas: &[Area]) {
        self.areas.retain(|area| areas.contains(area));
        for project in &mut self.projects {
            let before = project.findings.len();
            project.findings.retain(|found| areas.contains(&found.finding.area));
            project.not_shown += before - project.findings.len();
        }
    }

    /// Returns every shown finding, the gravest first.
    pub(crate) fn gravest_first(&self) -> Vec<(&Compared, &Found)> {
        let of = |project| move |found| (project, found);
        let mut all: Vec<_> = self
            .projects
            .iter()
            .flat_map(|project| project.findings.iter().map(of(project)))
            .collect();
        all.sort_by(|(_, a), (_, b)| a.by_gravity(b));
        all
    }
}

impl Gathered {
    /// Compares both sides in one environment.
    pub(crate) fn compare(&mut self, sides: &InEnvironment<'_>) -> Result<(), Failure> {
        let InEnvironment { environment, a, b, is_compiled, is_same, anchors } = sides;
        let environment = environment.map(str::to_owned);
        self.environments.push(environment.clone());
        let identities = || [*a, *b].map(|bundle| bundle.map(Identity::of));
        self.identities.get_or_insert_with(identities);
        if *is_same {
            return Ok(());
        }
        let nothing = relay_diff::empty()?;
        let (a, b) = (a.unwrap_or(&nothing), b.unwrap_or(&nothing));
        for finding in self.comparer.compare(a, b)? {
            if *is_compiled && finding.is_of_environment() {
                continue;
            }
            let found = Found::of(finding, anchors);
            match self.known.get(&found.fingerprint).and_then(|at| self.findings.get_mut(*at)) {
                Some(known) => known.environments.push(environment.clone()),
                None => {
                    self.known.insert(found.fingerprint.clone(), self.findings.len());
                    self.findings.push(Found { environments: vec![environment.clone()], ..found });
                }
            }
        }
        Ok(())
    }

    /// Returns the comparison of the project.
    pub(crate) fn finish(mut self, pair: &Pair, facts: Facts) -> Compared {
        let signed = facts.a.trust.as_ref().zip(facts.b.trust.as_ref());
        let signed = signed.and_then(|(a, b)| compare_signers(a, b));
        let derived = compare_derived(&facts.a.derived, &facts.b.derived);
        let nowhere = Anchors::new(None, None);
        for finding in signed.into_iter().chain(derived) {
            let environments = self.environments.clone();
            self.findings.push(Found { environments, ..Found::of(finding, &nowhere) });
        }
        self.findings = together(self.findings);
        self.findings.sort_by(|a, b| a.finding.order().cmp(&b.finding.order()));
        let [of_a, of_b] = self.identities.unwrap_or_default();
        let project = of_b.as_ref().or(of_a.as_ref()).map_or("", |it| it.project.as_str());
        name(&mut self.findings, project, self.environments.len());
        let Facts { a, b, notes } = facts;
        let (files_of, files) = differing(&a, &b);
        Compared {
            files_of,
            files,
            a: Described::of(&pair.a, of_a, a),
            b: Described::of(&pair.b, of_b, b),
            environments: self.environments,
            same_meaning: self.findings.is_empty(),
            notes,
            findings: self.findings,
            not_shown: 0,
        }
    }
}

/// Returns the number of files on either side, and the paths of differing ones.
fn differing(a: &SideFacts, b: &SideFacts) -> (Option<usize>, Vec<String>) {
    let (Some(a), Some(b)) = (&a.files, &b.files) else { return (None, Vec::new()) };
    let paths: BTreeSet<_> = a.keys().chain(b.keys()).collect();
    let differ = paths.iter().filter(|path| a.get(**path) != b.get(**path));
    (Some(paths.len()), differ.map(|path| (*path).clone()).collect())
}

/// Merges the findings of briefings that differ only in numbers: the worst, with the others beside
/// it. Otherwise each environment with few own prompts would repeat all of it.
fn together(findings: Vec<Found>) -> Vec<Found> {
    let is_briefings = |found: &Found| matches!(found.finding.change, Change::Briefings { .. });
    let (briefings, mut out): (Vec<_>, Vec<_>) = findings.into_iter().partition(is_briefings);
    // Each environment and audience has at most one.
    let mut merged: Vec<Found> = Vec::new();
    for found in briefings {
        let alike = merged.iter_mut().find(|known| is_alike(known, &found));
        let Some(known) = alike else {
            merged.push(found);
            continue;
        };
        let (mut worst, mut other) = (found, known.clone());
        if weight(&worst) <= weight(&other) {
            std::mem::swap(&mut worst, &mut other);
        }
        let beside = Beside::of(&other);
        worst.environments.extend(other.environments);
        worst.environments.sort();
        worst.beside.append(&mut other.beside);
        worst.beside.extend(beside);
        *known = worst;
    }
    out.append(&mut merged);
    out
}

/// Makes the fingerprints those of this project, and of these environments if others lack the
/// finding. Acceptance holds in its own environment alone.
fn name(findings: &mut [Found], project: &str, environments: usize) {
    for found in findings {
        let is_in_all = found.environments.len() >= environments;
        let of = if is_in_all { &[] } else { found.environments.as_slice() };
        let text = serde_json::json!([project, found.fingerprint, of]).to_string();
        found.fingerprint = Digest::of(text.as_bytes()).hex().chars().take(16).collect();
    }
}

/// Returns whether two findings of briefings are equal except for the numbers of tags.
fn is_alike(a: &Found, b: &Found) -> bool {
    let of = |found: &Found| match &found.finding.change {
        Change::Briefings { always, budget, causes, .. } => {
            Some((*always, *budget, causes.clone(), found.finding.part.clone()))
        }
        _ => None,
    };
    of(a).is_some_and(|a| Some(a) == of(b))
}

fn weight(found: &Found) -> usize {
    match &found.finding.change {
        Change::Briefings { losing, gaining, .. } => losing.saturating_add(*gaining),
        _ => 0,
    }
}

impl Beside {
    fn of(found: &Found) -> Option<Self> {
        let Change::Briefings { losing, gaining, .. } = &found.finding.change else { return None };
        let tried = match found.finding.claim {
            Claim::Tried { inputs, of: _ } => inputs,
            Claim::Exact => 0,
        };
        let environments = found
            .environments
            .iter()
            .filter(|name| !found.beside.iter().any(|beside| beside.environments.contains(name)));
        let environments = environments.cloned().collect();
        Some(Self { environments, losing: *losing, gaining: *gaining, tried })
    }
}

impl Compared {
    /// Returns the comparison of two files of a server.
    pub(crate) fn of_files(a: Described, b: Described, findings: Vec<Finding>) -> Self {
        let nowhere = Anchors::new(None, None);
        let found = |finding| Found { environments: vec![None], ..Found::of(finding, &nowhere) };
        let mut findings: Vec<Found> = findings.into_iter().map(found).collect();
        name(&mut findings, "", 1);
        Self {
            a,
            b,
            environments: vec![None],
            same_meaning: findings.is_empty(),
            files_of: None,
            files: Vec::new(),
            notes: Vec::new(),
            findings,
            not_shown: 0,
        }
    }

    /// Returns the name of the project; empty if it is unnamed.
    pub(crate) fn project(&self) -> &str {
        let identity = self.b.bundle.as_ref().or(self.a.bundle.as_ref());
        identity.map_or("", |identity| identity.project.as_str())
    }

    /// Returns the line of B for a reviewer: a finding that lacks a place in B is at its document,
    /// and if B lacks the document, at that of A.
    pub(crate) fn spot(&self, found: &Found) -> Spot {
        let side = if self.b.bundle.is_some() { &self.b } else { &self.a };
        let document = side.bundle.as_ref().and_then(|bundle| bundle.document.as_deref());
        let (file, line) = match &found.anchor {
            Some(place) => (place.file.as_str(), place.line),
            None => (document.unwrap_or(DOCUMENT), 1),
        };
        Spot { file: format!("{}{file}", side.folder), line }
    }

    /// Returns the findings of an area.
    pub(crate) fn of_area(&self, area: Area) -> impl Iterator<Item = &Found> {
        self.findings.iter().filter(move |found| found.finding.area == area)
    }
}

impl Described {
    /// Returns the description of a file other than a project or bundle.
    pub(crate) fn of_file(subject: String, commit: Option<String>) -> Self {
        Self { subject, commit, bundle: None, signers: Vec::new(), folder: String::new() }
    }

    fn of(side: &Side, bundle: Option<Identity>, facts: SideFacts) -> Self {
        let Side { label, commit, content } = side;
        let (subject, commit) = (label.clone(), commit.clone());
        let folder = match content {
            Content::Project(project) => project.folder().to_owned(),
            Content::Nothing | Content::Bundle(_) => String::new(),
        };
        Self { subject, commit, bundle, signers: facts.signatures, folder }
    }
}

impl Identity {
    fn of(bundle: &Bundle) -> Self {
        let manifest = bundle.manifest();
        let (major, minor) = bundle.format();
        Self {
            project: manifest.project.value.clone(),
            version: manifest.version.as_ref().map(|version| version.value.clone()),
            epoch: bundle.epoch(),
            digest: bundle.digest().to_string(),
            compiler: manifest.compiler.clone(),
            format: format!("{major}.{minor}"),
            document: manifest.project.at.as_ref().map(|place| place.file.clone()),
        }
    }
}

impl Found {
    fn of(finding: Finding, anchors: &Anchors<'_>) -> Self {
        Self {
            anchor: anchors.of(&finding),
            id: finding.id(),
            fingerprint: finding.fingerprint(),
            tokens_estimated: finding.bytes / TOKEN_BYTES,
            environments: Vec::new(),
            beside: Vec::new(),
            accepted: None,
            accepted_here: None,
            trips: false,
            finding,
        }
    }

    /// Returns the place to read it: the changed line, or the place in A of a gone thing.
    pub(crate) fn place(&self) -> Option<&Place> {
        let Places { a, b } = &self.finding.places;
        // The mark of a gone thing is on another thing's line.
        b.as_ref().and(self.anchor.as_ref()).or(b.as_ref()).or(a.as_ref())
    }

    /// Returns whether a reviewer may accept it, or has done so: its fingerprint is shown.
    pub(crate) fn needs_acceptance(&self) -> bool {
        self.level() != Level::Note || self.trips || self.accepted.is_some()
    }

    /// Compares the gravity of two findings: the graver is less.
    pub(crate) fn by_gravity(&self, other: &Self) -> Ordering {
        (self.level(), self.accepted.is_some(), self.finding.order()).cmp(&(
            other.level(),
            other.accepted.is_some(),
            other.finding.order(),
        ))
    }

    /// Returns its gravity: a finding that loosens needs a person before the merge.
    pub(crate) fn level(&self) -> Level {
        match &self.finding {
            _ if self.accepted.is_some() => Level::Note,
            Finding { direction: Some(Direction::NotProved), .. } => Level::Error,
            Finding { breaking: true, .. } | Finding { always: true, .. } => Level::Warning,
            _ => Level::Note,
        }
    }
}
