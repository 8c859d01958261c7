//! Names of users that are safe on the wire and in messages.

/// The longest name of a user, in bytes.
const USER_BYTES_MAX: usize = 255;

/// Returns whether `user` is a plain name: ssh(1) refuses the letters of shells too. A space may be
/// in it: names of Windows have one.
#[must_use]
pub fn is_plain(user: &str) -> bool {
    let is_odd = |letter: char| letter.is_control() || "'`\";&<>|(){}%$".contains(letter);
    let is_short = !user.is_empty() && user.len() <= USER_BYTES_MAX;
    let is_option = user.starts_with('-') || user.contains(" -") || user.ends_with('\\');
    is_short && !is_option && !user.contains(is_odd)
}
