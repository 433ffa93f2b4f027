//! What a call costs besides the tool's own work: `cargo bench -p toolcrib --bench executor`.
//!
//! A tool that does nothing is run directly and through the executor, with validation, policy, path resolution, gate,
//! events (one subscriber), statistics and bounding on. The difference of the medians is the overhead.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may fail by panicking")]

use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolcrib::core::PermissionSet;
use toolcrib::{
    CallContext, Effects, PolicyMode, Render, RenderContext, Services, Tool, ToolError, ToolSpec, Toolcrib,
    json,
};

struct Nothing;

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// A path.
    path: String,
    /// A number.
    limit: Option<u32>,
}

#[derive(Serialize)]
struct Output {
    path: String,
    limit: u32,
}

impl Render for Output {
    fn title(&self) -> String {
        format!("Did nothing with {}", self.path)
    }
    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        "done".into()
    }
}

impl Tool for Nothing {
    type Input = Input;
    type Output = Output;
    fn spec(&self) -> ToolSpec {
        ToolSpec::new("nothing", "Nothing", "Does nothing.").example("x", json!({"path": "a.txt"}))
    }
    fn effects(&self, input: &Input) -> Effects {
        Effects::reads([&input.path])
    }
    async fn run(&self, _cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        Ok(Output { path: input.path, limit: input.limit.unwrap_or(0) })
    }
}

const CALLS: usize = 20_000;

fn percentile(times: &mut [Duration], share: usize) -> f64 {
    times.sort_unstable();
    let index = (times.len() * share / 100).min(times.len() - 1);
    times.get(index).map_or(0.0, |time| time.as_nanos() as f64 / 1e3)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "x\n").unwrap();
    let crib = Toolcrib::builder().root(folder.path()).policy(PolicyMode::Ask).tool(Nothing).build().unwrap();
    let mut events = crib.executor().activity().subscribe_all();
    let session = crib.session("bench");
    let cx = CallContext::for_test(PermissionSet::all(), Services::new());

    let (mut direct, mut called) = (Vec::with_capacity(CALLS), Vec::with_capacity(CALLS));
    for n in 0..CALLS + 1000 {
        let started = Instant::now();
        let output = Nothing.run(&cx, Input { path: "a.txt".into(), limit: Some(5) }).await.unwrap();
        let data = serde_json::to_value(&output).unwrap();
        let direct_time = started.elapsed();
        std::hint::black_box(data);

        let arguments = json!({"path": "a.txt", "limit": n});
        let started = Instant::now();
        let outcome = crib.call(&session, "nothing", arguments).await;
        let called_time = started.elapsed();
        assert!(outcome.success);
        while events.try_next().is_some() {}
        // The first thousand warm things up.
        if n >= 1000 {
            direct.push(direct_time);
            called.push(called_time);
        }
    }
    let (base, p50, p95) =
        (percentile(&mut direct, 50), percentile(&mut called, 50), percentile(&mut called, 95));
    println!("executor overhead per call, {CALLS} calls");
    println!("  direct      p50 {base:>8.2} µs");
    println!("  executor    p50 {p50:>8.2} µs   p95 {p95:.2} µs");
    println!("  overhead    p50 {:>8.2} µs   (goal: under 20 µs)", p50 - base);
}
