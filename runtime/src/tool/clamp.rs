//! The limit of a result's length.

use relay_engine::tool::Keep;

/// Truncates a long result at its less important end, and adds a note.
pub(crate) fn clamp(mut result: String, bytes_max: usize, keep: Keep) -> String {
    let total = result.len();
    let over = total.checked_sub(bytes_max).filter(|over| *over > 0);
    let Some(over) = over else { return result };
    match keep {
        Keep::Start => result.truncate(result.floor_char_boundary(total - over)),
        Keep::End => {
            let cut = result.ceil_char_boundary(over);
            let line = result.get(cut..).and_then(|rest| rest.find('\n')).map_or(0, |end| end + 1);
            result.drain(..cut + line);
        }
    }
    let kept = result.len();
    result + &format!("\n\n[TRUNCATED - {total} bytes total, {kept} shown]")
}
