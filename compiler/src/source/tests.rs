use proptest::prelude::*;

use super::*;

proptest! {
    /// Places are asked before and after the table of all lines is made.
    #[test]
    fn a_place_near_the_beginning_is_that_of_the_table(text in "[a\r\n\u{e9}]{0,40}") {
        let asked = SourceFile::new("a.md", text.clone().into_bytes());
        let with_table = SourceFile::new("a.md", text.clone().into_bytes());
        let _ = with_table.line_starts();
        for offset in 0..=u32::try_from(text.len()).unwrap() {
            prop_assert_eq!(asked.line(offset), with_table.line(offset), "{:?} {}", text, offset);
        }
    }
}
