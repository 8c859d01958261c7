//! Properties of every text and every table of facts; the fuzz targets call the same functions.

use std::sync::LazyLock;

use relay_policy::classify::{Rules, classify, classify_bytes};
use relay_policy::facts::{Facts, Knowledge, Node, join};
use relay_policy::location::Location;
use relay_policy::parse::parse;

use crate::shipped;

/// The shipped facts.
pub(crate) static FACTS: LazyLock<Facts<'static>> =
    LazyLock::new(|| Facts::open(shipped::facts()).expect("the shipped facts open"));

/// Parses any text: it ends, and an error is at a place of the text.
pub(crate) fn shell(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if let Err(error) = parse(&text) {
        assert!(error.at as usize <= text.len(), "{error:?}");
    }
}

/// Classifies any text: each tier above 0 has a reason, at characters of the text, and the same bytes have the
/// same verdict; broken UTF-8 has the worst.
pub(crate) fn classifier(bytes: &[u8]) {
    let facts = &*FACTS;
    let text = String::from_utf8_lossy(bytes);
    let rules = Rules::default();
    let verdict = classify(&text, facts, &rules);
    assert_eq!(verdict.tier.number() > 0, !verdict.hits.is_empty());
    for hit in &verdict.hits {
        assert!(hit.tier <= verdict.tier);
        assert!(text.get(hit.span.start as usize..hit.span.end as usize).is_some(), "{hit:?}");
        assert!(!hit.message(facts).is_empty());
    }
    let again = classify_bytes(bytes, &Location::default(), facts, &rules);
    if str::from_utf8(bytes).is_ok() {
        assert_eq!(again, verdict, "the same text, the same verdict");
    } else {
        assert_eq!(again.tier.number(), 3);
    }
}

/// A table of joined facts: of a project that has a program of its own, and one that replaces a shipped one.
static JOINED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let git = FACTS.program(b"git").and_then(|git| FACTS.program_facts(git));
    let file = u8::try_from(FACTS.files().len()).expect("few files");
    let replaced = git.expect("a program").in_file(file);
    let ours = Node { names: vec!["ours".to_owned(), "-o".to_owned()], ..replaced.clone() };
    let own = Knowledge {
        programs: vec![replaced, ours],
        environment: vec!["OURS_*".to_owned()],
        files: vec!["own.kdl".to_owned()],
        ..Knowledge::default()
    };
    join(*FACTS, &own).expect("a table")
});

/// Opens an altered table: it is refused, or it can be used.
pub(crate) fn fact_table(bytes: &[u8]) {
    let of_both = [shipped::facts(), &JOINED];
    let mut table = of_both[bytes.len() % 2].to_vec();
    for edit in bytes.chunks_exact(5) {
        let at = u32::from_le_bytes([edit[0], edit[1], edit[2], 0]) as usize % table.len();
        match edit[3] % 3 {
            0 => table[at] = edit[4],
            1 => table[at] ^= 1 << (edit[4] % 8),
            _ => table.truncate(table.len().saturating_sub(usize::from(edit[4]))),
        }
        if table.is_empty() {
            break;
        }
    }
    let Ok(facts) = Facts::open(&table) else { return };
    for command in COMMANDS {
        let verdict = classify(command, &facts, &Rules::default());
        for hit in &verdict.hits {
            let _ = hit.message(&facts);
            let _ = hit.at(&facts);
        }
    }
    for name in facts.program_names() {
        let _ = facts.program(name.as_bytes()).and_then(|id| facts.program_facts(id));
    }
    if let Some((shipped, own)) = facts.parted()
        && let Ok(shipped) = Facts::open(&shipped)
    {
        let _ = join(shipped, &own);
    }
}

/// Commands of every style of words.
const COMMANDS: &[&str] = &[
    "git -C x push -uf origin main",
    "find . -name '*.o' -exec rm {} +",
    "tar xzf a.tgz -C /opt",
    "dd if=/dev/zero of=/dev/sda",
    "sudo -u root env A=1 timeout 5 sh -c 'ls; rm x'",
    "docker run --rm -v /:/x img ls",
    "redis-cli FLUSHALL",
    "python3 -c 'import os; os.system(\"ls\")'",
];

/// Good inputs to begin with: the open corpora.
#[allow(dead_code, reason = "only the fuzz targets begin with seeds")]
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let corpora = [
        include_str!("corpus/examples.tsv"),
        include_str!("corpus/system.tsv"),
        include_str!("corpus/development.tsv"),
        include_str!("corpus/operations.tsv"),
        include_str!("corpus/bypasses.tsv"),
        include_str!("corpus/lookalikes.tsv"),
    ];
    let lines = corpora.iter().flat_map(|corpus| corpus.lines());
    let command =
        |line: &str| line.split('\t').next().unwrap_or("").replace('␤', "\n").into_bytes();
    lines.map(command).collect()
}
