//! What keeps the rows of these tests' hubs: a database for each on a PostgreSQL of this test program.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use hub::server::directory::{DatabaseUrl, Directory, Settings};
use postgres::{Client, NoTls};

use crate::cluster::Cluster;

/// The PostgreSQL that tests share which do not stop it.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(Cluster::start)
}

/// Says where a new hub has its database: a new one.
pub fn prepare(settings: &mut Settings) {
    settings.database = Some(DatabaseUrl(cluster().database()));
}

/// All that is kept of a hub that has secrets in it: its files, and rows as text.
pub fn kept(directory: &Path) -> Vec<u8> {
    let files = fs::read_dir(directory).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    let mut all: Vec<Vec<u8>> = files.collect();
    let url = Directory::at(directory).settings().unwrap().database.unwrap().0;
    let mut client = Client::connect(&url, NoTls).unwrap();
    for table in ["tokens", "agents", "accounts", "sessions", "actions"] {
        let query = format!("SELECT coalesce(string_agg(t::text, ' '), '') FROM linerate.{table} t");
        all.push(client.query_one(&query, &[]).unwrap().get::<_, String>(0).into_bytes());
    }
    all.concat()
}
