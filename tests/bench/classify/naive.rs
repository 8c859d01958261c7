//! A list of patterns over the text, as a naive classifier has it: its cost, and how often it is wrong.

use regex::bytes::{Regex, RegexBuilder};
use relay_policy::classify::Verdict;

use super::corpus::{Labelled, times};
use crate::Result;
use crate::figures::number::median;
use crate::figures::{Figure, Report, beside, of};

pub(crate) const SPEED: Figure = Figure {
    id: "classify/patterns",
    work: "the same commands by 65 patterns over the text",
    parts: &[of("p50", "µs")],
    note: "the peer of the classifier: what a list of dangerous texts costs, and misses.",
};
pub(crate) const LOST: Figure = Figure {
    id: "classify/lost",
    work: "commands of tier 2 and 3 of the corpora that are reported lower than 2",
    parts: &[
        of("share", "%").at_most(1.0),
        of("commands", ""),
        of("of", ""),
        beside("by those patterns", ""),
    ],
    note: "the facts were written with these corpora. The three are programs that the project pins, which rule 7.8 of [tiers.md](tiers.md) made 1 after they were labelled.",
};
pub(crate) const OVER: Figure = Figure {
    id: "classify/over",
    work: "commands of tier 0 of the corpora that are reported as 2 or 3",
    parts: &[
        of("share", "%").at_most(4.0),
        of("commands", ""),
        of("of", ""),
        beside("by those patterns", ""),
    ],
    note: "",
};

/// A classifier of the naive kind: what it looks for, and the tier if it is there.
const PATTERNS: &[(u8, &[&str])] = &[
    (
        3,
        &[
            r"\brm\s+(-\w+\s+)*-\w*r",
            r"\brm\s+--recursive\b",
            r"\brm\s.*\*",
            r"\bmkfs(\.\w+)?\b",
            r"\bdd\b.*\bof=/dev/",
            r">\s*/dev/(sd|nvme|vd)\w+",
            r"\bshred\b",
            r"\bwipefs\b",
            r":\(\)\s*\{.*\};",
            r"\b(shutdown|reboot|halt|poweroff)\b",
            r"\bgit\s+push\b.*(--force|\s-f\b)",
            r"\bgit\s+reset\s+--hard\b",
            r"\bgit\s+clean\s+-\w*f",
            r"\bgit\s+branch\s+-D\b",
            r"\bgit\s+filter-branch\b",
            r"(?i)\bdrop\s+(table|database|schema)\b",
            r"(?i)\btruncate\s+table\b",
            r"(?i)\bdelete\s+from\b",
            r"\bterraform\s+destroy\b",
            r"\bkubectl\s+delete\b",
            r"\bhelm\s+(uninstall|delete)\b",
            r"\bdocker\s+(system|volume|image)\s+prune\b",
            r"\bdocker\s+volume\s+rm\b",
            r"\baws\s+s3\s+(rb|rm)\b",
            r"\baws\b.*\b(delete|terminate)-",
            r"\bgcloud\b.*\bdelete\b",
            r"\baz\b.*\bdelete\b",
            r"\bcurl\b.*\|\s*(sudo\s+)?(ba)?sh\b",
            r"\bwget\b.*\|\s*(sudo\s+)?(ba)?sh\b",
            r"\bbase64\s+(-d|--decode)\b.*\|\s*(ba)?sh\b",
            r"\bfind\b.*-delete\b",
            r"\bfind\b.*-exec\s+rm\b",
            r"\bxargs\s+(-\S+\s+)*rm\b",
            r"\bchmod\s+-R\s+\d+\s+/",
            r"\bchown\s+-R\s+\S+\s+/",
            r"\bkill\s+-9\s+-1\b",
            r"\bcrontab\s+-r\b",
            r"\buserdel\b",
            r"\blv(remove|reduce)\b",
            r"\bzfs\s+destroy\b",
        ],
    ),
    (
        2,
        &[
            r"\bsudo\b",
            r"\bsu\s+-",
            r"\brm\b",
            r"\bmv\b.*\s/etc/",
            r">\s*/etc/",
            r"\btee\s+(-a\s+)?/etc/",
            r"\bsystemctl\s+(start|stop|restart|enable|disable|mask)\b",
            r"\bservice\s+\S+\s+(start|stop|restart)\b",
            r"\b(apt|apt-get|yum|dnf|zypper)\s+(-\S+\s+)*(install|remove|purge|upgrade)\b",
            r"\b(npm|pnpm|yarn)\s+(install|publish|add)\b",
            r"\bpip3?\s+(un)?install\b",
            r"\bgit\s+push\b",
            r"\bdocker\s+(run|stop|rm|kill|push)\b",
            r"\bkubectl\s+(apply|scale|rollout|edit|patch)\b",
            r"\bterraform\s+apply\b",
            r"\b(kill|pkill|killall)\b",
            r"\biptables\b",
            r"\bmount\b",
            r"\b(useradd|usermod|passwd)\b",
            r"\bssh\b",
            r"\beval\b",
            r"\bcurl\b.*(-X\s*(POST|PUT|DELETE|PATCH)|--data|-d\s)",
        ],
    ),
    (1, &[r"\b(cp|mv|mkdir|touch|ln|tee)\b", r">", r"\bgit\s+(add|commit|checkout|merge|pull)\b"]),
];

/// Measures both.
pub(crate) fn naive(
    all: &[Labelled],
    usual: &[&str],
    judge: impl Fn(&str) -> Verdict,
    report: &mut Report,
) -> Result<()> {
    let mut patterns: Vec<(Regex, u8)> = Vec::new();
    for (tier, texts) in PATTERNS {
        for text in *texts {
            let regex =
                RegexBuilder::new(text).unicode(false).dot_matches_new_line(true).build()?;
            patterns.push((regex, *tier));
        }
    }
    let guess = |command: &str| {
        let found = patterns.iter().find(|(regex, _)| regex.is_match(command.as_bytes()));
        found.map_or(0, |(_, tier)| *tier)
    };
    let own = |command: &str| judge(command).tier.number();
    let lost = |tier: &dyn Fn(&str) -> u8| {
        all.iter().filter(|row| row.tier >= 2 && tier(&row.command) < 2).count()
    };
    let over = |tier: &dyn Fn(&str) -> u8| {
        all.iter().filter(|row| row.tier == 0 && tier(&row.command) >= 2).count()
    };
    let dangerous = all.iter().filter(|row| row.tier >= 2).count();
    let harmless = all.iter().filter(|row| row.tier == 0).count();
    let patterned = median(&mut times(usual, guess));
    report.put_all(&SPEED, &[patterned])?;
    report.detail(&SPEED, format!("{} patterns", patterns.len()));
    let percent = |part: usize, all: usize| part as f64 / all as f64 * 100.0;
    let (ours, theirs) = (lost(&own), lost(&guess));
    let counts = [percent(ours, dangerous), ours as f64, dangerous as f64, theirs as f64];
    report.put_all(&LOST, &counts)?;
    let (ours, theirs) = (over(&own), over(&guess));
    report.put_all(&OVER, &[percent(ours, harmless), ours as f64, harmless as f64, theirs as f64])
}
