//! Where each node stands in a picture: a tree in columns, from the middle of the network to both sides.

use std::collections::VecDeque;

use super::graph::Graph;

/// Gives each node its column and its row. Parts that are not connected stand below each other.
pub(super) fn place(graph: &mut Graph) {
    let groups = graph.components();
    let mut top = 0.0_f32;
    for group in 0..groups.len() {
        let members: Vec<usize> = (0..groups.len()).filter(|node| groups[*node] == group).collect();
        if !members.is_empty() {
            top = Tree::of(graph, &members).place(graph, top);
        }
    }
    let least = columns(graph).min().unwrap_or(0);
    for (node, column) in columns(graph).collect::<Vec<_>>().into_iter().enumerate() {
        graph.nodes[node].column = u32::try_from(column - least).unwrap_or(0);
    }
}

/// Columns as [`Tree::place`] has left them: from [`MIDDLE`] on to both sides.
fn columns(graph: &Graph) -> impl Iterator<Item = i64> + '_ {
    graph.nodes.iter().map(|node| i64::from(node.column))
}

/// The shortest paths from the middle of a connected part.
struct Tree {
    middle: usize,
    children: Vec<Vec<usize>>,
}

/// A side of the middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

impl Tree {
    fn of(graph: &Graph, members: &[usize]) -> Self {
        let start = members[0];
        let (one, _) = farthest(graph, start);
        let (other, parents) = farthest(graph, one);
        let path: Vec<usize> = std::iter::successors(Some(other), |node| parents[*node]).collect();
        let middle = path[path.len() / 2];
        let (_, parents) = farthest(graph, middle);
        let mut children = vec![Vec::new(); graph.nodes.len()];
        for node in members {
            if let Some(parent) = parents[*node] {
                children[parent].push(*node);
            }
        }
        for list in &mut children {
            list.sort_by_key(|node| (graph.nodes[*node].site.clone(), graph.nodes[*node].label.clone()));
        }
        Self { middle, children }
    }

    /// Places it from a row on; the first row below it.
    fn place(&self, graph: &mut Graph, top: f32) -> f32 {
        let sides = self.sides(graph);
        let heights = [Side::Left, Side::Right].map(|side| {
            let mut next = top;
            for node in sides.iter().filter(|(_, of)| *of == side).map(|(node, _)| *node) {
                self.branch(graph, node, side, &mut next);
            }
            next
        });
        let height = heights[0].max(heights[1]).max(top + 1.0);
        // The shorter side stands in the middle of the longer one.
        for (at, side) in [Side::Left, Side::Right].into_iter().enumerate() {
            let shift = (height - heights[at]) / 2.0;
            for node in sides.iter().filter(|(_, of)| *of == side).map(|(node, _)| *node) {
                self.lower(graph, node, shift);
            }
        }
        graph.nodes[self.middle].row = top + (height - top - 1.0) / 2.0;
        graph.nodes[self.middle].column = MIDDLE;
        height
    }

    /// On which side each branch of the middle stands: the largest to the lighter side, those of one site together.
    fn sides(&self, graph: &Graph) -> Vec<(usize, Side)> {
        let mut bundles: Vec<Vec<usize>> = Vec::new();
        for node in &self.children[self.middle] {
            let site = &graph.nodes[*node].site;
            match bundles.last_mut() {
                Some(last) if site.is_some() && graph.nodes[last[0]].site == *site => last.push(*node),
                _ => bundles.push(vec![*node]),
            }
        }
        let weight = |bundle: &Vec<usize>| bundle.iter().map(|node| self.leaves(*node)).sum::<usize>();
        let depth = |bundle: &Vec<usize>| bundle.iter().map(|node| self.depth(*node)).max();
        bundles.sort_by_key(|bundle| (std::cmp::Reverse(depth(bundle)), std::cmp::Reverse(weight(bundle))));
        let (mut left, mut right) = (0, 0);
        let mut sides = Vec::new();
        for bundle in bundles {
            let side = if left <= right { Side::Left } else { Side::Right };
            *(if side == Side::Left { &mut left } else { &mut right }) += weight(&bundle);
            sides.extend(bundle.into_iter().map(|node| (node, side)));
        }
        sides
    }

    fn branch(&self, graph: &mut Graph, node: usize, side: Side, next: &mut f32) {
        let mut pending = vec![(node, 1_u32, false)];
        while let Some((node, distance, is_done)) = pending.pop() {
            let children = &self.children[node];
            graph.nodes[node].column = match side {
                Side::Left => MIDDLE - distance,
                Side::Right => MIDDLE + distance,
            };
            if children.is_empty() {
                graph.nodes[node].row = *next;
                *next += 1.0;
            } else if is_done {
                let rows = || children.iter().map(|child| graph.nodes[*child].row);
                let (first, last) = (rows().fold(f32::MAX, f32::min), rows().fold(0.0, f32::max));
                graph.nodes[node].row = f32::midpoint(first, last);
            } else {
                pending.push((node, distance, true));
                pending.extend(children.iter().rev().map(|child| (*child, distance + 1, false)));
            }
        }
    }

    fn lower(&self, graph: &mut Graph, node: usize, by: f32) {
        let mut pending = vec![node];
        while let Some(node) = pending.pop() {
            graph.nodes[node].row += by;
            pending.extend(&self.children[node]);
        }
    }

    fn leaves(&self, node: usize) -> usize {
        let mut pending = vec![node];
        let mut count = 0;
        while let Some(node) = pending.pop() {
            count += usize::from(self.children[node].is_empty());
            pending.extend(&self.children[node]);
        }
        count
    }

    fn depth(&self, node: usize) -> usize {
        let mut pending = vec![(node, 1)];
        let mut most = 0;
        while let Some((node, depth)) = pending.pop() {
            most = most.max(depth);
            pending.extend(self.children[node].iter().map(|child| (*child, depth + 1)));
        }
        most
    }
}

/// The node that is farthest from another, and from where each is reached first.
fn farthest(graph: &Graph, start: usize) -> (usize, Vec<Option<usize>>) {
    let mut neighbours = vec![Vec::new(); graph.nodes.len()];
    for link in &graph.links {
        let [one, other] = link.between;
        neighbours[one].push(other);
        neighbours[other].push(one);
    }
    let mut parents = vec![None; graph.nodes.len()];
    let mut queue = VecDeque::from([start]);
    let mut last = start;
    while let Some(node) = queue.pop_front() {
        last = node;
        for next in neighbours[node].iter().copied() {
            if next != start && parents[next].is_none() {
                parents[next] = Some(node);
                queue.push_back(next);
            }
        }
    }
    (last, parents)
}

/// The column of the middle, before columns are counted from 0: no path is longer.
const MIDDLE: u32 = 100_000;
