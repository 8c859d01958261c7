//! `--format`, which selects an output other than text for people, and `--json` for short. Every
//! verb with such an output takes these arguments; the type of the value lists its forms.

use clap::{Args, ValueEnum};

/// The forms that a verb can print; JSON is one of them.
pub(crate) trait Form: ValueEnum + Default + Copy + Send + Sync + 'static {
    /// The form of `--json`.
    const JSON: Self;
}

/// The choice of a form.
#[derive(Debug, Clone, Args)]
pub(crate) struct FormatArgs<F: Form> {
    /// The form of what is printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    format: F,
    /// Print JSON: the same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl<F: Form> FormatArgs<F> {
    /// Returns the form to print.
    pub(crate) fn chosen(&self) -> F {
        if self.json { F::JSON } else { self.format }
    }
}

/// The forms of a verb that compiles a project, and so reports errors and warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ReportFormat {
    /// Text for people
    #[default]
    Human,
    /// Each error and warning on one line: `FILE:LINE:COLUMN: error[CODE]: MESSAGE; HELP`
    Short,
    /// One JSON object
    Json,
    /// Errors and warnings as SARIF 2.1.0, for code scanning
    Sarif,
    /// Errors and warnings as workflow commands of GitHub Actions, which annotate a pull request
    Github,
}

impl Form for ReportFormat {
    const JSON: Self = Self::Json;
}

/// The forms of an answer about other things than errors and warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum AnswerFormat {
    /// Text for people
    #[default]
    Human,
    /// One JSON object
    Json,
}

impl Form for AnswerFormat {
    const JSON: Self = Self::Json;
}

/// The forms of audit records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum AuditFormat {
    /// Text for people
    #[default]
    Human,
    /// Each record as it is in the file
    Json,
    /// Common Event Format, version 0
    Cef,
    /// Log Event Extended Format, version 2.0
    Leef,
}

impl Form for AuditFormat {
    const JSON: Self = Self::Json;
}

/// The forms of the `expect`s of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum TestFormat {
    /// Text for people
    #[default]
    Human,
    /// One JSON object
    Json,
    /// JUnit XML, for the test reports of build servers
    Junit,
}

impl Form for TestFormat {
    const JSON: Self = Self::Json;
}

/// The forms of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Text for people
    #[default]
    Human,
    /// One JSON object
    Json,
    /// Markdown for a comment on a pull request
    Markdown,
    /// SARIF 2.1.0, for code scanning
    Sarif,
    /// Workflow commands of GitHub Actions, which annotate a pull request
    Github,
}

impl Form for DiffFormat {
    const JSON: Self = Self::Json;
}

impl ReportFormat {
    /// Returns the form of the answer to which these errors and warnings belong.
    pub(crate) fn of_answer(self) -> AnswerFormat {
        match self {
            Self::Json => AnswerFormat::Json,
            Self::Human | Self::Short | Self::Sarif | Self::Github => AnswerFormat::Human,
        }
    }
}
