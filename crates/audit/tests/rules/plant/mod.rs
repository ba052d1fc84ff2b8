//! Facts put back to where a snapshot holds them: the inverse of what the audit makes of a snapshot.

mod device;

use serde_json::{Map, Value, json};

use device::{interrupts, link, links, many_processors, nic, nic_fact, pci, qdisc};

/// What the machine of the snapshot lacks, and hosts of users have: a NIC whose driver tells everything, two sockets.
pub(crate) fn usual(snapshot: &mut Value) {
    let nic = nic(snapshot);
    nic["mode"] = known(json!({ "speed_bps": 10_000_000_000_u64, "full_duplex": true, "autonegotiation": true }));
    // The speed that the machine's virtio_net reports is made up.
    nic["driver"]["value"]["name"] = json!("ixgbe");
    nic["pause"] = known(json!({ "autonegotiation": false, "rx": true, "tx": true, "rx_frames": 0, "tx_frames": 0 }));
    nic["eee"] = known(json!({ "enabled": false, "active": false }));
    nic["rings"] = known(json!({ "rx": 1024, "rx_max": 1024, "tx": 1024, "tx_max": 1024 }));
    let bus = &mut nic["bus"]["value"];
    for (name, value) in [
        ("numa_node", json!(0)),
        ("pcie_speed", json!("16.0 GT/s PCIe")),
        ("pcie_max_speed", json!("16.0 GT/s PCIe")),
        ("pcie_width", json!(16)),
        ("pcie_max_width", json!(16)),
        ("pcie_max_read_bytes", json!(4096)),
    ] {
        bus[name] = value;
    }
    let counters = nic["driver_counters"]["value"].as_object_mut().unwrap();
    for name in ["rx_out_of_buffer", "tx_queue_stopped", "rx_fec_uncorrectable_blocks", "rx0_packets", "rx1_packets"] {
        counters.insert(name.to_owned(), json!(0));
    }
    for processor in snapshot["processors"]["each"].as_array_mut().unwrap() {
        processor["governor"] = known(json!("performance"));
        processor["max_khz"] = known(json!(3_500_000));
        processor["softirq_us"] = json!(0);
        processor["steal_us"] = json!(0);
    }
    snapshot["namespaces"][0]["connections"] = known(json!([]));
    snapshot["storage"] = known(json!([]));
    snapshot["clock"] = known(json!({ "synchronised": true, "max_error_us": 1000 }));
    let counters = snapshot["namespaces"][0]["counters"]["value"].as_object_mut().unwrap();
    for name in ["Neigh.entries", "Neigh.table_fulls", "Conntrack.insert_failed", "Conntrack.drop"] {
        counters.insert(name.to_owned(), json!(0));
    }
    for key in ["net.ipv4.neigh.default.gc_thresh3", "vm.dirty_bytes", "vm.dirty_ratio", "vm.dirty_background_ratio"] {
        snapshot["namespaces"][0]["sysctls"][key] = known(json!("1024"));
    }
}

/// Puts facts of a case into a snapshot. Returns those that no snapshot gives.
pub(crate) fn all(snapshot: &mut Value, facts: &Value) -> Vec<String> {
    let mut unplanted = Vec::new();
    // Interrupts are near or far from the processors of the slot, which are planted before.
    let (slots, others): (Vec<_>, Vec<_>) = facts.as_object().unwrap().iter().partition(|(root, _)| *root == "pci");
    for (root, fact) in slots.into_iter().chain(others) {
        let fits = match root.as_str() {
            // Given beside a snapshot.
            "profile" | "peers" | "baseline" | "probe" | "path" | "proxy" | "log" => true,
            // Where the host's own settings are told apart, the others are of a namespace beside it.
            "sysctl" if facts.get("host_sysctl").is_some() => beside_the_host(snapshot, fact),
            "sysctl" | "host_sysctl" => settings(snapshot, fact),
            "proto" => counters(snapshot, fact),
            "sockets" => connections(snapshot, fact),
            "tcp_metrics" => metrics(snapshot, fact),
            "default" => defaults(snapshot),
            "route" => route(snapshot, fact),
            "links" => links(snapshot, fact),
            "storage" => set(&mut snapshot["storage"], known(fact.clone())),
            "clock" => each(fact, |name, value| set(&mut snapshot["clock"]["value"][name], value.clone())),
            "link" => each(fact, |name, value| link(snapshot, name, value)),
            "nic" => each(fact, |name, value| nic_fact(snapshot, name, value)),
            "qdisc" => qdisc(snapshot, fact),
            "pci" => each(fact, |name, value| pci(snapshot, name, value)),
            "irq" => each(fact, |name, value| interrupts(snapshot, name, value)),
            "queues" => each(fact, |_, value| {
                let mask = if value == &json!(0) { "0" } else { "3" };
                set(&mut nic(snapshot)["queues"]["value"]["rx"][0]["rps_cpus"], json!(mask))
            }),
            "cpu" => each(fact, |name, value| processors(snapshot, name, value)),
            "softnet" => each(fact, |name, value| {
                let name = if name == "squeezed" { "time_squeeze" } else { name };
                set(&mut snapshot["processors"]["each"][0]["softnet"]["value"][name], value.clone())
            }),
            "memory" => each(fact, |name, value| {
                let name = if name == "total_bytes" { "memory_bytes" } else { "page_bytes" };
                set(&mut snapshot["machine"][name], known(value.clone()))
            }),
            "virt" => each(fact, |_, value| set(&mut snapshot["machine"]["under_hypervisor"], known(value.clone()))),
            "kernel" => each(fact, |name, value| kernel(snapshot, name, value)),
            "services" => each(fact, |name, value| services(snapshot, name, value)),
            "conntrack" => each(fact, |name, value| conntrack(snapshot, name, value)),
            "uplinks" => uplinks(snapshot, fact),
            "files" => each(fact, |name, value| files(snapshot, name, value)),
            _ => false,
        };
        if !fits {
            unplanted.push(format!("{root} = {fact}"));
        }
    }
    unplanted
}

#[expect(clippy::needless_pass_by_value, reason = "values are made at the call")]
fn known(value: Value) -> Value {
    json!({ "value": value, "source": "recorded for the test" })
}

fn set(place: &mut Value, value: Value) -> bool {
    *place = value;
    true
}

fn each(fact: &Value, mut plant: impl FnMut(&str, &Value) -> bool) -> bool {
    // All of them are planted, also where one is not.
    fact.as_object().unwrap().iter().fold(true, |fits, (name, value)| plant(name, value) && fits)
}

/// Numbers of a list stand side by side in a sysctl.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(values) => values.iter().map(text).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

fn settings(snapshot: &mut Value, fact: &Value) -> bool {
    each(fact, |key, value| set(&mut snapshot["namespaces"][0]["sysctls"][key], known(json!(text(value)))))
}

/// A namespace of a container, with settings of its own.
fn beside_the_host(snapshot: &mut Value, fact: &Value) -> bool {
    let mut other = snapshot["namespaces"][0].clone();
    other["name"] = json!("/run/docker/netns/ingress_sbox");
    other["inode"] = json!(4_026_532_777_u64);
    for (key, value) in fact.as_object().unwrap() {
        other["sysctls"][key] = known(json!(text(value)));
    }
    let namespaces = snapshot["namespaces"].as_array_mut().unwrap();
    namespaces.truncate(1);
    namespaces.push(other);
    true
}

fn counters(snapshot: &mut Value, fact: &Value) -> bool {
    each(fact, |name, value| set(&mut snapshot["namespaces"][0]["counters"]["value"][name], value.clone()))
}

fn connections(snapshot: &mut Value, fact: &Value) -> bool {
    let of = |connection: &Value| {
        let mut whole = json!({
            "remote": "2001:db8::1", "moved_bytes": 1 << 30, "mss_bytes": 1448, "pmtu_bytes": 1500, "reordering": 3,
            "window_scaling": true, "receive_buffer_bytes": 6_291_456, "send_buffer_bytes": 4_194_304,
            "receive_buffer_locked": false, "send_buffer_locked": false,
        });
        whole.as_object_mut().unwrap().extend(connection.as_object().unwrap().clone());
        whole
    };
    let all = fact.as_array().unwrap().iter().map(of).collect();
    set(&mut snapshot["namespaces"][0]["connections"], known(Value::Array(all)))
}

fn metrics(snapshot: &mut Value, fact: &Value) -> bool {
    let of = |entry: &Value| json!({ "destination": entry["to"], "ssthresh_segments": entry["ssthresh_segments"] });
    let all = fact.as_array().unwrap().iter().map(of).collect();
    set(&mut snapshot["namespaces"][0]["tcp_metrics"], known(Value::Array(all)))
}

/// The case means a kernel of 6.18 with memory enough.
fn defaults(snapshot: &mut Value) -> bool {
    snapshot["machine"]["kernel_release"] = known(json!("6.18.0"));
    set(&mut snapshot["machine"]["memory_bytes"], known(json!(64_u64 << 30)))
}

fn route(snapshot: &mut Value, fact: &Value) -> bool {
    let to = if fact["to"] == "default" || fact["to"].is_null() { json!("0.0.0.0/0") } else { fact["to"].clone() };
    let routes = snapshot["namespaces"][0]["routes"]["value"].as_array_mut().unwrap();
    let place = routes.iter().position(|route| route["destination"] == to).unwrap_or_default();
    routes.truncate(routes.len().max(1));
    let route = &mut routes[place];
    for name in ["initcwnd", "initrwnd"] {
        if let Some(value) = fact.get(name) {
            if route.get("metrics").is_none() {
                route["metrics"] = json!({});
            }
            route["metrics"][name] = json!(value.to_string());
        }
    }
    // Others have neither, and would answer for themselves.
    routes.swap(0, place);
    routes.truncate(1);
    true
}

fn processors(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    match name {
        "sockets" => return set(&mut snapshot["machine"]["sockets"], known(value.clone())),
        "physical_cores" => return set(&mut snapshot["machine"]["cores"], known(value.clone())),
        "smt" => return set(&mut snapshot["processors"]["smt_control"], known(value.clone())),
        _ => {}
    }
    if let Some(values) = value.as_array() {
        many_processors(snapshot, values.len());
    }
    let each = snapshot["processors"]["each"].as_array_mut().unwrap();
    for (number, processor) in each.iter_mut().enumerate() {
        let listed = value.as_array().map(|values| values[number.min(values.len() - 1)].clone());
        match (name, listed) {
            ("governors", Some(governor)) => processor["governor"] = known(governor),
            ("energy_preferences", Some(preference)) => processor["energy_preference"] = known(preference),
            ("softirq_us" | "steal_us", Some(time)) => processor[name] = time,
            ("max_mhz", None) => processor["max_khz"] = known(json!(value.as_u64().unwrap() * 1000)),
            ("idle_exit_us", None) => {
                processor["idle_states"] = known(json!([{ "name": "C6", "exit_us": value, "disabled": false }]));
            }
            _ => return false,
        }
    }
    true
}

fn kernel(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    let machine = &mut snapshot["machine"];
    match name {
        "release" => set(&mut machine["kernel_release"], known(value.clone())),
        "version" => {
            let version = value.as_u64().unwrap();
            set(&mut machine["kernel_release"], known(json!(format!("{}.{}.0", version / 1000, version % 1000))))
        }
        "parameters" => set(&mut machine["kernel_command_line"], known(json!(text(value)))),
        "iommu_groups" => set(&mut machine["iommu_groups"], known(value.clone())),
        _ => false,
    }
}

fn services(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    let running = |is: bool| known(json!({ "running": is }));
    let all = &mut snapshot["services"];
    match name {
        "irqbalance" => set(&mut all["each"]["irqbalance"], running(value == &json!(true))),
        "running" => {
            let each = all["each"].as_object_mut().unwrap();
            each.values_mut().for_each(|service| *service = running(false));
            each.extend(
                value.as_array().unwrap().iter().map(|name| (name.as_str().unwrap().to_owned(), running(true))),
            );
            true
        }
        "tuned_profile" => set(&mut all["tuned_profile"], known(value.clone())),
        _ => false,
    }
}

fn conntrack(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    match name {
        "failed" => set(&mut snapshot["namespaces"][0]["counters"]["value"]["Conntrack.insert_failed"], value.clone()),
        _ => {
            let key = format!("net.netfilter.nf_conntrack_{name}");
            set(&mut snapshot["namespaces"][0]["sysctls"][key], known(json!(text(value))))
        }
    }
}

fn uplinks(snapshot: &mut Value, fact: &Value) -> bool {
    let routes = snapshot["namespaces"][0]["routes"]["value"].as_array_mut().unwrap();
    let count = usize::try_from(fact.as_u64().unwrap()).unwrap();
    routes.retain(|route| route["destination"] != "0.0.0.0/0" && route["destination"] != "::/0");
    routes.extend((0..count).map(|number| {
        json!({ "destination": "0.0.0.0/0", "kind": "unicast", "table": 254, "interface": format!("eth{number}"), "protocol": "boot" })
    }));
    true
}

/// What files say: definitions, with the winner last.
#[expect(clippy::too_many_lines, reason = "a branch for each list of the provenance")]
fn files(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    let (file, line) = ("/etc/sysctl.d/90-dtn.conf", 3);
    let definition =
        |value: &str, file: &str, line: u64| json!({ "value": value, "origin": "sysctl", "file": file, "line": line });
    let put = |snapshot: &mut Value, key: &str, definitions: Vec<Value>, differs: bool| {
        let winner = definitions.len() - 1;
        snapshot["provenance"]["value"]["settings"][key] =
            json!({ "definitions": definitions, "winner": winner, "running_differs": differs });
    };
    let settings = &mut snapshot["provenance"]["value"]["settings"];
    if settings.is_null() || name != "winner" {
        *settings = Value::Object(Map::new());
    }
    let entries: Vec<Value> = value.as_array().cloned().unwrap_or_default();
    match name {
        "out_of_range" => {
            for entry in &entries {
                put(
                    snapshot,
                    entry["key"].as_str().unwrap(),
                    vec![definition(&text(&entry["value"]), file, line)],
                    false,
                );
            }
        }
        "conflicts" => {
            for entry in &entries {
                let values = entry["values"].as_array().unwrap();
                let all = values
                    .iter()
                    .enumerate()
                    .map(|(at, value)| definition(&text(value), &format!("/etc/sysctl.d/{at}.conf"), 1));
                put(snapshot, entry["key"].as_str().unwrap(), all.collect(), false);
            }
        }
        "not_kept" => {
            for entry in &entries {
                let key = entry["key"].as_str().unwrap();
                snapshot["namespaces"][0]["sysctls"][key] = known(entry["now"].clone());
                put(snapshot, key, vec![definition(entry["after_boot"].as_str().unwrap(), file, line)], true);
            }
        }
        "tuned_differs" => {
            let tuned: Map<String, Value> =
                entries.iter().map(|entry| (text(&entry["key"]), entry["tuned"].clone())).collect();
            snapshot["services"]["tuned_sysctls"] = known(Value::Object(tuned));
            for entry in &entries {
                put(
                    snapshot,
                    entry["key"].as_str().unwrap(),
                    vec![definition(&text(&entry["files"]), file, line)],
                    false,
                );
            }
        }
        "winner" => {
            for (key, winner) in value.as_object().unwrap() {
                let old = snapshot["provenance"]["value"]["settings"][key]["definitions"][0].clone();
                let value = winner.get("value").or(old.get("value")).map(text).unwrap_or_default();
                let place = winner.get("file").map(text).unwrap_or_else(|| format!("{file}:{line}"));
                let path = place.rsplit_once(':').map_or(place.as_str(), |(path, _)| path).to_owned();
                put(snapshot, key, vec![definition(&value, &path, line)], false);
                if let Some(package) = winner.get("package") {
                    let owner = if package == "" { json!("none") } else { package.clone() };
                    let path = if winner.get("file").is_some() { path } else { file.to_owned() };
                    snapshot["provenance"]["value"]["files"][path] = json!({ "package": owner, "sha256": "" });
                }
            }
        }
        _ => return false,
    }
    true
}
