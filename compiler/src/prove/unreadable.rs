//! A bundle that fails to be read back.

use miette::Diagnostic;
use thiserror::Error;

use crate::diagnostic::Diagnostics;
use crate::source::Span;

/// The compiler opens its own bundle as a server does. If that fails, a server would refuse the
/// bundle too.
#[derive(Debug, Error, Diagnostic)]
#[error("the bundle that was made cannot be read: {reason}")]
#[diagnostic(
    code(expect::unreadable),
    help("this is a fault of relay: please report it, with the project if you can")
)]
struct Unreadable {
    reason: String,
    #[label(primary, "this project")]
    at: Span,
}

pub(super) fn report(reason: String, at: Span, out: &mut Diagnostics) {
    out.report(at, Unreadable { reason, at });
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Diagnostics;
    use crate::prove::{Declared, run};
    use crate::source::{Files, Listed, ReadError, Sources};

    struct One;

    impl Files for One {
        fn read(&self, _path: &str) -> Result<Vec<u8>, ReadError> {
            Ok(b"project odd epoch=1\nexpect visible { prompt a }\n".to_vec())
        }

        fn list(&self, _folder: &str) -> Result<Vec<Listed>, ReadError> {
            Err(ReadError::NotFound)
        }
    }

    /// Projects always give valid bytes, so the test makes these.
    #[test]
    fn bytes_that_are_no_bundle_are_an_error_and_stay_as_they_are() {
        let sources = Sources::new(&One, "project.kdl");
        let options = crate::options::Options::default();
        let mut out = Diagnostics::new(false);
        let ast = crate::parse::project(&sources, &mut out);
        let model = crate::resolve::project(&sources, &ast, &options, None, &mut out);
        let model = model.expect("it can be resolved");
        let declared = Declared::of(&model);
        let at = model.project.name.at;
        let mut out = Diagnostics::new(false);
        let (bytes, proven) =
            run(&sources, b"no bundle".to_vec(), (&declared, false), at, &mut out);
        assert_eq!(bytes, b"no bundle");
        assert!(proven.expects.is_empty());
        let found: Vec<_> = out.sorted().iter().map(|report| (report.code(), report.at)).collect();
        assert_eq!(found, [("expect::unreadable".to_owned(), at)]);
    }
}
