//! The table of the shipped facts, read and not embedded: a fact that changes builds no test anew.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// Returns the table.
pub(crate) fn facts() -> &'static [u8] {
    static TABLE: LazyLock<Vec<u8>> = LazyLock::new(|| {
        // The fuzz targets are in a folder below.
        let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let mut paths = folders.map(|folder| folder.join("compiler/facts/table.bin"));
        let path = paths.find(|path| path.exists()).expect("the table of the shipped facts");
        fs::read(path).expect("the table can be read")
    });
    &TABLE
}
