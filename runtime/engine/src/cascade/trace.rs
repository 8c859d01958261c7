//! The skills in the text, level by level.

use relay_bundle::{Corrupt, Level, Place};

use super::resolution::{Matched, Resolution};

/// A row of the trace: a matching skill, or an empty level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceRow {
    /// The level.
    pub level: Level,
    /// The skill; absent for an empty level.
    pub skill: Option<TracedSkill>,
}

/// A matching skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedSkill {
    /// Its name.
    pub name: String,
    /// Its priority.
    pub priority: u8,
    /// The name of the skill of the same topic that wins over it.
    pub overridden_by: Option<String>,
    /// Where it is declared.
    pub at: Place,
}

impl Resolution<'_> {
    /// Returns the trace: the matching skills in the order of the cascade, and one row for each
    /// empty level.
    ///
    /// # Errors
    ///
    /// The bundle is corrupt.
    pub fn trace(&self) -> Result<Vec<TraceRow>, Corrupt> {
        let mut matched = self.matched.iter().copied().peekable();
        let mut rows = Vec::new();
        for level in Level::ALL {
            let before = rows.len();
            while let Some(next) = matched.peek() {
                let view = self.bundle.skill(next.skill as usize)?;
                // A faulty build may have another order; even then every skill is traced.
                if view.level()? > level {
                    break;
                }
                rows.push(TraceRow { level: view.level()?, skill: Some(self.traced(*next)?) });
                matched.next();
            }
            if rows.len() == before {
                rows.push(TraceRow { level, skill: None });
            }
        }
        Ok(rows)
    }

    fn traced(&self, matched: Matched) -> Result<TracedSkill, Corrupt> {
        let Matched { skill, overridden_by } = matched;
        let view = self.bundle.skill(skill as usize)?;
        let name_of = |skill: u32| Ok(self.bundle.skill(skill as usize)?.name()?.to_owned());
        Ok(TracedSkill {
            name: view.name()?.to_owned(),
            priority: view.priority(),
            overridden_by: overridden_by.map(name_of).transpose()?,
            at: view.at()?.into_owned(),
        })
    }
}
