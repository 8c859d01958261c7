//! Contents -> bytes of an unsigned bundle.
//!
//! The form is `relay_bundle`'s; this stage only reports a project that exceeds it. `relay check`
//! runs it too, so that every project that passes can be built.

use miette::Diagnostic;
use relay_bundle::{Contents, EncodeError};
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// Encodes the contents of a bundle. Contents that exceed the format are reported at the project's
/// name.
pub(crate) fn bundle(
    contents: &Contents,
    named_at: Span,
    out: &mut Diagnostics,
) -> Option<Vec<u8>> {
    match relay_bundle::encode(contents) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            report(error, named_at, out);
            None
        }
    }
}

fn report(error: EncodeError, at: Span, out: &mut Diagnostics) {
    let help = match error {
        EncodeError::SettingsTooLarge { .. } => "shorten titles and messages",
        _ => "split the project in two, or leave its largest files out",
    };
    out.report(at, TooLarge { error, help, at });
}

/// The project is too large for a bundle. The format has limits, which are checked when the bundle
/// is encoded, so `relay check` reports them too.
#[derive(Debug, Error, Diagnostic)]
#[error("{error}")]
#[diagnostic(code(bundle::too_large))]
struct TooLarge {
    error: EncodeError,
    #[help]
    help: &'static str,
    #[label(primary, "this project")]
    at: Span,
}

#[cfg(test)]
mod tests {
    use relay_bundle::EncodeError;

    use crate::diagnostic::Diagnostics;
    use crate::source::{Files, Listed, ReadError, Sources};

    struct One;

    impl Files for One {
        fn read(&self, _path: &str) -> Result<Vec<u8>, ReadError> {
            Ok(b"project large epoch=1".to_vec())
        }

        fn list(&self, _folder: &str) -> Result<Vec<Listed>, ReadError> {
            Err(ReadError::NotFound)
        }
    }

    /// A bundle over 4 GiB is too much for a test, so the test makes the error.
    #[test]
    fn what_does_not_fit_is_an_error_at_the_name() {
        let sources = Sources::new(&One, "project.kdl");
        let at = sources.load("project.kdl").unwrap().span(8, 13);
        let mut out = Diagnostics::new(false);
        super::report(EncodeError::TooLarge { length: 5 << 30, limit: 4 << 30 }, at, &mut out);
        assert!(out.has_errors());
        let found: Vec<_> = out.sorted().iter().map(|report| (report.code(), report.at)).collect();
        assert_eq!(found, [("bundle::too_large".to_owned(), at)]);
    }
}
