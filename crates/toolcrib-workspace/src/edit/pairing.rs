//! Which line of a replaced block became which line of its replacement.

/// Above this many comparisons lines are paired by position only.
const MAX_CELLS: usize = 2_500;

/// How alike two lines must be to be the same line, changed.
const ALIKE: f32 = 0.5;

/// Pairs in rising order on both sides, maximising how alike the paired lines are.
pub(crate) fn pair_lines(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() || old.len() * new.len() > MAX_CELLS {
        return Vec::new();
    }
    let width = new.len() + 1;
    let mut best = vec![0f32; (old.len() + 1) * width];
    let mut scores = vec![0f32; old.len() * new.len()];
    let at = |cells: &[f32], index: usize| cells.get(index).copied().unwrap_or_default();
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let score = alike(a, b);
            let taken = if score >= ALIKE { score + at(&best, (i + 1) * width + j + 1) } else { 0.0 };
            let value = taken.max(at(&best, (i + 1) * width + j)).max(at(&best, i * width + j + 1));
            if let Some(cell) = scores.get_mut(i * new.len() + j) {
                *cell = score;
            }
            if let Some(cell) = best.get_mut(i * width + j) {
                *cell = value;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut pairs = Vec::new();
    while i < old.len() && j < new.len() {
        let here = at(&best, i * width + j);
        let score = at(&scores, i * new.len() + j);
        if score >= ALIKE && here <= score + at(&best, (i + 1) * width + j + 1) {
            pairs.push((i, j));
            i += 1;
            j += 1;
        } else if here <= at(&best, (i + 1) * width + j) {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// How alike two lines are, from 0 to 1, by the words they share in order.
pub(crate) fn alike(a: &str, b: &str) -> f32 {
    let (a, b) = (a.trim(), b.trim());
    if a == b {
        return 1.0;
    }
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let cut = |text: &str| text.chars().take(200).collect::<String>();
    strsim::normalized_levenshtein(&cut(a), &cut(b)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_lines_find_each_other() {
        let old = ["let a = 1;", "call(a, b);"];
        let new = ["// new comment here", "let a = 2;", "call(a, b, c);"];
        assert_eq!(pair_lines(&old, &new), [(0, 1), (1, 2)]);
        assert_eq!(pair_lines(&["abc"], &["xyz"]), []);
    }
}
