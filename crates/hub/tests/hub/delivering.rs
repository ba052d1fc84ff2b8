//! What is delivered is stored once.

use std::time::Duration;

use hub::agent::connection::Call;
use hub::api::record::{Delivery, Receipt, Record, RecordKind, Verdict};
use hub::trust::token::Purpose;
use tempfile::TempDir;

use crate::running::Running;

const RECORDS: Call<'_> = Call { method: "POST", path: "/api/v1/agent/records", patience: Duration::from_secs(60) };

fn change(name: &str) -> Record {
    Record::pack(name.to_owned(), RecordKind::Change, b"{}", None).unwrap()
}

#[test]
fn record_that_comes_again_is_acknowledged_and_not_stored_again() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)).unwrap();
    let mut damaged = change("c");
    damaged.content.clone_from(&Record::pack("x".to_owned(), RecordKind::Change, b"[]", None).unwrap().content);
    let delivery = Delivery { records: vec![change("a"), damaged, change("b"), change("a")] };
    let receipt: Receipt = hub.agent(home.path()).call(&RECORDS, &delivery).unwrap();
    assert_eq!(receipt.verdicts.len(), 4);
    assert_eq!([&receipt.verdicts[0], &receipt.verdicts[2]], [&Verdict::Stored; 2]);
    assert!(matches!(receipt.verdicts[1], Verdict::Refused { .. }));
    assert_eq!(receipt.verdicts[3], Verdict::Duplicate);
    // Also by another hub on the same database, after the first has ended.
    let hub = Running::open(hub.stop());
    let receipt: Receipt =
        hub.agent(home.path()).call(&RECORDS, &Delivery { records: vec![change("b"), change("c")] }).unwrap();
    assert_eq!(receipt.verdicts, [Verdict::Duplicate, Verdict::Stored]);
}

#[test]
fn record_that_the_database_would_refuse_keeps_no_other_from_being_stored() {
    let hub = Running::start();
    let home = TempDir::new().unwrap();
    hub.join(home.path(), "dtn-1", hub.token(Purpose::Join)).unwrap();
    let delivery = Delivery { records: vec![change("a"), change("b\0"), change(&"c".repeat(9_000)), change("d")] };
    let receipt: Receipt = hub.agent(home.path()).call(&RECORDS, &delivery).unwrap();
    assert_eq!([&receipt.verdicts[0], &receipt.verdicts[3]], [&Verdict::Stored; 2]);
    assert!(receipt.verdicts[1..3].iter().all(|verdict| matches!(verdict, Verdict::Refused { .. })), "{receipt:?}");
}
