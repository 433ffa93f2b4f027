//! An executor with the built-in tools, watched while it works. Run: `cargo run -p toolcrib --example embed`.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::indexing_slicing, reason = "an example prints")]

use toolcrib::{PolicyMode, Toolcrib, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("greeting.txt"), "hello world\n")?;

    let crib = Toolcrib::builder().root(folder.path()).policy(PolicyMode::Auto).build()?;
    crib.executor().activity().observe(|event| eprintln!("{:?}", event.kind.event_type()));
    let session = crib.session("demo");

    let read = crib.call(&session, "read_file", json!({"path": "greeting.txt"})).await;
    println!("{}", read.output);

    let edit = json!({"path": "greeting.txt", "old_string": "world", "new_string": "there"});
    println!("{}", crib.call(&session, "edit_file", edit).await.output);

    println!("{}", crib.call(&session, "undo_changes", json!({"action": "undo"})).await.title);
    assert_eq!(std::fs::read_to_string(folder.path().join("greeting.txt"))?, "hello world\n");
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn runs() {
        super::main().unwrap();
    }
}
