//! Tables that are joined to the same facts are compared by the programs that may differ: the findings are those of
//! a comparison of all of them.

use std::collections::BTreeSet;

use relay_bundle::Bundle;
use relay_compiler::facts::table;
use relay_policy::facts::{Facts, Knowledge, encode, join};
use relay_policy::tier::Tier;

use super::{project, shown};
use crate::policy::entry::FACTS;
use crate::random::Random;

/// Facts of a project that change, rename and take some of these.
fn own(shipped: &Knowledge, random: &mut Random) -> Knowledge {
    let file = u8::try_from(shipped.files.len()).expect("few files");
    let mut own = Knowledge { files: vec!["own.kdl".to_owned()], ..Knowledge::default() };
    for number in 0..random.below(4) {
        let mut program = shipped.programs[random.below(shipped.programs.len())].clone();
        match random.below(5) {
            0 => program.tier = Some(Tier::ReadOnly),
            1 => program.flags.truncate(1),
            2 => program.names = vec![format!("ours{number}")],
            3 => {
                let at = random.below(program.names.len());
                program.names = vec![program.names[at].clone()];
            }
            _ => program.names.push(format!("ours{number}")),
        }
        own.programs.push(program.in_file(file));
    }
    if random.below(2) == 0 {
        own.environment.push(format!("OURS{}", random.below(2)));
    }
    own
}

/// All in one table: the last of programs with one name counts.
fn whole(shipped: &Knowledge, own: &Knowledge) -> Vec<u8> {
    let names: BTreeSet<&String> = own.programs.iter().flat_map(|it| &it.names).collect();
    let mut all = shipped.clone();
    all.programs.iter_mut().for_each(|it| it.names.retain(|name| !names.contains(name)));
    all.programs.retain(|program| !program.names.is_empty());
    all.programs.extend_from_slice(&own.programs);
    all.environment.extend_from_slice(&own.environment);
    all.files.extend_from_slice(&own.files);
    table(&all).expect("a table")
}

#[test]
fn joined_facts_are_compared_as_all_facts_are() {
    let mut shipped = FACTS.knowledge();
    let mut number = 0;
    shipped.programs.retain(|program| {
        number += 1;
        !program.builtin && (program.names.len() > 2 || number % 40 == 0)
    });
    let base = encode(&shipped).expect("a table");
    let contents = project("").contents().expect("contents");
    let bundle = |facts: Vec<u8>| {
        let contents = relay_bundle::Contents { facts, ..contents.clone() };
        let bytes = relay_bundle::encode(&contents).expect("it fits");
        Bundle::open(Box::new(bytes)).expect("a bundle")
    };
    let mut random = Random(34);
    let (mut differ, mut count) = (0, 0);
    for _ in 0..60 {
        let [one, other] = [own(&shipped, &mut random), own(&shipped, &mut random)];
        let joined = |own| join(Facts::open(&base).expect("it opens"), own).expect("a table");
        let apart = Facts::open(&joined(&one))
            .expect("it opens")
            .programs_apart(&Facts::open(&joined(&other)).expect("it opens"));
        count += usize::from(apart.expect("one base").iter().all(|it| it.len() < 12));
        let both = |[a, b]: [Vec<u8>; 2]| {
            shown(&relay_diff::compare(&bundle(a), &bundle(b)).expect("whole bundles"))
        };
        let found = both([joined(&one), joined(&other)]);
        assert_eq!(found, both([whole(&shipped, &one), whole(&shipped, &other)]));
        let from_shipped = both([base.clone(), joined(&other)]);
        assert_eq!(from_shipped, both([base.clone(), whole(&shipped, &other)]));
        differ += usize::from(!found.is_empty());
    }
    assert!(differ > 40 && count > 40, "{differ} pairs differ, {count} are read in part");
}
