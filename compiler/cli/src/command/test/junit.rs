//! The `expect`s as JUnit XML: a suite for each environment.

use crate::text::printable_lines;

use super::answer::{Environment, Tested};

pub(super) fn draw(tested: &Tested) -> String {
    let Tested { format_version: _, environments, untouched: _, mutants: _, passed, failed } =
        tested;
    let errors = environments.iter().filter(|environment| !environment.asked).count();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"relay test\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\">\n",
        passed + failed + errors
    );
    environments.iter().for_each(|environment| suite(environment, &mut text));
    text.push_str("</testsuites>\n");
    text
}

fn suite(environment: &Environment, text: &mut String) {
    let Environment { environment, asked, tests } = environment;
    let name = environment.as_deref().map_or_else(
        || "without an environment".to_owned(),
        |environment| format!("environment {environment}"),
    );
    let errors = usize::from(!asked);
    let failed = tests.iter().filter(|test| !test.passed).count();
    text.push_str(&format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\">\n",
        escaped(&name),
        tests.len() + errors
    ));
    if !asked {
        text.push_str(
            "    <testcase classname=\"project\" name=\"compiles\">\n      \
             <error message=\"the project has errors; `relay check` reports them\"/>\n    \
             </testcase>\n",
        );
    }
    for test in tests {
        let (file, line) = (escaped(&test.at.file), test.at.line);
        let name = escaped(&format!("{line}: {}", test.question));
        text.push_str(&format!(
            "    <testcase classname=\"{file}\" name=\"{name}\" file=\"{file}\" line=\"{line}\">\n"
        ));
        // One failure a case, the most that readers of this form accept.
        if let Some(first) = test.failures.first() {
            let all =
                test.failures.iter().map(|unmet| format!("{}: {}\n", unmet.at, unmet.message));
            text.push_str(&format!(
                "      <failure message=\"{}\">{}</failure>\n",
                escaped(&first.message),
                escaped(&all.collect::<String>())
            ));
        }
        text.push_str("    </testcase>\n");
    }
    text.push_str("  </testsuite>\n");
}

/// Returns a text in the form of XML, for attributes too. Characters outside of XML 1.0 become a
/// replacement character.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in printable_lines(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", u32::from(letter))),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push(char::REPLACEMENT_CHARACTER);
            }
            letter => out.push(letter),
        }
    }
    out
}
