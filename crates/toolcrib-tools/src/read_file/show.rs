//! How files are shown: numbered lines, notes, and how to read on.

use toolcrib_core::sanitize::visible_path;
use toolcrib_core::{Attachment, Hint, Render, RenderContext};

use super::load::numbered;
use super::{File, Output, continued};

impl Render for Output {
    fn title(&self) -> String {
        match (self.files.as_slice(), self.failed.len()) {
            ([file], 0) => format!("Read {}", range(file)),
            (files, 0) => format!("Read {} files", files.len()),
            (files, failed) => format!("Read {} files, {failed} failed", files.len()),
        }
    }

    fn text(&self, cx: &mut RenderContext<'_>) -> String {
        let alone = self.files.len() + self.failed.len() == 1;
        let mut parts: Vec<String> = self.files.iter().map(|file| shown(file, alone, cx)).collect();
        parts.extend(self.failed.iter().map(|file| {
            format!("== {} ==\n[not read: {}: {}]", visible_path(&file.path), file.code, file.message)
        }));
        parts.join("\n")
    }

    fn preview(&self) -> Vec<String> {
        self.files
            .first()
            .map(|file| file.content.lines().take(5).map(str::to_owned).collect())
            .unwrap_or_default()
    }

    fn attachments(&self) -> Vec<Attachment> {
        self.files.iter().filter_map(|file| file.attachment.clone()).collect()
    }

    fn truncated(&self) -> bool {
        self.files.iter().any(|file| file.cut)
    }

    fn hints(&self) -> Vec<Hint> {
        let hint = |file: &File| {
            let next = file.next_line?;
            Some(continued(file, next))
        };
        self.files.iter().filter_map(hint).take(5).collect()
    }
}

/// `a.rs, lines 1-40 of 312`.
fn range(file: &File) -> String {
    let path = visible_path(&file.path);
    match (file.mime, file.start_line) {
        (Some(mime), _) => format!("{path} ({mime}, {} bytes)", file.bytes),
        (None, 0) => format!("{path}, no lines of {}", file.total_lines),
        (None, start) => format!("{path}, lines {start}-{} of {}", file.end_line, file.total_lines),
    }
}

fn shown(file: &File, alone: bool, cx: &mut RenderContext<'_>) -> String {
    let mut text = String::new();
    let partial = file.start_line != 1 || file.end_line != file.total_lines;
    if !alone {
        text.push_str(&format!(
            "== {} ==\n",
            if partial { range(file) } else { visible_path(&file.path).into_owned() }
        ));
    }
    if file.mime.is_some() {
        text.push_str(&format!("[{}, attached]", range(file)));
        return text;
    }
    let resource = format!("{}:{}-{}", file.path, file.start_line, file.end_line);
    let earlier = file.hash.as_ref().and_then(|hash| cx.show(&resource, hash));
    match earlier {
        Some(call) => text.push_str(&format!("[unchanged since call {call}, which shows it]\n")),
        None if file.total_lines == 0 => text.push_str("[empty file]\n"),
        None => text.push_str(&numbered(&file.content, file.start_line.saturating_sub(1))),
    }
    if alone && partial && file.total_lines > 0 {
        text.push_str(&format!("[{}]\n", range(file)));
    }
    for note in &file.notes {
        text.push_str(&format!("[{note}]\n"));
    }
    if let Some(outline) = &file.outline {
        text.push_str(&format!("[too long to show at once, {} bytes; its outline:]\n", file.bytes));
        for entry in outline {
            text.push_str(&format!("{}\t{}\n", entry.line, entry.text));
        }
    }
    text.truncate(text.trim_end_matches('\n').len());
    text
}
