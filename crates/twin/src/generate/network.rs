//! Networks: hosts and the links between them (docs/incidents.md, "Networks").

use super::draw::{Draw, whole};

/// A network without its faults.
#[derive(Debug, Clone)]
pub(super) struct Network {
    pub(super) hosts: Vec<Host>,
    pub(super) links: Vec<Link>,
    /// Access rate in bit/s.
    pub(super) rate: f64,
    /// The longest round trip in seconds.
    pub(super) rtt: f64,
    pub(super) mtu: u32,
    /// Bytes of socket buffers that are enough.
    pub(super) buffers: u64,
    pub(super) control: &'static str,
    /// Whether hosts that test live in machines and have an overlay.
    pub(super) overlay: bool,
    /// The largest packet inside the overlay.
    pub(super) overlay_mtu: u32,
    /// Tables of services.
    pub(super) services: Vec<String>,
}

/// A host as it is written to the scenario file.
#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) forwards: bool,
    pub(super) group: &'static str,
    /// The machine in which it lives.
    pub(super) machine: Option<usize>,
    pub(super) receive_buffer: u64,
    pub(super) send_buffer: u64,
    pub(super) control: &'static str,
    pub(super) cpu_share: Option<f64>,
    /// The rate to which it spreads what it sends, in bit/s.
    pub(super) paced: Option<f64>,
    /// Whether its connections ask for marks (ECN).
    pub(super) marks: bool,
    /// Lines of recorded facts.
    pub(super) facts: Vec<String>,
}

/// A link as it is written to the scenario file.
#[derive(Debug, Clone)]
pub(super) struct Link {
    pub(super) name: String,
    pub(super) ends: [usize; 2],
    /// In bit/s.
    pub(super) rate: f64,
    /// Bytes of the queues before it.
    pub(super) queue: f64,
    /// In seconds, each way.
    pub(super) delay: f64,
    pub(super) jitter: f64,
    /// In bit/s, of others.
    pub(super) cross: f64,
    pub(super) is_long: bool,
    /// Whether it is on the second way, which no path takes by itself.
    pub(super) is_spare: bool,
    /// The speed that its devices say they have, where it is not its rate; in bit/s.
    pub(super) speed: Option<f64>,
    /// Another element for each direction, as a file has it.
    pub(super) besides: Vec<String>,
}

/// What a link carries.
#[derive(Clone, Copy)]
struct Capacity {
    /// In bit/s.
    rate: f64,
    /// Bytes of the queues before it.
    queue: f64,
    /// In seconds, each way.
    delay: f64,
}

impl Link {
    /// A link within a site, without other traffic.
    fn new(name: String, ends: [usize; 2], capacity: Capacity) -> Self {
        let Capacity { rate, queue, delay } = capacity;
        let [jitter, cross] = [0.0; 2];
        let (is_long, is_spare) = (false, false);
        Self { name, ends, rate, queue, delay, jitter, cross, is_long, is_spare, speed: None, besides: Vec::new() }
    }

    /// Traffic of others on its port, as one of the settings of the port; empty where there is none.
    pub(super) fn cross_setting(&self) -> String {
        if self.cross <= 0.0 {
            return String::new();
        }
        format!(", cross = {{ bursts = [{{ rate = \"{}kbit/s\" }}] }}", whole(self.cross / 1e3).max(1))
    }
}

impl Network {
    pub(super) fn draw(draw: &mut Draw) -> Self {
        let kind = draw.weighted(&[(40.0, 0), (25.0, 1), (20.0, 2), (15.0, 3)], 0);
        let rate: f64 = draw.weighted(&[(30.0, 100e6), (25.0, 200e6), (30.0, 500e6), (15.0, 1e9)], 200e6);
        let count = usize::try_from(whole(draw.log([2.0, 30.0]))).unwrap_or(2).clamp(2, 30);
        let long = draw.log([2e-3, 250e-3]);
        let inside = draw.log([0.1e-3, 1e-3]);
        let mtu = if draw.is(0.35) { 9_000 } else { 1_500 };
        let control = draw.weighted(&[(75.0, "cubic"), (15.0, "bbr"), (10.0, "htcp")], "cubic");
        let haul = rate * draw.weighted(&[(50.0, 1.0), (25.0, 0.5), (25.0, 2.0)], 1.0);
        let rtt = match kind {
            0 | 2 => long + 2.0 * inside,
            _ => 2.0 * inside,
        };
        let product = rate.max(haul) * rtt / 8.0;
        let queue = (product * draw.between([0.5, 2.0])).max(250e3);
        let buffers = (whole(product * 2.5)).next_power_of_two().max(6 << 20);
        let (hosts, links, services, overlay) = (Vec::new(), Vec::new(), Vec::new(), kind == 3);
        let overlay_mtu = mtu - OVERLAY_HEADERS;
        let mut network = Self { hosts, links, rate, rtt, mtu, buffers, control, overlay, overlay_mtu, services };
        let plan = Plan { count, haul, queue, inside, long };
        match kind {
            0 => network.two_sites(&plan, draw),
            1 => network.one_site(&plan),
            2 => network.backbone(&plan, 3 + draw.below(3)),
            _ => network.machines(&plan, draw),
        }
        network
    }

    /// The hosts that test.
    pub(super) fn testing(&self) -> Vec<usize> {
        (0..self.hosts.len()).filter(|host| !self.hosts[*host].forwards).collect()
    }

    /// The links from one host to another, each with its direction; without the second way the network is a tree.
    pub(super) fn path(&self, [from, to]: [usize; 2]) -> Vec<(usize, usize)> {
        let mut reached: Vec<Option<(usize, usize)>> = vec![None; self.hosts.len()];
        let mut open = vec![from];
        while let Some(host) = open.pop() {
            for (number, link) in self.links.iter().enumerate().filter(|(_, link)| !link.is_spare) {
                for end in [0, 1] {
                    let far = link.ends[1 - end];
                    if link.ends[end] == host && far != from && reached[far].is_none() {
                        reached[far] = Some((number, end));
                        open.push(far);
                    }
                }
            }
        }
        let mut path = Vec::new();
        let mut host = to;
        while host != from {
            let Some((link, end)) = reached[host] else { return Vec::new() };
            path.push((link, end));
            host = self.links[link].ends[end];
        }
        path.reverse();
        path
    }

    /// Records facts of a host's device at a link; nothing where the host has facts already.
    pub(super) fn record(&mut self, [host, link]: [usize; 2], facts: &[&str]) -> Option<()> {
        let own = &mut self.hosts[host].facts;
        own.is_empty().then_some(())?;
        own.push(format!("[hosts.@.facts.interfaces.{}]", self.links[link].name));
        own.extend(facts.iter().map(|fact| (*fact).to_owned()));
        Some(())
    }

    /// The same at the first link of the host.
    pub(super) fn record_first(&mut self, host: usize, facts: &[&str]) -> Option<()> {
        let link = self.links.iter().position(|link| link.ends.contains(&host))?;
        self.record([host, link], facts)
    }

    /// The rate that a path carries.
    pub(super) fn rate_of(&self, path: &[(usize, usize)]) -> f64 {
        path.iter().map(|(link, _)| self.links[*link].rate).fold(f64::INFINITY, f64::min)
    }

    /// The round trip of a path in seconds.
    pub(super) fn rtt_of(&self, path: &[(usize, usize)]) -> f64 {
        path.iter().map(|(link, _)| 2.0 * self.links[*link].delay).sum()
    }

    /// Routers and the machines of guests forward what is not for them.
    fn host(&mut self, name: String, group: &'static str) -> usize {
        let (buffers, control) = (self.buffers, self.control);
        let forwards = matches!(group, "router" | "machine");
        self.hosts.push(Host {
            name,
            forwards,
            group,
            machine: None,
            receive_buffer: buffers,
            send_buffer: buffers,
            control,
            cpu_share: None,
            paced: None,
            marks: false,
            facts: Vec::new(),
        });
        self.hosts.len() - 1
    }

    /// A host behind a router.
    fn behind(&mut self, router: usize, name: &str, plan: &Plan) {
        let host = self.host(name.to_owned(), "server");
        let access = Capacity { rate: self.rate, queue: plan.queue, delay: plan.inside / 2.0 };
        self.links.push(Link::new(format!("access-{name}"), [host, router], access));
    }

    fn two_sites(&mut self, plan: &Plan, draw: &mut Draw) {
        let west = self.host("border-west".to_owned(), "router");
        let east = self.host("border-east".to_owned(), "router");
        let haul = Capacity { rate: plan.haul, queue: plan.queue, delay: plan.long / 2.0 };
        self.links.push(Link { is_long: true, ..Link::new("long-haul".to_owned(), [west, east], haul) });
        for number in 1..=plan.count {
            let (router, site) = if number % 2 == 1 { (west, "west") } else { (east, "east") };
            self.behind(router, &format!("{site}-{number}"), plan);
        }
        if draw.is(SECOND_WAY) {
            self.second_way([west, east], plan, draw);
        }
    }

    /// A longer way over another city.
    fn second_way(&mut self, borders: [usize; 2], plan: &Plan, draw: &mut Draw) {
        let city = self.host(SPARE.to_owned(), "router");
        let delay = plan.long / 2.0 * draw.between([0.6, 2.0]);
        for (border, name) in borders.into_iter().zip(["detour-west", "detour-east"]) {
            let haul = Capacity { rate: plan.haul, queue: plan.queue, delay };
            let link = Link::new(name.to_owned(), [border, city], haul);
            self.links.push(Link { is_spare: true, ..link });
        }
    }

    fn one_site(&mut self, plan: &Plan) {
        let switch = self.host("switch".to_owned(), "router");
        for number in 1..=plan.count {
            self.behind(switch, &format!("node-{number}"), plan);
        }
    }

    fn backbone(&mut self, plan: &Plan, sites: usize) {
        let core = self.host("core".to_owned(), "router");
        let sites: Vec<usize> = (1..=sites)
            .map(|number| {
                let router = self.host(format!("border-{number}"), "router");
                let haul = Capacity { rate: plan.haul, queue: plan.queue, delay: plan.long / 4.0 };
                self.links.push(Link { is_long: true, ..Link::new(format!("haul-{number}"), [core, router], haul) });
                router
            })
            .collect();
        for number in 1..=plan.count {
            let at = number % sites.len();
            self.behind(sites[at], &format!("site{}-{number}", at + 1), plan);
        }
    }

    /// Guests in machines on one switch.
    fn machines(&mut self, plan: &Plan, draw: &mut Draw) {
        let switch = self.host("switch".to_owned(), "router");
        let count = (plan.count / 2).clamp(2, 8);
        let machines: Vec<usize> = (1..=count)
            .map(|number| {
                let machine = self.host(format!("machine-{number}"), "machine");
                let uplink = format!("uplink-{number}");
                let capacity = Capacity { rate: self.rate, queue: plan.queue, delay: plan.inside / 4.0 };
                self.links.push(Link::new(uplink.clone(), [switch, machine], capacity));
                let nic = draw.weighted(&[(1.0, "sfc"), (1.0, "mlx5_core")], "sfc");
                self.hosts[machine].facts = adapter(&uplink, &Nic { driver: nic, merges: false });
                machine
            })
            .collect();
        for number in 1..=plan.count.min(24) {
            let machine = machines[number % machines.len()];
            let guest = self.host(format!("guest-{number}"), "guest");
            self.hosts[guest].machine = Some(machine);
            let access = Capacity { rate: self.rate, queue: plan.queue, delay: plan.inside / 8.0 };
            self.links.push(Link::new(format!("vm-{number}"), [machine, guest], access));
        }
    }
}

struct Plan {
    count: usize,
    haul: f64,
    queue: f64,
    inside: f64,
    long: f64,
}

/// A NIC as hosts record it.
pub(super) struct Nic<'a> {
    pub(super) driver: &'a str,
    /// Whether it merges segments in hardware (`rx-gro-hw`).
    pub(super) merges: bool,
}

/// Recorded facts of the NIC at a link.
pub(super) fn adapter(link: &str, nic: &Nic<'_>) -> Vec<String> {
    let Nic { driver, merges } = nic;
    vec![
        format!("[hosts.@.facts.interfaces.{link}]"),
        format!("driver = {{ name = \"{driver}\" }}"),
        "bus = { kind = \"pci\", address = \"0000:3b:00.0\" }".to_owned(),
        format!("[hosts.@.facts.interfaces.{link}.features]"),
        "rx-gro = { hw = false, wanted = true, active = true, nochange = false }".to_owned(),
        format!("rx-gro-hw = {{ hw = {merges}, wanted = {merges}, active = {merges}, nochange = false }}"),
    ]
}

/// What VXLAN puts around packets (RFC 7348).
const OVERLAY_HEADERS: u32 = 50;
/// The router of the second way.
pub(super) const SPARE: &str = "far-city";
/// How often two sites have a second way.
const SECOND_WAY: f64 = 0.4;
