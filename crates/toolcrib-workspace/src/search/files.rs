//! Every file of a tree with its stamp, for whoever keeps something about each of them.

use std::sync::atomic::AtomicBool;

use super::filter::PathFilter;
use super::list::{Page, Run, cancelled, steps};
use super::order::{self, Job, Step};
use super::walk::{DirTask, Walk};
use super::{Notice, WalkOptions, WalkRoot};
use crate::error::Result;
use crate::fs::directory::{EntryKind, EntryStat};

/// One file, looked at and not opened.
#[derive(Clone, Debug)]
pub struct FoundFile {
    /// Its path as shown.
    pub path: String,
    /// What is known of it.
    pub stat: EntryStat,
}

/// All regular files of a tree.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// By path, component by component.
    pub files: Vec<FoundFile>,
    /// What is missing.
    pub notices: Vec<Notice>,
}

/// Finds all regular files that `wanted` (given the name alone) and the ignore rules leave, each with its stamp.
pub fn files(
    root: &WalkRoot,
    options: &WalkOptions,
    wanted: &(dyn Fn(&str) -> bool + Sync),
) -> Result<Files> {
    let finder = Finder { walk: Walk::new(options, PathFilter::default()), wanted };
    let (start, notices) = finder.walk.start(root)?;
    let mut page = Page::new(0, usize::MAX, options.max_entries);
    page.notices.extend(notices);
    let page = order::run(&finder, start, page, options.thread_count());
    if options.is_cancelled() {
        return Err(cancelled());
    }
    Ok(Files { files: page.kept, notices: page.notices.finish() })
}

struct Finder<'a> {
    walk: Walk<'a>,
    wanted: &'a (dyn Fn(&str) -> bool + Sync),
}

impl Job for Finder<'_> {
    type Task = DirTask;
    type Out = Run<FoundFile>;
    type Scratch = ();

    fn scratch(&self) {}

    fn run(&self, (): &mut (), task: DirTask, _: &AtomicBool) -> Vec<Step<DirTask, Run<FoundFile>>> {
        match self.walk.read(task) {
            Ok(contents) => steps(&self.walk, contents, |place, entry| {
                let name = entry.name.to_str()?;
                if entry.kind != EntryKind::File || !(self.wanted)(name) {
                    return None;
                }
                // One that is gone by now is not there.
                let stat = place.dir.stat(&entry.name).ok()?;
                Some(FoundFile { path: place.shown_path(&entry.name), stat })
            }),
            Err(skipped) => vec![Step::Out(Run::missing(skipped))],
        }
    }

    fn is_cancelled(&self) -> bool {
        self.walk.options.is_cancelled()
    }
}
