//! The order of roles: a higher role is judged at least as high as a lower one, for every word.

use relay_policy::facts::Role;

use crate::direction::Direction;

/// Returns the direction of a word whose role changes. `Same` and `Narrower` hold for every word.
pub(super) fn direction(before: Role, after: Role) -> Direction {
    Direction::proved(is_at_least(after, before), before == after)
}

/// Returns whether a word of the role `high` is judged at least as high as one of the role `low`.
///
/// Roles with code are outside of the order: with code among its words a program runs nothing of
/// its standard input. So are written files: later commands know their text.
fn is_at_least(high: Role, low: Role) -> bool {
    use Role as R;
    high == low
        || matches!(
            (low, high),
            (
                R::Text,
                R::Read
                    | R::Append
                    | R::Remove
                    | R::Empty
                    | R::Change
                    | R::ChangeTree
                    | R::Take
                    | R::Config
                    | R::Refspec
                    | R::Process
                    | R::Mode
                    | R::Listen
            ) | (R::Append, R::Take | R::Empty | R::Remove)
                | (R::Take | R::Empty, R::Remove)
                | (R::Change, R::ChangeTree)
        )
}

/// Returns words that show the effect of a role, the most telling first.
pub(super) fn examples(role: Role) -> &'static [&'static str] {
    use Role as R;
    match role {
        R::Text | R::Placeholder | R::Folder => &["x"],
        R::Read | R::RemoteRead | R::SendFile => &["/etc/shadow", "x"],
        R::Write | R::Append | R::Take | R::RemoteWrite => &["/etc/passwd", "/dev/sda", "h:/x"],
        R::Remove | R::Empty => &["/etc/passwd", "x"],
        R::Change | R::ChangeTree => &["/etc", "x"],
        R::Script => &["x.sh"],
        R::Config => &["x.conf"],
        R::Shell | R::ShellWords => &["rm -rf /etc"],
        R::RemoteShell => &["ssh -o ProxyCommand=x"],
        R::Command
        | R::EnvironmentCommand
        | R::EachCommand
        | R::EndedCommand
        | R::ParallelCommand => &["rm -rf /etc"],
        R::Sql => &["drop table x"],
        R::Sed => &["w /etc/passwd"],
        R::Awk => &["BEGIN{system(\"rm -rf /etc\")}"],
        R::Crontab => &["x"],
        R::Python => &["import os; os.system(\"rm -rf /etc\")"],
        R::Perl | R::Ruby | R::Php => &["system(\"rm -rf /etc\")"],
        R::Javascript => &["require(\"child_process\").execSync(\"rm -rf /etc\")"],
        R::Code => &["x"],
        R::Arithmetic => &["a[$(rm -rf /etc)]"],
        R::Name => &["PATH"],
        R::Environment => &["LD_PRELOAD=x"],
        R::Host => &["h"],
        R::Url => &["http://h/x"],
        R::Send => &["@/etc/shadow"],
        R::Secret => &["x"],
        R::Refspec => &["+main", ":main"],
        R::Revision => &[".", "x.rs"],
        R::Process => &["-1", "1"],
        R::Mount => &["/:/x"],
        R::Mode => &["4755"],
        R::User => &["root"],
        R::Listen => &["8080"],
    }
}
