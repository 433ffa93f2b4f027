//! What the formats cost in tokens (o200k): `cargo bench -p toolcrib --bench tokens`.
//!
//! Over the sources of this repository, each format of a tool against the usual one for the same content.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and may fail by panicking"
)]

use serde_json::Value;
use toolcrib::core::tokens;
use toolcrib::{CallRequest, PolicyMode, Toolcrib, json};

async fn output(crib: &Toolcrib, tool: &str, arguments: Value) -> toolcrib::Outcome {
    let session = crib.session(format!("{tool}{arguments}"));
    let request =
        CallRequest { max_output_tokens: Some(10_000_000), ..CallRequest::new(&session, tool, arguments) };
    let outcome = crib.executor().call(request).await;
    assert!(outcome.success, "{}", outcome.output);
    outcome
}

fn report(what: &str, ours: &str, usual: &str, usual_name: &str) {
    let (ours, usual) = (tokens::count(ours), tokens::count(usual));
    println!(
        "  {what:<16} {ours:>7} tokens   {usual:>7} as {usual_name:<16} ratio {:.2}",
        ours as f64 / usual as f64
    );
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let crib = Toolcrib::builder().root(root).policy(PolicyMode::Plan).build().unwrap();
    println!("tokens of the formats, over the sources of this repository");

    let path = "crates/toolcrib-core/src/profile.rs";
    let read = output(&crib, "read_file", json!({"path": path, "limit": 2000})).await;
    let raw = read.data["files"][0]["content"].as_str().unwrap().to_owned();
    let cat_n: String = raw.lines().enumerate().map(|(n, line)| format!("{:>6}\t{line}\n", n + 1)).collect();
    report("read_file", &read.output, &cat_n, "cat -n");
    report("", &read.output, &raw, "raw text");

    let grep = output(&crib, "grep", json!({"pattern": "\\bfn\\b", "type": "rust", "limit": 10_000})).await;
    let matches = grep.data["matches"].as_array().unwrap();
    let flat: String = matches
        .iter()
        .map(|found| {
            let text = |key: &str| found[key].as_str().unwrap_or_default().to_owned();
            format!("{}:{}:{}\n", text("path"), found["line"], text("text"))
        })
        .collect();
    report("grep", &grep.output, &flat, "path:line:text");

    let list = output(&crib, "list_directory", json!({"depth": 10, "limit": 10_000})).await;
    let entries = list.data["entries"].as_array().unwrap();
    let flat: String = entries.iter().map(|entry| format!("{}\n", entry["path"].as_str().unwrap())).collect();
    report("list_directory", &list.output, &flat, "flat paths");

    let glob = output(&crib, "glob", json!({"pattern": "**/*.rs", "limit": 10_000})).await;
    let paths = glob.data["paths"].as_array().unwrap();
    let flat: String = paths.iter().map(|path| format!("{}\n", path.as_str().unwrap())).collect();
    report("glob", &glob.output, &flat, "flat paths");
}
