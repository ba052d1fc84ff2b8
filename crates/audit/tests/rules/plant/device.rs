//! Facts of the NIC and of devices beside it.

use serde_json::{Value, json};

use super::{each, known, set, text};

pub(super) fn nic(snapshot: &mut Value) -> &mut Value {
    let interfaces = snapshot["namespaces"][0]["interfaces"].as_array_mut().unwrap();
    interfaces.iter_mut().find(|interface| interface["name"] == "eth0").unwrap()
}

/// Devices of a namespace: the NIC, and others beside it.
pub(super) fn links(snapshot: &mut Value, fact: &Value) -> bool {
    for device in fact.as_array().unwrap().iter().filter(|device| device["name"] == "eth0") {
        for (name, value) in device.as_object().unwrap() {
            link(snapshot, name, value);
        }
    }
    let template = nic(snapshot).clone();
    let interfaces = snapshot["namespaces"][0]["interfaces"].as_array_mut().unwrap();
    for device in fact.as_array().unwrap().iter().filter(|device| device["name"] != "eth0") {
        let mut other = template.clone();
        other["name"] = device["name"].clone();
        if let Some(kind) = device["kind"].as_str().filter(|kind| *kind != "physical") {
            other["link"]["value"]["kind"] = json!(kind);
            other["bus"] = json!({ "state": "absent", "source": "netlink RTM_GETLINK" });
        }
        if let Some(mtu) = device.get("mtu") {
            other["link"]["value"]["mtu_bytes"] = mtu.clone();
        }
        if let Some(speed) = device.get("speed_bps") {
            other["mode"]["value"]["speed_bps"] = speed.clone();
        }
        interfaces.retain(|known| known["name"] != other["name"]);
        interfaces.push(other);
    }
    true
}

/// A device above or below the NIC.
fn beside(snapshot: &mut Value, name: &str, change: impl FnOnce(&mut Value)) -> bool {
    let mut other = nic(snapshot).clone();
    other["name"] = json!(name);
    other["bus"] = json!({ "state": "absent", "source": "netlink RTM_GETLINK" });
    change(&mut other["link"]["value"]);
    let interfaces = snapshot["namespaces"][0]["interfaces"].as_array_mut().unwrap();
    interfaces.retain(|known| known["name"] != name);
    interfaces.push(other);
    true
}

pub(super) fn link(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    let counter = match name {
        "rx_missed" => "rx_missed_errors",
        "rx_dropped" | "rx_crc_errors" | "tx_dropped" => name,
        _ => "",
    };
    if !counter.is_empty() {
        return set(&mut nic(snapshot)["counters"]["value"][counter], value.clone());
    }
    let bare = match name {
        "mtu" => "mtu_bytes",
        "txqlen" => "txqlen_packets",
        "txqueues" => "tx_queues",
        "carrier_changes" => "carrier_changes",
        "gso_ipv4_max_bytes" => "gso_ipv4_max_bytes",
        _ => "",
    };
    if !bare.is_empty() {
        return set(&mut nic(snapshot)["link"]["value"][bare], value.clone());
    }
    stacked(snapshot, name, value)
}

/// Facts of a device that take more than one place.
fn stacked(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    match name {
        "name" => true,
        "speed_bps" => set(&mut nic(snapshot)["mode"]["value"]["speed_bps"], value.clone()),
        "default_route" => {
            let routes = snapshot["namespaces"][0]["routes"]["value"].as_array_mut().unwrap();
            let is_default = |route: &Value| route["destination"] == "0.0.0.0/0" && route["interface"] == "eth0";
            if value == &json!(false) {
                routes.retain(|route| !is_default(route));
            }
            routes.iter().any(is_default) == (value == &json!(true))
        }
        "kind" if value == "physical" => true,
        "kind" => {
            nic(snapshot)["bus"] = json!({ "state": "absent", "source": "netlink RTM_GETLINK" });
            if value == "vxlan" {
                nic(snapshot)["link"]["value"]["vxlan"] = json!({ "vni": 42, "port": 4789, "remote": "192.0.2.9" });
            }
            set(&mut nic(snapshot)["link"]["value"]["kind"], value.clone())
        }
        "rp_filter" => {
            for device in ["eth0", "all"] {
                let key = format!("net.ipv4.conf.{device}.rp_filter");
                snapshot["namespaces"][0]["sysctls"][key] = known(json!(text(value)));
            }
            true
        }
        "bond_mode" | "bond_hash" => {
            let bond = &mut nic(snapshot)["link"]["value"]["bond"];
            if bond.is_null() {
                *bond = json!({ "mode": "802.3ad", "transmit_hash": "layer2" });
            }
            set(&mut bond[if name == "bond_mode" { "mode" } else { "transmit_hash" }], value.clone())
        }
        "carries" => value.as_array().unwrap().iter().all(|kind| {
            let kind = kind.clone();
            beside(snapshot, &format!("{}9", kind.as_str().unwrap()), move |link| {
                link["lower"] = json!("eth0");
                link["kind"] = kind;
            })
        }),
        "vlans" => value.as_array().unwrap().iter().all(|vlan| {
            let vlan = vlan.clone();
            beside(snapshot, &format!("eth0.{vlan}"), move |link| {
                link["lower"] = json!("eth0");
                link["kind"] = json!("vlan");
                link["vlan"] = vlan;
            })
        }),
        "lower_mtu" if value == &json!(0) => true,
        "lower_mtu" => {
            let mtu = value.clone();
            beside(snapshot, "under0", move |link| link["mtu_bytes"] = mtu);
            set(&mut nic(snapshot)["link"]["value"]["lower"], json!("under0"))
        }
        "least_port_mtu" if value == &json!(0) => true,
        "least_port_mtu" => {
            let mtu = value.clone();
            beside(snapshot, "port0", move |link| {
                link["mtu_bytes"] = mtu;
                link["controller"] = json!("eth0");
            });
            set(&mut nic(snapshot)["link"]["value"]["kind"], json!("bridge"))
        }
        "vxlan_ipv6" => {
            let remote = if value == &json!(true) { "2001:db8::9" } else { "192.0.2.9" };
            set(&mut nic(snapshot)["link"]["value"]["vxlan"], json!({ "vni": 42, "port": 4789, "remote": remote }))
        }
        _ => false,
    }
}

pub(super) fn nic_fact(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    let nic = nic(snapshot);
    match name {
        "driver" => set(&mut nic["driver"]["value"]["name"], value.clone()),
        "firmware" => set(&mut nic["driver"]["value"]["firmware"], value.clone()),
        "autoneg" => set(&mut nic["mode"]["value"]["autonegotiation"], value.clone()),
        // As modules are: one to which no light comes, and a sound one.
        "optics_outside" => {
            let received = if value == &json!([]) { 554_700 } else { 100 };
            nic["optics"] = known(json!({
                "vendor": "Transition",
                "part": "TN-SFP-10G-LR",
                "temperature_mc": 41_050,
                "lanes": [{ "received_nw": received, "sent_nw": 554_700, "bias_ua": 32_066 }],
                "limits": { "received_nw": { "low": 49_000, "high": 1_258_900 } },
            }));
            true
        }
        "eee_active" => set(&mut nic["eee"]["value"]["active"], value.clone()),
        "features" => each(value, |name, feature| {
            let known = &mut nic["features"]["value"][name];
            let is = |field: &str| feature.get(field).and_then(Value::as_bool);
            let (on, fixed) =
                (is("on").or_else(|| known["active"].as_bool()).unwrap_or_default(), is("fixed").unwrap_or_default());
            set(known, json!({ "hw": !fixed, "wanted": on, "active": on }))
        }),
        "rings" | "channels" | "pause" => {
            each(value, |field, value| set(&mut nic[name]["value"][field], value.clone()))
        }
        "coalesce" => each(value, |field, value| match field {
            "rx_usecs" => set(&mut nic["coalesce"]["value"]["values"]["rx-usecs"], value.clone()),
            _ => set(&mut nic["coalesce"]["value"][field], value.clone()),
        }),
        "stats" => each(value, |field, value| {
            let counters = &mut nic["driver_counters"]["value"];
            match field {
                "no_buffer" => set(&mut counters["rx_out_of_buffer"], value.clone()),
                "tx_queue_stopped" => set(&mut counters["tx_queue_stopped"], value.clone()),
                "fec_uncorrectable" => set(&mut counters["rx_fec_uncorrectable_blocks"], value.clone()),
                "rx_queue_packets" => value
                    .as_array()
                    .unwrap()
                    .iter()
                    .enumerate()
                    .all(|(queue, count)| set(&mut counters[format!("rx{queue}_packets")], count.clone())),
                _ => false,
            }
        }),
        _ => false,
    }
}

/// A tree with the root, leaves, rates and counters of the case.
pub(super) fn qdisc(snapshot: &mut Value, fact: &Value) -> bool {
    let tree = nic(snapshot)["qdiscs"]["value"].as_array_mut().unwrap();
    let names = |field: &str| -> Option<Vec<String>> {
        Some(fact.get(field)?.as_array()?.iter().map(|name| name.as_str().unwrap().to_owned()).collect())
    };
    let leaves = names("leaves");
    let kinds = names("kinds");
    let root = fact["kind"].as_str().map(str::to_owned);
    let shape = root.or_else(|| leaves.clone()?.first().cloned()).or_else(|| kinds?.first().cloned());
    if let Some(shape) = shape {
        let is_default = fact["is_default"].as_bool().unwrap_or(false);
        let handle = if is_default { "0:" } else { "8001:" };
        let counters = tree[0]["counters"].clone();
        *tree = vec![json!({ "kind": shape, "handle": handle, "parent": "root", "options": {}, "counters": counters })];
        for (number, leaf) in leaves.into_iter().flatten().enumerate().filter(|(_, leaf)| *leaf != shape) {
            let parent = if is_default { format!(":{}", number + 1) } else { format!("8001:{}", number + 1) };
            let handle = if is_default { "0:".to_owned() } else { format!("{}:", 8002 + number) };
            tree.push(json!({ "kind": leaf, "handle": handle, "parent": parent, "options": {}, "counters": {} }));
        }
    }
    let root = &mut tree[0];
    let rate = ["cap_bps", "flow_cap_bps"].iter().find_map(|name| fact[*name].as_u64());
    if let Some(rates) = fact.get("rates_bps").and_then(Value::as_array) {
        if let Some(rate) = rates.first() {
            root["kind"] = json!("tbf");
            root["options"] = json!({ "rate_bps": rate });
        } else if root["kind"] == "tbf" {
            root["kind"] = json!("pfifo_fast");
            root["options"] = json!({});
        }
    }
    if let Some(rate) = rate {
        root["kind"] = json!(if rate == 0 { "pfifo_fast" } else { "tbf" });
        root["options"] = if rate == 0 { json!({}) } else { json!({ "rate_bps": rate }) };
    }
    if let Some(dropped) = fact.get("dropped") {
        root["counters"]["drops"] = dropped.clone();
    }
    if let Some(dropped) = fact.get("flow_limit_drops") {
        let kind = root["kind"].clone();
        root["counters"]["flows_plimit"] = dropped.clone();
        if kind != "fq" {
            root["kind"] = json!("fq");
        }
    }
    true
}

pub(super) fn pci(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    let local = value.clone();
    let bus = &mut nic(snapshot)["bus"]["value"];
    match name {
        "numa_node" => set(&mut bus["numa_node"], local),
        "local_cpus" => set(&mut bus["local_cpus"], local),
        "max_read_bytes" => set(&mut bus["pcie_max_read_bytes"], local),
        "width" => set(&mut bus["pcie_width"], local),
        "width_max" => set(&mut bus["pcie_max_width"], local),
        // A slot of the third generation with eight lanes carries 63 Gbit/s, one of the fourth with sixteen 252.
        "rate_bps" => {
            let fast = value.as_u64().unwrap() > 100_000_000_000;
            bus["pcie_speed"] = json!(if fast { "16.0 GT/s PCIe" } else { "8.0 GT/s PCIe" });
            set(&mut bus["pcie_width"], json!(if fast { 16 } else { 8 }))
        }
        "local_cores" => {
            let cores = value.as_u64().unwrap();
            bus["local_cpus"] = json!(format!("0-{}", cores - 1));
            many_processors(snapshot, usize::try_from(2 * cores).unwrap());
            set(&mut snapshot["machine"]["cores"], known(json!(2 * cores)))
        }
        _ => false,
    }
}

pub(super) fn many_processors(snapshot: &mut Value, count: usize) {
    let each = snapshot["processors"]["each"].as_array_mut().unwrap();
    let template = each[0].clone();
    for number in each.len()..count {
        let mut other = template.clone();
        other["number"] = json!(number);
        each.push(other);
    }
}

pub(super) fn interrupts(snapshot: &mut Value, name: &str, value: &Value) -> bool {
    let nic = nic(snapshot);
    let of = |number: usize, cpu: &str| json!({ "number": 40 + number, "name": format!("eth0-{number}"), "allowed_cpus": cpu, "effective_cpus": cpu });
    let count = usize::try_from(value.as_u64().unwrap()).unwrap();
    let local = nic["bus"]["value"]["local_cpus"].as_str().unwrap_or("0").to_owned();
    let near = local.split(['-', ',']).next().unwrap().to_owned();
    match name {
        "off_node" => {
            // A processor that no machine here has near a NIC.
            let all = (0..4.max(count)).map(|number| of(number, if number < count { "500" } else { &near })).collect();
            set(&mut nic["interrupts"], known(Value::Array(all)))
        }
        "pinned" => {
            set(&mut nic["interrupts"], known(Value::Array((0..count).map(|number| of(number, &near)).collect())))
        }
        _ => false,
    }
}
