//! How matches are shown: grouped by file, `line:text`, context as `line-text`.

use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{Hint, Render, RenderContext};
use toolcrib_workspace::search::{FileMatches, Line};

use super::{Mode, Output};

impl Render for Output {
    fn title(&self) -> String {
        let what = if self.mode == Mode::Content { "matches" } else { "files with matches" };
        match self.total {
            Some(total) => format!("Found {total} {what} for {}", self.pattern),
            None => format!("Found more than {} {what} for {}", self.shown(), self.pattern),
        }
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        if self.found.is_empty() {
            return self.nothing();
        }
        let mut text = match self.mode {
            Mode::Content => self.found.iter().map(content).collect::<Vec<_>>().join("\n"),
            Mode::Files | Mode::Count => self.found.iter().map(counted).collect::<Vec<_>>().join("\n"),
        };
        match (self.total, self.next_offset) {
            (Some(total), _) if self.mode == Mode::Count => {
                let sum: usize = self.found.iter().map(|file| file.count).sum();
                text.push_str(&format!("\n[{sum} matches in {} of {total} files]", self.found.len()));
            }
            (None, _) => text.push_str("\n[there are more]"),
            (Some(total), Some(_)) => text.push_str(&format!("\n[{} of {total} shown]", self.shown())),
            _ => {}
        }
        text
    }

    fn preview(&self) -> Vec<String> {
        let lines = self.found.iter().flat_map(|file| {
            file.lines
                .iter()
                .filter(|line| line.is_match)
                .map(|line| format!("{}:{}", file.path, line.number))
        });
        if self.mode == Mode::Content {
            lines.take(8).collect()
        } else {
            self.found.iter().take(8).map(|file| file.path.clone()).collect()
        }
    }

    fn hints(&self) -> Vec<Hint> {
        let hint = || Hint::new("to see more", "grep", self.arguments.clone());
        self.next_offset.map(|_| hint()).into_iter().collect()
    }

    fn warnings(&self) -> Vec<String> {
        self.notices.clone()
    }
}

impl Output {
    fn shown(&self) -> usize {
        self.matches.as_ref().map(Vec::len).or(self.files.as_ref().map(Vec::len)).unwrap_or(0)
    }

    /// Nothing found, and what was not looked at.
    fn nothing(&self) -> String {
        let mut text = format!("No match in {} files", self.searched_files);
        if self.ignored > 0 {
            text.push_str(&format!("; {} ignored entries were not searched", self.ignored));
        }
        if self.binary_skipped > 0 {
            text.push_str(&format!("; {} binary files were skipped", self.binary_skipped));
        }
        text.push('.');
        text
    }
}

fn content(file: &FileMatches) -> String {
    let mut text = visible_path(&file.path).into_owned();
    let mut last: Option<u64> = None;
    let with_context = file.lines.iter().any(|line| !line.is_match);
    for line in &file.lines {
        if with_context && last.is_some_and(|last| line.number > last + 1) {
            text.push_str("\n--");
        }
        last = Some(line.number);
        text.push('\n');
        text.push_str(&shown_line(line));
    }
    text
}

fn shown_line(line: &Line) -> String {
    let mark = if line.is_match { ':' } else { '-' };
    format!("{}{mark}{}", line.number, line.text)
}

fn counted(file: &FileMatches) -> String {
    format!("{}: {}", visible_path(&file.path), file.count)
}
