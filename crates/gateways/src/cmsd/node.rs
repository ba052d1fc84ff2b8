//! The manager's table of servers, and its choices.

use path::random::SeededRng;

/// What the manager knows of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Node {
    /// The load that it reported last.
    pub load: i32,
    /// Whether it is logged in and takes requests.
    pub state: State,
    /// Selections since the counts were reset (`RefR`).
    pub references: u64,
    /// Selections since the manager was started (`RefTotR`).
    pub total: u64,
}

/// Whether a server takes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    /// It does.
    #[default]
    Online,
    /// It is not logged in, or is suspended.
    Offline,
}

/// What `cms.sched` says of choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    /// Loads that differ by no more than this count as equal (`fuzz`, 20 where nothing is said).
    pub fuzz: i32,
    /// Servers above it are left out (`maxload`; without a bound where nothing is said).
    pub max_load: i32,
}

/// Why no server was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// Every server that is there is above `maxload`: the client is to wait.
    Overloaded,
    /// None is there: the client is to wait for servers.
    Offline,
}

/// The table of servers, in the order in which the manager walks it: that of their first login.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// cmsd has room for 64 (`STMax`).
    pub nodes: Vec<Node>,
}

/// Selections that must have been made before an hourly reset happens at all: 3 x 64 servers (`RefTurn` with the
/// default `DiskLinger` of 0).
pub const RESET_NEEDS: u64 = 3 * 64;

impl Table {
    /// A table of servers that have reported nothing yet.
    #[must_use]
    pub fn new(servers: usize) -> Self {
        Self { nodes: vec![Node::default(); servers] }
    }

    /// `SelbyLoad`: one walk, keeping the best so far. Within the fuzz the smaller count wins, beyond it the smaller load.
    /// That relation is not transitive, so the order of the table is part of the answer.
    ///
    /// # Errors
    /// Why there is none.
    pub fn by_load(&mut self, selection: Selection) -> Result<usize, Refused> {
        let mut best: Option<usize> = None;
        let mut refused = Refused::Offline;
        for (at, node) in self.nodes.iter().enumerate() {
            if node.state == State::Offline {
                continue;
            }
            if node.load > selection.max_load {
                refused = Refused::Overloaded;
                continue;
            }
            let Some(before) = best else {
                best = Some(at);
                continue;
            };
            let kept = &self.nodes[before];
            let is_better = if (kept.load - node.load).abs() <= selection.fuzz {
                kept.references > node.references
            } else {
                kept.load > node.load
            };
            if is_better {
                best = Some(at);
            }
        }
        self.chosen(best.ok_or(refused)?)
    }

    /// `SelbyRef`, round robin: the smallest count, blind to load; where `fuzz` is 100 or loads are never asked for.
    ///
    /// # Errors
    /// Why there is none.
    pub fn by_references(&mut self) -> Result<usize, Refused> {
        let online = self.nodes.iter().enumerate().filter(|(_, node)| node.state == State::Online);
        let best = online.min_by_key(|(_, node)| node.references).map(|(at, _)| at);
        self.chosen(best.ok_or(Refused::Offline)?)
    }

    /// `SelbyLoadR` of 5.7.0 (`cms.sched affinity randomized`): drawn with weight fuzz + 100 - load. It counts nothing.
    ///
    /// # Errors
    /// Why there is none.
    pub fn by_weight(&self, selection: Selection, rng: &mut SeededRng) -> Result<usize, Refused> {
        let mut refused = Refused::Offline;
        let mut total = 0_u64;
        for node in self.nodes.iter().filter(|node| node.state == State::Online) {
            if node.load > selection.max_load {
                refused = Refused::Overloaded;
            }
            total += weight(node, selection);
        }
        if total == 0 {
            return Err(refused);
        }
        let mut drawn = rng.below(total);
        for (at, node) in self.nodes.iter().enumerate() {
            let weight = weight(node, selection);
            if drawn < weight {
                return Ok(at);
            }
            drawn -= weight;
        }
        Err(refused)
    }

    /// A server logs in (again): the counts of all servers that serve the same paths go to zero (`Cluster.ResetRef`), which
    /// in a cluster of gateways to one store are all of them.
    pub fn log_in(&mut self, server: usize) {
        if let Some(node) = self.nodes.get_mut(server) {
            // The node keeps its place, its last load and its total.
            node.state = State::Online;
        }
        self.reset();
    }

    /// Counts go to zero, as they do every `refreset` (an hour) once [`RESET_NEEDS`] selections were made.
    pub fn reset(&mut self) {
        for node in &mut self.nodes {
            node.references = 0;
        }
    }

    /// A server that was found without a walk, as the first one that says it has a file: that path counts twice
    /// (`XrdCmsCluster::Select` with a mask).
    pub fn answered_first(&mut self, server: usize) {
        if let Some(node) = self.nodes.get_mut(server) {
            node.references += 2;
            node.total += 1;
        }
    }

    fn chosen(&mut self, at: usize) -> Result<usize, Refused> {
        self.nodes[at].references += 1;
        self.nodes[at].total += 1;
        Ok(at)
    }
}

fn weight(node: &Node, selection: Selection) -> u64 {
    if node.state == State::Offline || node.load > selection.max_load {
        return 0;
    }
    u64::try_from(selection.fuzz + 100 - node.load).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::Seed;

    fn table(loads: &[i32]) -> Table {
        Table { nodes: loads.iter().map(|load| Node { load: *load, ..Node::default() }).collect() }
    }

    fn shares(table: &mut Table, fuzz: i32, opens: usize) -> Vec<u64> {
        for _ in 0..opens {
            table.by_load(Selection { fuzz, max_load: i32::MAX }).unwrap();
        }
        table.nodes.iter().map(|node| node.total).collect()
    }

    #[test]
    fn a_server_that_comes_back_takes_everything_until_its_count_has_caught_up() {
        let mut table = table(&[100, 10, 10]);
        assert_eq!(shares(&mut table, 10, 24), [0, 12, 12]);
        table.nodes[0].load = 10;
        assert_eq!(shares(&mut table, 10, 12), [12, 12, 12]);
        assert_eq!(shares(&mut table, 10, 3), [13, 13, 13]);
    }

    #[test]
    fn within_the_fuzz_is_not_transitive_so_the_order_of_the_table_decides() {
        // 0 and 8 count as equal, and so do 8 and 16: the busiest wins by its count although the first is idle.
        let mut forward = table(&[0, 8, 16]);
        forward.nodes[0].references = 2;
        forward.nodes[1].references = 1;
        assert_eq!(forward.by_load(Selection { fuzz: 10, max_load: 100 }), Ok(2));
        // The same three the other way round: the idle one wins.
        let mut backward = table(&[16, 8, 0]);
        backward.nodes[2].references = 2;
        backward.nodes[1].references = 1;
        assert_eq!(backward.by_load(Selection { fuzz: 10, max_load: 100 }), Ok(2));
    }

    #[test]
    fn nobody_below_maxload_and_nobody_at_all_are_told_apart() {
        let selection = Selection { fuzz: 10, max_load: 90 };
        let mut full = table(&[95, 91]);
        assert_eq!(full.by_load(selection), Err(Refused::Overloaded));
        assert_eq!(full.by_weight(selection, &mut SeededRng::new(Seed(1))), Err(Refused::Overloaded));
        full.nodes.iter_mut().for_each(|node| node.state = State::Offline);
        assert_eq!(full.by_load(selection), Err(Refused::Offline));
        assert_eq!(full.by_references(), Err(Refused::Offline));
    }

    #[test]
    fn the_weighted_draw_has_the_weights_of_its_source() {
        let table = table(&[0, 50, 100]);
        let mut rng = SeededRng::new(Seed(7));
        let mut counts = [0_u32; 3];
        for _ in 0..18_000 {
            counts[table.by_weight(Selection { fuzz: 10, max_load: 100 }, &mut rng).unwrap()] += 1;
        }
        // Weights 110, 60 and 10 of 180; five standard deviations of a binomial are below 340.
        for (count, expected) in counts.into_iter().zip([11_000, 6_000, 1_000]) {
            assert!(count.abs_diff(expected) < 340, "{counts:?}");
        }
    }

    #[test]
    fn a_login_resets_the_counts_of_all() {
        let mut table = table(&[10, 10, 10]);
        shares(&mut table, 10, 30);
        table.log_in(1);
        assert!(table.nodes.iter().all(|node| node.references == 0));
        assert_eq!(table.nodes[0].total, 10);
    }
}
