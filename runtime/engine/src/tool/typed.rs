//! Text that is typed into a terminal, as the program there may read it: control characters edit the
//! line before a shell has it.

/// Stands in a typed line where one call ended and the next went on. In between, a program may have read
/// or dropped all that was typed so far, so that the line of the shell begins here.
const CALL_END: char = '\u{9f}';
/// The most calls that one line is followed through. Programs that take single keys get as many.
const CALLS_MAX: usize = 64;
/// The most bytes of readings beside that of the whole line and that of the last text: more would make the
/// work of a call grow with the number of calls before it.
const MORE_BYTES_MAX: usize = 64 << 10;
/// Interrupts a program (Ctrl-C), which may drop text that is typed with it.
pub const INTERRUPT: char = '\u{3}';
/// Characters that are text or end a line.
const PLAIN: [char; 3] = ['\t', '\n', '\r'];
/// Erases the character before it: Backspace and Delete.
const ERASE: [char; 2] = ['\u{8}', '\u{7f}'];
/// Erases the line: interrupt (Ctrl-C) and kill (Ctrl-U).
const ERASE_LINE: [char; 2] = [INTERRUPT, '\u{15}'];
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

/// Returns the line that a terminal has after `pending` and the `text` of a call, for the text of the next
/// call to go on with. Empty if the text ends its line.
#[must_use]
pub fn pending_after(pending: &str, text: &str) -> String {
    let line = gone_on(pending, text);
    let mut line = line.rsplit(['\n', '\r']).next().unwrap_or_default().to_owned();
    if !line.is_empty() {
        line.push(CALL_END);
    }
    line
}

/// Returns the text of a call with the line that it goes on with, as [`typed`] takes it.
#[must_use]
pub fn gone_on(pending: &str, text: &str) -> String {
    let text = text.replace(CALL_END, "\u{fffd}");
    format!("{pending}{text}")
}

/// Returns the readings of a typed text that goes on with what earlier calls typed: from the text of each
/// of them on, for a program may have taken what came before.
#[must_use]
pub fn typed(text: &str) -> Typed {
    let calls: Vec<&str> = text.split(CALL_END).collect();
    let mut all = Typed {
        readings: Vec::new(),
        is_doubtful: calls.len() > CALLS_MAX || calls.iter().any(|call| drops(call)),
    };
    let starts = [0].into_iter().chain((1..calls.len()).rev().take(CALLS_MAX));
    let mut more_bytes = 0;
    for (number, start) in starts.enumerate() {
        let line = calls.get(start..).unwrap_or_default().concat();
        if number > 1 {
            more_bytes += line.len();
            if more_bytes > MORE_BYTES_MAX {
                all.is_doubtful = true;
                break;
            }
        }
        let Typed { readings, is_doubtful } = typed_at_once(&line);
        all.is_doubtful |= is_doubtful;
        for reading in readings {
            if !all.readings.contains(&reading) {
                all.readings.push(reading);
            }
        }
    }
    all
}

/// Returns whether text follows an interrupt in one call: a shell that is interrupted drops an unknown
/// part of it.
fn drops(text: &str) -> bool {
    text.split_once(INTERRUPT).is_some_and(|(_, after)| !after.trim().is_empty())
}

/// Returns the readings of a text that is typed at once: the text without control characters, with each of
/// them as the end of a line, and as a terminal edits it.
fn typed_at_once(text: &str) -> Typed {
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
        reads("rmx\u{7f} -rf /", "rm -rf /");
        reads("rmé\u{8} -rf /", "rm -rf /");
        reads("rm echo\u{17}-rf /", "rm -rf /");
        reads("ls\n\u{7f}\u{17}\u{15}rm x", "rm x");
        reads("r\u{4}m -rf /", "rm -rf /");
    }

    #[test]
    fn a_line_in_parts_is_read_from_each_part_on() {
        let pending = pending_after("", "echo ");
        let pending = pending_after(&pending, "rm");
        let read = typed(&gone_on(&pending, " -rf /\n"));
        assert_eq!(read.readings, ["echo rm -rf /\n", " -rf /\n", "rm -rf /\n"]);
        assert!(!read.is_doubtful);
        assert_eq!(pending_after(&pending, " -rf /\n"), "");
        // The mark itself cannot be typed.
        assert_eq!(typed(&gone_on("", "a\u{9f}b")).readings.len(), 1);
        let many = (0..CALLS_MAX).fold(String::new(), |pending, _| pending_after(&pending, "x"));
        assert!(typed(&gone_on(&many, "y")).is_doubtful);
    }

    #[test]
    fn the_work_of_a_text_does_not_grow_with_the_calls_before_it() {
        let pending = (1..CALLS_MAX).fold(String::new(), |pending, _| pending_after(&pending, "x"));
        let read = typed(&gone_on(&pending, &"y".repeat(40 << 10)));
        assert!(read.is_doubtful && read.readings.len() <= 3, "{}", read.readings.len());
        let once = typed(&gone_on(&pending_after("", "x"), &"y".repeat(1 << 20)));
        assert!(!once.is_doubtful);
        assert_eq!(once.readings.len(), 2);
    }

    #[test]
    fn text_beside_an_interrupt_is_a_doubt() {
        assert!(typed("\u{3}#rm -rf /\n").is_doubtful);
        let pending = pending_after("", "\u{3}");
        assert!(!typed(&gone_on(&pending, "ls\n")).is_doubtful);
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
