//! The activity as JSON Lines.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use toolcrib::ActivityStream;

use super::output::Failure;

/// Writes every event to `path`, or to stderr for `-`. Events are appended, so that calls can share a file.
pub(crate) fn write_events(activity: &ActivityStream, path: &Path) -> Result<(), Failure> {
    let sink: Box<dyn Write + Send> = if path == Path::new("-") {
        Box::new(io::stderr())
    } else {
        let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
            Failure::io(&format!("--events {}", path.display()), &error)
                .suggest("Give a file that can be written.")
        })?;
        Box::new(file)
    };
    let sink = Mutex::new(sink);
    activity.observe(move |event| {
        let Ok(mut line) = serde_json::to_vec(event) else { return };
        line.push(b'\n');
        let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
        // One write a line: lines of several processes do not mix.
        let _ = sink.write_all(&line);
    });
    Ok(())
}
