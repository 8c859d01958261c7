//! Text that is typed into a terminal, as the program there may read it: control characters edit the
//! line before a shell has it.

/// Characters that are text or end a line.
const PLAIN: [char; 3] = ['\t', '\n', '\r'];
/// Erases the character before it: Backspace and Delete.
const ERASE: [char; 2] = ['\u{8}', '\u{7f}'];
/// Erases the line: interrupt (Ctrl-C) and kill (Ctrl-U).
const ERASE_LINE: [char; 2] = ['\u{3}', '\u{15}'];
/// Erases the word before it (Ctrl-W).
const ERASE_WORD: char = '\u{17}';
/// Leaves the line as it is: end of input (Ctrl-D) and clear (Ctrl-L).
const OTHER: [char; 2] = ['\u{4}', '\u{c}'];

/// The readings of a typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// The texts that a program may read, each once. All of them count.
    pub readings: Vec<String>,
    /// Whether a program may read yet another text: a key such as Tab, an arrow or Ctrl-Y completes,
    /// moves or recalls text.
    pub is_doubtful: bool,
}

/// Returns the readings of a typed text: the text without control characters, with each of them as the
/// end of a line, and as a terminal edits it.
#[must_use]
pub fn typed(text: &str) -> Typed {
    let is_control = |letter: char| letter.is_control() && !PLAIN.contains(&letter);
    if !text.contains(is_control) {
        return Typed { readings: vec![text.to_owned()], is_doubtful: completes(text) };
    }
    let bare: String = text.chars().filter(|letter| !is_control(*letter)).collect();
    let ended = text.replace(is_control, "\n");
    let mut readings = Vec::new();
    for reading in [bare, ended, edited(text)] {
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    let is_followed = |letter: char| {
        letter == ERASE_WORD
            || [&ERASE[..], &ERASE_LINE, &OTHER].iter().any(|all| all.contains(&letter))
    };
    // Alone, a control character is a key, such as an interrupt.
    let has_text = text.chars().any(|letter| !letter.is_control() && !letter.is_whitespace());
    let is_doubtful = has_text && text.chars().any(|it| is_control(it) && !is_followed(it));
    Typed { readings, is_doubtful: is_doubtful || completes(text) }
}

/// Returns whether a Tab follows text of its line: a shell completes the word before it.
fn completes(text: &str) -> bool {
    text.split(['\n', '\r']).any(|line| line.trim_start().contains('\t'))
}

/// Returns a text as a terminal edits it. The work is linear: no character is looked at more than twice.
fn edited(text: &str) -> String {
    let mut done = String::new();
    // Where the line begins.
    let mut line = 0;
    for letter in text.chars() {
        if ERASE.contains(&letter) {
            if done.len() > line {
                done.pop();
            }
        } else if ERASE_LINE.contains(&letter) {
            done.truncate(line);
        } else if letter == ERASE_WORD {
            let kept = done.get(line..).unwrap_or_default().trim_end();
            let word = kept.rfind(char::is_whitespace).map_or(0, |at| at + 1);
            done.truncate(line + word);
        } else if !letter.is_control() || PLAIN.contains(&letter) {
            done.push(letter);
            if matches!(letter, '\n' | '\r') {
                line = done.len();
            }
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_control_characters_has_one_reading() {
        for text in ["", "ls -l", "\tb\nc\r", "\t\t", "é"] {
            assert_eq!(typed(text), Typed { readings: vec![text.into()], is_doubtful: false });
        }
    }

    #[test]
    fn each_way_to_edit_a_line_is_followed() {
        let reads = |text: &str, wanted: &str| {
            let typed = typed(text);
            assert!(!typed.is_doubtful, "{text:?}");
            let found = typed.readings.iter().any(|reading| reading.lines().any(|it| it == wanted));
            assert!(found, "{text:?}: {typed:?}");
        };
        reads("echo \u{15}rm -rf /", "rm -rf /");
        reads("echo \u{3}rm -rf /", "rm -rf /");
        reads("rmx\u{7f} -rf /", "rm -rf /");
        reads("rmé\u{8} -rf /", "rm -rf /");
        reads("rm echo\u{17}-rf /", "rm -rf /");
        reads("ls\n\u{7f}\u{17}\u{15}rm x", "rm x");
        reads("r\u{4}m -rf /", "rm -rf /");
    }

    #[test]
    fn two_megabytes_of_keys_take_no_time() {
        // With a search for the line at each key, this takes hours.
        for keys in ["x\u{7f}", "x", "x \u{17}", "\u{15}x"] {
            let text = format!("\u{3}{}", keys.repeat((2 << 20) / keys.len()));
            assert!(!typed(&text).readings.is_empty());
        }
    }

    #[test]
    fn a_recalled_text_is_a_doubt_beside_other_text() {
        let texts = [
            "rm \u{19}",
            "a\u{10}b",
            "x \u{12}y",
            "a\u{16}\u{15}b",
            "a\u{9b}b",
            "touch /et\tx",
            "-rf rm\u{1b}t",
            "m x\u{1b}[D\u{1b}[D\u{1b}[Dr",
            "\u{1b}:wq",
        ];
        for text in texts {
            assert!(typed(text).is_doubtful, "{text:?}");
        }
        for text in ["\u{10}", "\u{1a}", " \u{1c}\n", "\u{1b}", "\t"] {
            assert!(!typed(text).is_doubtful, "{text:?}");
        }
    }
}
