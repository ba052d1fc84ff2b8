//! Thousands of connections that say nothing, heads and bodies that do not end: the hub is as large as before, and goes on.

use super::world::{HUB, World};

/// Opens so many connections as its limit of file descriptors allows, 10,000 at most, from 16 addresses, and waits until the hub has
/// closed all of them. Some speak TLS and send a head that does not end, or a body that is far too large.
const FLOOD: &str = r#"
import json, resource, selectors, socket, ssl, time
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
count = min(10_000, hard - 100)
tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
HEAD = b"GET /health HTTP/1.1\r\nhost: h\r\nx-slow: "
BODY = b"POST /api/v1/join HTTP/1.1\r\nhost: h\r\ncontent-length: 100000000\r\n\r\n" + b"x" * 65536
waiting, closed, spoken = selectors.DefaultSelector(), 0, 0
for number in range(count):
    one = socket.socket()
    one.bind((f"127.0.1.{number % 16 + 1}", 0))
    try:
        one.connect(("127.0.0.1", 8443))
        if number < 200:
            one.settimeout(20)
            one = tls.wrap_socket(one)
            one.sendall(HEAD if number % 2 else BODY)
            spoken += 1
    except OSError:
        closed += 1
        continue
    one.setblocking(False)
    waiting.register(one, selectors.EVENT_READ)
until = time.monotonic() + 120
while waiting.get_map() and time.monotonic() < until:
    for key, _ in waiting.select(1):
        try:
            if key.fileobj.recv(65536):
                continue
        except (BlockingIOError, ssl.SSLWantReadError):
            continue
        except OSError:
            pass
        waiting.unregister(key.fileobj)
        key.fileobj.close()
        closed += 1
print(json.dumps({"opened": count, "closed": closed, "spoken": spoken}))
"#;

#[test]
fn a_hub_under_ten_thousand_idle_and_slow_connections_closes_them_stays_small_and_goes_on() {
    let mut world = World::empty("ulimit -n $(ulimit -Hn)");
    world.run("$L hub init $F/hub/made --name 127.0.0.1 --listen 127.0.0.1:8443 >/dev/null");
    world.run("printf '[limits]\\nhandshake_s = 15\\nhead_s = 5\\nbody_s = 5\\n' >$F/limits");
    world.run("sed -i '/^\\[limits\\]/,/^$/d' $F/hub/made/hub.toml && cat $F/limits >>$F/hub/made/hub.toml");
    world.start_process(HUB);
    world.wait("that the hub listens", |world| world.log(HUB).contains("listening on"));
    world.join("https://127.0.0.1:8443");
    world.wait_for_results(&std::collections::BTreeMap::new());
    world.write("flood.py", FLOOD);
    let printed = world.run("python3 $F/flood.py");
    let seen: serde_json::Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(seen["opened"], seen["closed"], "{seen}");
    assert!(seen["spoken"].as_u64().unwrap() > 100, "{seen}");
    let log = world.log(HUB);
    let opened = seen["opened"].as_u64().unwrap();
    // The limit at once is 4096.
    assert!(opened < 5_000 || log.contains("closed at once, too many connections"), "{log}");
    assert!(log.contains("no TLS handshake: too slow"), "{log}");
    assert!((log.lines().count() as u64) < opened / 4, "{} lines", log.lines().count());
    let status = world.run(&format!("grep VmHWM /proc/{}/status", world.process(HUB)));
    println!("{seen}, {status}");
    let largest_kb: u64 = status.split_whitespace().nth(1).unwrap().parse().unwrap();
    assert!(largest_kb < 250_000, "{status}");
    let known = world.series();
    world.wait_for_results(&known);
}
