//! What keeps a hub from its database is said, and no password with it.

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use hub::server::directory::{DatabaseUrl, Directory, Settings};
use hub::server::state::{Hub, HubError};
use hub::store::StoreError;
use hub::store::open::open;
use hub::store::postgres::Postgres;
use hub::store::postgres::address::{Address, PasswordSources};
use hub::store::postgres::error::PostgresError;
use hub::trust::authority::{Authority, new_key};
use hub::trust::roots;
use postgres::{Client, NoTls};
use tempfile::TempDir;

use crate::backing::cluster;
use crate::cluster::Cluster;
use crate::running::settings;

fn opened(url: &str, password: Option<&str>) -> Result<Postgres, StoreError> {
    let sources = PasswordSources { password: password.map(str::to_owned), ..PasswordSources::default() };
    Postgres::open(Address::parse(url, &sources).unwrap())
}

#[test]
fn wrong_password_missing_database_and_silent_server_are_told_apart() {
    let url = cluster().database();
    let database = url.rsplit('/').next().unwrap();
    let locked = cluster().url("locked", database);
    for password in [None, Some("wrong-one")] {
        let error = opened(&locked, password).unwrap_err();
        assert!(matches!(error, StoreError::Postgres(PostgresError::Password { .. })), "{error:?}");
        assert!(!format!("{error:?} {error}").contains("wrong-one"));
    }
    let error = opened(&cluster().url("postgres", "nowhere"), None).unwrap_err();
    assert!(matches!(error, StoreError::Postgres(PostgresError::NoDatabase { .. })), "{error:?}");
    let error = opened("postgres://hub@127.0.0.1:1/mesh", None).unwrap_err();
    assert!(matches!(error, StoreError::Postgres(PostgresError::Unreachable { .. })), "{error:?}");
    opened(&url, None).unwrap();
}

#[test]
fn tables_are_made_once_by_hubs_that_start_together_and_those_of_a_newer_one_are_left_alone() {
    let url = cluster().database();
    std::thread::scope(|scope| {
        let starting: Vec<_> = (0..4).map(|_| scope.spawn(|| opened(&url, None).map(drop))).collect();
        starting.into_iter().for_each(|one| one.join().unwrap().unwrap());
    });
    let mut client = Client::connect(&url, NoTls).unwrap();
    client.batch_execute("UPDATE linerate.version SET version = version + 1").unwrap();
    let error = opened(&url, None).unwrap_err();
    assert!(matches!(error, StoreError::Newer { .. }), "{error:?}");
}

fn pem(path: &Path, what: &str, content: &[u8]) {
    fs::write(path, roots::pem(what, content)).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn connection_over_a_network_is_encrypted_and_verified_where_the_address_asks_for_it() {
    let place = TempDir::new().unwrap();
    let (authority, stranger) = (Authority::create().unwrap(), Authority::create().unwrap());
    let key = new_key().unwrap();
    let certificate = authority.certify_hub(&key, vec!["127.0.0.1".to_owned()]).unwrap();
    let roots = [&authority, &stranger].map(|one| {
        let file = place.path().join(one.fingerprint().short());
        pem(&file, "CERTIFICATE", one.certificate());
        file.display().to_string()
    });
    // Nobody else asks for ports of this test's machine in between.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let own = [
        "listen_addresses=127.0.0.1",
        &format!("port={port}"),
        "ssl=on",
        "ssl_cert_file=../tls.crt",
        "ssl_key_file=../tls.key",
    ];
    let cluster = Cluster::with(&own, |place| {
        pem(&place.join("tls.crt"), "CERTIFICATE", &certificate);
        pem(&place.join("tls.key"), "PRIVATE KEY", &key.serialize_der());
    });
    cluster.as_superuser("CREATE DATABASE mesh");
    let at = |query: &str| opened(&format!("postgres://postgres@127.0.0.1:{port}/mesh?{query}"), None);
    at("sslmode=require").unwrap();
    at("connect_timeout=5").unwrap();
    at(&format!("sslmode=verify-full&sslrootcert={}", roots[0])).unwrap();
    for wrong in ["sslmode=disable".to_owned(), format!("sslmode=verify-full&sslrootcert={}", roots[1])] {
        let error = at(&wrong).unwrap_err();
        assert!(
            matches!(error, StoreError::Postgres(PostgresError::Unreachable { .. } | PostgresError::Password { .. })),
            "{error:?}"
        );
    }
}

#[test]
fn hub_of_another_authority_does_not_share_a_database() {
    let settings = Settings { database: Some(DatabaseUrl(cluster().database())), ..settings() };
    let mut outcomes = Vec::new();
    for _ in 0..2 {
        let place = TempDir::new().unwrap();
        let directory = Directory::at(place.path());
        directory.init(&settings, None).unwrap();
        let store = open(&directory, &settings).unwrap();
        let log = hub::server::log::Log::to(|_| {});
        outcomes.push(Hub::new(directory.open().unwrap(), store, log).map(drop));
    }
    assert!(outcomes[0].is_ok());
    assert!(matches!(outcomes[1], Err(HubError::Store(StoreError::OtherAuthority { .. }))), "{outcomes:?}");
}
