//! What keeps a hub from its database is said, and no password with it.

use hub::store::StoreError;
use hub::store::postgres::Postgres;
use hub::store::postgres::address::{Address, PasswordSources};
use hub::store::postgres::error::PostgresError;
use postgres::{Client, NoTls};

use crate::backing::cluster;

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
