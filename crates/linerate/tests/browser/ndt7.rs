//! The test of NDT7 that people run in browsers: M-Lab's own client (npm `@m-lab/ndt7`) against this program's server.

use model::measurement::Heading;
use model::run::{Outcome, Role, Run};
use model::spec::Direction;
use serde_json::{Value, json};

use crate::actors::chromium::Browser;
use crate::actors::from_registry;
use crate::actors::linerate::program;
use crate::actors::process::Process;

/// What the client saw of both tests: its own counts and the last report of the server.
fn tested(server: &str) -> Value {
    let read = |name: &str| {
        let file = from_registry(&format!("ndt7/node_modules/@m-lab/ndt7/src/{name}.js"));
        std::fs::read_to_string(file).unwrap()
    };
    let mut browser = Browser::start();
    browser.run_script(&read("ndt7"));
    let workers = json!([read("ndt7-download-worker"), read("ndt7-upload-worker")]);
    let script = format!(
        "(async ([download, upload]) => {{
           const file = (text) => URL.createObjectURL(new Blob([text], {{ type: 'text/javascript' }}));
           const found = {{ errors: [] }};
           const config = {{ server: {server}, protocol: 'ws', mlabDataPolicyInapplicable: true,
                            downloadworkerfile: file(download), uploadworkerfile: file(upload) }};
           found.code = await ndt7.test(config, {{
             error: (error) => found.errors.push(String(error)),
             downloadComplete: (data) => found.download = data,
             uploadMeasurement: (data) => {{ if (data.Source === 'server') found.reports = (found.reports || 0) + 1; }},
             uploadComplete: (data) => found.upload = data,
           }});
           return found;
         }})({workers})",
        server = Value::from(server)
    );
    browser.value(&script)
}

#[test]
fn m_labs_client_in_a_browser_measures_both_directions_and_agrees_with_the_server() {
    let args = ["serve", "--port", "0", "--ndt7", "0", "-B", "127.0.0.1", "--json", "--no-archive"];
    let mut server = Process::start(program().args(args));
    let (talk, runs) = (server.stderr(), server.stdout());
    let line = talk.wait_for("its address", |line| line.ends_with(", for NDT7"));
    let address = line.split("listening on ").nth(1).and_then(|rest| rest.split(", ").next()).unwrap().to_owned();

    let found = tested(&address);
    assert_eq!((found["code"].as_u64(), found["errors"].as_array().map(Vec::len)), (Some(0), Some(0)), "{found}");
    let run = || -> Run { serde_json::from_str(&runs.wait_for("a run", |_| true)).unwrap() };
    let (download, upload) = (run(), run());
    for (run, direction, heading) in
        [(&download, Direction::Reverse, Heading::Outbound), (&upload, Direction::Forward, Heading::Inbound)]
    {
        assert_eq!((run.role, run.spec.direction, &run.outcome), (Role::Server, direction, &Outcome::Complete));
        assert_eq!(run.measurement.as_ref().unwrap().totals[0].heading, heading);
    }

    // A download: the browser has counted what was sent, but for what came after its last count (it counts each 250 ms).
    let count = |data: &Value, path: &str| {
        data.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path}: {data}"))
    };
    let sent = download.measurement.as_ref().unwrap().totals[0].sent.unwrap().get();
    let counted = count(&found["download"], "/LastClientMeasurement/NumBytes");
    assert!(counted <= sent + sent / 100 && counted >= sent / 2, "{counted} of {sent}");
    // An upload: the server's reports are what the client shows, and none of it was made up.
    let received = upload.measurement.as_ref().unwrap().totals[0].received.unwrap().get();
    let reported = count(&found["upload"], "/LastServerMeasurement/AppInfo/NumBytes");
    assert!(reported > 0 && reported <= received, "{reported} of {received}");
    assert!(count(&found["upload"], "/LastServerMeasurement/TCPInfo/BytesReceived") >= reported);
    assert!(found["reports"].as_u64() > Some(10), "{}", found["reports"]);
}
