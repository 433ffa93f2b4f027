//! The shape of a graph: what is in cycles, and what stands on what.

use std::collections::{HashMap, VecDeque};

/// Nodes are numbers from 0 on.
pub(super) struct Shape {
    next: Vec<Vec<usize>>,
    /// Strongly connected components; each comes after those it leads to.
    components: Vec<Vec<usize>>,
    /// The layer of every node.
    pub layers: Vec<usize>,
}

/// Cycles, and how many there are at least.
pub(super) struct Cycles {
    pub listed: Vec<Vec<usize>>,
    pub total: usize,
}

impl Shape {
    /// Of nodes and edges; an edge from a node to itself does not count.
    pub(super) fn of(nodes: usize, edges: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut next = vec![Vec::new(); nodes];
        for (from, to) in edges.filter(|(from, to)| from != to && *to < nodes) {
            if let Some(list) = next.get_mut(from) {
                list.push(to);
            }
        }
        let components = components(&next);
        let layers = layers(&next, &components);
        Self { next, components, layers }
    }

    /// For every node in a cycle a shortest one through it, unless one that is listed has it already. Each begins with
    /// its smallest node.
    pub(super) fn cycles(&self, most: usize) -> Cycles {
        let mut found: Vec<Vec<usize>> = Vec::new();
        let mut total = 0;
        for component in self.components.iter().filter(|component| component.len() > 1) {
            let mut covered = vec![false; component.len()];
            let mut nodes = component.clone();
            nodes.sort_unstable();
            for (place, node) in nodes.iter().enumerate() {
                if covered.get(place) == Some(&true) {
                    continue;
                }
                // Each takes a search. Of tangles past what is shown it is enough to know that they are there.
                if found.len() >= most {
                    total += usize::from(place == 0);
                    continue;
                }
                total += 1;
                let cycle = self.shortest(*node, &nodes);
                for one in &cycle {
                    if let Ok(at) = nodes.binary_search(one)
                        && let Some(covered) = covered.get_mut(at)
                    {
                        *covered = true;
                    }
                }
                found.push(cycle);
            }
        }
        found.sort();
        Cycles { listed: found, total }
    }

    /// A shortest way from a node back to it, within its component (sorted).
    fn shortest(&self, start: usize, within: &[usize]) -> Vec<usize> {
        let mut before: HashMap<usize, usize> = HashMap::new();
        let mut left = VecDeque::from([start]);
        while let Some(at) = left.pop_front() {
            for to in self.next.get(at).into_iter().flatten() {
                if *to == start {
                    let mut cycle = vec![at];
                    let mut node = at;
                    while let Some(previous) = before.get(&node) {
                        cycle.push(*previous);
                        node = *previous;
                    }
                    cycle.reverse();
                    return turned(cycle);
                }
                if within.binary_search(to).is_ok() && !before.contains_key(to) {
                    before.insert(*to, at);
                    left.push_back(*to);
                }
            }
        }
        vec![start]
    }
}

/// The same cycle from its smallest node on.
fn turned(mut cycle: Vec<usize>) -> Vec<usize> {
    let smallest = cycle.iter().enumerate().min_by_key(|(_, node)| **node).map_or(0, |(at, _)| at);
    cycle.rotate_left(smallest);
    cycle
}

/// Tarjan's, without recursion: a chain of imports may be as long as it likes.
fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut index = vec![UNSEEN; next.len()];
    let mut low = vec![0_usize; next.len()];
    let mut on_stack = vec![false; next.len()];
    let (mut stack, mut found) = (Vec::new(), Vec::new());
    let mut count = 0;
    let get = |list: &[usize], at: usize| list.get(at).copied().unwrap_or(0);
    for root in 0..next.len() {
        if get(&index, root) != UNSEEN {
            continue;
        }
        let mut work = vec![(root, 0_usize)];
        while let Some((node, child)) = work.pop() {
            if child == 0 {
                set(&mut index, node, count);
                set(&mut low, node, count);
                set(&mut on_stack, node, true);
                stack.push(node);
                count += 1;
            }
            if let Some(to) = next.get(node).and_then(|list| list.get(child)).copied() {
                work.push((node, child + 1));
                if get(&index, to) == UNSEEN {
                    work.push((to, 0));
                } else if on_stack.get(to) == Some(&true) {
                    let lower = get(&low, node).min(get(&index, to));
                    set(&mut low, node, lower);
                }
                continue;
            }
            if let Some((parent, _)) = work.last().copied() {
                let lower = get(&low, parent).min(get(&low, node));
                set(&mut low, parent, lower);
            }
            if get(&low, node) == get(&index, node) {
                let mut component = Vec::new();
                while let Some(member) = stack.pop() {
                    set(&mut on_stack, member, false);
                    component.push(member);
                    if member == node {
                        break;
                    }
                }
                found.push(component);
            }
        }
    }
    found
}

fn set<T>(list: &mut [T], at: usize, value: T) {
    if let Some(place) = list.get_mut(at) {
        *place = value;
    }
}

/// A component stands one above the highest of those it leads to.
fn layers(next: &[Vec<usize>], components: &[Vec<usize>]) -> Vec<usize> {
    let mut of = vec![0_usize; next.len()];
    for (number, component) in components.iter().enumerate() {
        component.iter().for_each(|node| set(&mut of, *node, number));
    }
    let mut heights = vec![0_usize; components.len()];
    for (number, component) in components.iter().enumerate() {
        let below = component.iter().filter_map(|node| next.get(*node)).flatten();
        let below = below.filter_map(|to| of.get(*to).copied()).filter(|other| *other != number);
        let height = below.filter_map(|other| heights.get(other)).max().map_or(0, |height| height + 1);
        set(&mut heights, number, height);
    }
    of.iter().map(|component| heights.get(*component).copied().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(nodes: usize, edges: &[(usize, usize)]) -> Shape {
        Shape::of(nodes, edges.iter().copied())
    }

    #[test]
    fn cycles_are_short_and_cover_every_node_in_one() {
        let one = shape(5, &[(2, 0), (0, 1), (1, 2), (3, 0), (3, 4)]);
        assert_eq!(one.cycles(9).listed, [[0, 1, 2]]);
        let two = shape(3, &[(0, 1), (1, 0), (1, 2), (2, 1)]);
        assert_eq!(two.cycles(9).listed, [[0, 1], [1, 2]]);
        assert_eq!(shape(3, &[(0, 1), (1, 2), (0, 0)]).cycles(9).total, 0);
        let cut = shape(4, &[(0, 1), (1, 0), (2, 3), (3, 2)]).cycles(1);
        assert_eq!((cut.listed.len(), cut.total), (1, 2));
    }

    #[test]
    fn layers_count_from_what_needs_nothing() {
        assert_eq!(shape(4, &[(0, 1), (1, 2), (0, 2)]).layers, [2, 1, 0, 0]);
        // A cycle is one step.
        assert_eq!(shape(3, &[(0, 1), (1, 2), (2, 1)]).layers, [1, 0, 0]);
    }

    #[test]
    fn long_chains_do_not_overflow() {
        let edges: Vec<(usize, usize)> = (0..200_000).map(|at| (at, at + 1)).collect();
        assert_eq!(shape(200_001, &edges).layers.first(), Some(&200_000));
    }
}
