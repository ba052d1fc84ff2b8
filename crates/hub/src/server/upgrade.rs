//! Connections of browsers that become tests: a request that is answered with 101, and then bytes that are no HTTP any more.

use std::sync::Arc;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use measure::serve::ndt7::upgrade::{Upgrade, UpgradedConnection, Welcome};
use model::run::RunId;
use tokio::net::TcpStream;
use tokio::task::spawn_blocking;
use tokio_rustls::server::TlsStream;
use units::DataRate;

use super::answer::shown;
use super::caller::Person;
use super::counters::Event;
use super::people;
use super::request::{Answer, Request, RequestError};
use super::state::Hub;
use super::testing::{self, Tested};

/// A test that was let in.
struct Begun {
    upgrade: Upgrade,
    id: RunId,
    person: Person,
    expected: Option<DataRate>,
}

/// What becomes of a request for a test.
enum Judged {
    Begun(Box<Begun>, hyper::Response<()>),
    Refused(hyper::Response<Option<String>>),
}

/// Answers a request for a test; what follows on the connection goes on by itself.
pub(super) async fn answer(
    hub: &Arc<Hub>,
    asked: Request,
    mut request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, Answer> {
    let upgraded = hyper::upgrade::on(&mut request);
    let plain = request.map(|_| ());
    let judging = Arc::clone(hub);
    let judged = spawn_blocking(move || judge(&judging, &asked, &plain)).await;
    let judged = judged.unwrap_or(Err(RequestError::Store(crate::store::StoreError::Closed)));
    match judged {
        Ok(Judged::Begun(begun, answer)) => {
            tokio::spawn(follow(Arc::clone(hub), upgraded, *begun));
            Ok(answer.map(|()| Full::default()))
        }
        Ok(Judged::Refused(answer)) => Ok(answer.map(|text| Full::from(text.unwrap_or_default()))),
        Err(error) => {
            hub.counters.count(Event::RequestRefused);
            hub.log.say(hub.now(), format_args!("no test from a browser: {}", shown(&error)));
            Err(Answer::refusal(&error))
        }
    }
}

fn judge(hub: &Hub, asked: &Request, plain: &hyper::Request<()>) -> Result<Judged, RequestError> {
    let wish = testing::wish(hub, asked)?;
    let Welcome { upgrade, answer } = match wish.upgrades.admit(plain) {
        Ok(welcome) => welcome,
        Err(refused) => return Ok(Judged::Refused(*refused)),
    };
    let id = testing::name(hub)?;
    let which = asked.path.rsplit('/').next().unwrap_or_default();
    people::note(hub, asked, &wish.person.name, &format!("test from a browser: {which}, run {id}"))?;
    Ok(Judged::Begun(Box::new(Begun { upgrade, id, person: wish.person, expected: wish.expected }), answer))
}

/// Waits until the answer is out, and hands the connection to a thread that tests.
async fn follow(hub: Arc<Hub>, upgraded: OnUpgrade, begun: Begun) {
    let Some(connection) = upgraded.await.ok().and_then(connection) else {
        hub.log.say(hub.now(), format_args!("run {}: the browser has gone before it began", begun.id));
        return;
    };
    let testing = Arc::clone(&hub);
    let test = move || {
        if let Err(error) = conduct(&testing, begun, connection) {
            testing.log.say(testing.now(), format_args!("test from a browser: {}", shown(&error)));
        }
    };
    if let Err(error) = std::thread::Builder::new().name("browser test".to_owned()).spawn(test) {
        hub.log.say(hub.now(), format_args!("no thread for a test from a browser: {error}"));
    }
}

/// The connection without the program parts that read it until now.
fn connection(upgraded: Upgraded) -> Option<UpgradedConnection> {
    let parts = upgraded.downcast::<TokioIo<TlsStream<TcpStream>>>().ok()?;
    let (stream, tls) = parts.io.into_inner().into_inner();
    Some(UpgradedConnection { stream: stream.into_std().ok()?, tls, read: parts.read_buf.to_vec() })
}

fn conduct(hub: &Hub, begun: Begun, connection: UpgradedConnection) -> Result<(), RequestError> {
    let Begun { upgrade, id, person, expected } = begun;
    let Some(upgrades) = &hub.browser_tests else { return Ok(()) };
    let test = upgrades.conduct(upgrade, connection, id.to_string());
    let test = test.map_err(|error| RequestError::NotUnderstood(format!("run {id}: {error}")))?;
    testing::keep(hub, Tested { id, person, expected, test })
}
