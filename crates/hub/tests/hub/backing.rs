//! What keeps the rows of these tests' hubs: a file of SQLite in the directory of each.

use std::fs;
use std::path::Path;

use hub::server::directory::Settings;

/// Says where a new hub has its database: nothing, which is the file.
pub const fn prepare(_: &mut Settings) {}

/// All that is kept of a hub, byte by byte.
pub fn kept(directory: &Path) -> Vec<u8> {
    let files = fs::read_dir(directory).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    files.collect::<Vec<_>>().concat()
}
