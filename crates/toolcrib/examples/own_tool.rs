//! A tool of one's own in one file, with its test. Run: `cargo run -p toolcrib --example own_tool`.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::indexing_slicing, reason = "an example prints")]

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcrib::workspace::ReadWorkspace;
use toolcrib::{
    CallContext, Effects, ErrorCode, Render, RenderContext, Tool, ToolError, ToolSpec, Toolcrib, json,
};

/// Counts the words of a file.
struct CountWords;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// The file, relative to the workspace.
    path: String,
}

#[derive(Serialize)]
struct Output {
    path: String,
    words: usize,
}

impl Tool for CountWords {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("count_words", "Count words", "Counts the words of a text file.")
            .example("a file", json!({"path": "README.md"}))
    }

    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([&input.path])
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        // The tool only reads, so the read-only workspace is all that it gets.
        let workspace = cx.get::<ReadWorkspace>()?;
        let file = workspace
            .read(&input.path, 10 << 20)
            .map_err(|error| ToolError::new(ErrorCode::FileNotFound, error.to_string()))?;
        cx.record_read(&file.path, file.size);
        let words = String::from_utf8_lossy(&file.bytes).split_whitespace().count();
        Ok(Output { path: file.path, words })
    }
}

impl Render for Output {
    fn title(&self) -> String {
        format!("Counted {}", self.path)
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        format!("{} has {} words.", self.path, self.words)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("poem.txt"), "so much depends upon\n")?;
    let crib = Toolcrib::builder().root(folder.path()).tool(CountWords).build()?;
    let outcome = crib.call(&crib.session("demo"), "count_words", json!({"path": "poem.txt"})).await;
    println!("{}", outcome.output);
    assert_eq!(outcome.data["words"], 4);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolcrib::workspace::{ChangeLabel, Expect};
    use toolcrib::{Permission, Services, Workspace, core::PermissionSet};

    #[test]
    fn runs() {
        main().unwrap();
    }

    #[tokio::test]
    async fn counts_without_an_executor_or_a_disk() {
        let workspace = Workspace::memory();
        let mut change = workspace.begin(ChangeLabel::default());
        change.put("a.txt", b"one two  three\n".to_vec(), Expect::Absent).unwrap();
        change.commit(&|| false).unwrap();

        let services = Services::new().with(workspace.read_only());
        let cx = CallContext::for_test(PermissionSet::of(&[Permission::Read]), services);
        let output = CountWords.run(&cx, Input { path: "a.txt".into() }).await.unwrap();
        assert_eq!(output.words, 3);
    }
}
