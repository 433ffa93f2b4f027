//! The registry follows the files, and calls finish on what they began with.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;
use toolcrib::core::DynTool;

use crate::world::{World, file, says};

/// What is promised is a second; a machine with two busy cores may need a little more.
const SOON: Duration = Duration::from_secs(3);

fn description(world: &World, name: &str) -> Option<String> {
    world.crib.executor().profile().get(name).map(|tool| tool.tool.spec().version.to_string())
}

fn versioned(name: &str, version: &str) -> String {
    format!("version = \"{version}\"\n{}", says(name, version))
}

fn add_edit_break_mend_remove(world: &World, path: &std::path::Path, file_name: &str) {
    let is = |version: &str| {
        let version = Some(version.to_owned());
        move |world: &World| description(world, "live") == version
    };
    World::put(path, &versioned("live", "1.0.0"));
    assert!(world.until("it is added", is("1.0.0")) < SOON);
    World::put(path, &versioned("live", "2.0.0"));
    assert!(world.until("it is edited", is("2.0.0")) < SOON);
    World::put(path, "name = \"live\"\ndescription = \n");
    world.until("it is reported", |world| world.problem(file_name).is_some());
    assert!(world.problem(file_name).unwrap().starts_with("line 2: "), "{:?}", world.problem(file_name));
    assert!(is("2.0.0")(world), "the last good version stays");
    World::put(path, &versioned("live", "3.0.0"));
    assert!(world.until("it is mended", is("3.0.0")) < SOON);
    assert_eq!(world.problem(file_name), None);
    World::put(path, &versioned("renamed", "4.0.0"));
    world.until("it is renamed", |world| world.serves("renamed") && !world.serves("live"));
    std::fs::remove_file(path).unwrap();
    assert!(world.until("it is removed", |world| !world.serves("renamed")) < SOON);
}

#[test]
fn files_are_followed() {
    let world = World::new();
    let _watch = world.watch();
    // Neither folder is there yet.
    add_edit_break_mend_remove(&world, &world.project_file("a"), "a.tool.toml");
    add_edit_break_mend_remove(&world, &world.user_file("b"), "b.tool.toml");
    // A folder that goes and comes again is followed too.
    World::put(&world.user_file("c"), &says("third", "x"));
    world.until("it is there", |world| world.serves("third"));
    std::fs::remove_dir_all(world.user.path().join("tools")).unwrap();
    world.until("its folder is gone", |world| !world.serves("third"));
    World::put(&world.user_file("c"), &says("third", "x"));
    world.until("its folder is there again", |world| world.serves("third"));
}

#[test]
fn files_are_followed_where_nothing_tells() {
    let world = World::new();
    let _watch = world.crib.external_tools().unwrap().watch_by_polling();
    add_edit_break_mend_remove(&world, &world.project_file("a"), "a.tool.toml");
}

#[test]
fn nothing_is_followed_once_the_watch_is_dropped() {
    let world = World::new();
    let watch = world.watch();
    World::put(&world.user_file("a"), &says("first", "x"));
    world.until("it is there", |world| world.serves("first"));
    drop(watch);
    // Another one follows, and tells when the first would have.
    let other = World::new();
    let _watch = other.watch();
    World::put(&world.user_file("b"), &says("second", "x"));
    World::put(&other.user_file("b"), &says("second", "x"));
    other.until("the other one has it", |other| other.serves("second"));
    assert!(!world.serves("second"));
}

#[test]
fn a_storm_of_changes_is_a_few_announcements() {
    let world = World::new();
    let _watch = world.watch();
    World::put(&world.user_file("steady"), &says("steady", "x"));
    world.until("it is there", |world| world.serves("steady"));
    world.announced();
    for round in 0..50 {
        for at in 0..40 {
            // Half-written, broken and whole.
            let text = says(&format!("t{at}"), &format!("{round}"));
            let text = if (round + at) % 3 == 0 { text.chars().take(40).collect() } else { text };
            std::fs::write(world.user_file(&format!("t{at}")), text).unwrap();
        }
        for at in 0..200 {
            std::fs::write(world.user.path().join("tools").join(format!("noise{at}")), "x").unwrap();
        }
    }
    for at in 0..40 {
        std::fs::write(world.user_file(&format!("t{at}")), says(&format!("t{at}"), "last")).unwrap();
    }
    world.until("all are there", |world| {
        let external = world.crib.external_tools().unwrap();
        (0..40).all(|at| external.get(&format!("t{at}")).is_some())
            && external.report().iter().all(|file| file.problem.is_none())
    });
    assert!(world.announced() < 400, "2,000 writes are not 2,000 announcements");
    assert!(world.serves("steady"));
}

#[test]
fn many_hands_at_once() {
    let world = World::new();
    let _watch = world.watch();
    let done = AtomicBool::new(false);
    let external = world.crib.external_tools().unwrap();
    std::fs::create_dir_all(world.user.path().join("tools")).unwrap();
    std::thread::scope(|scope| {
        let hands: Vec<_> = (0..4)
            .map(|hand| {
                let path = world.user_file("shared");
                scope.spawn(move || {
                    for round in 0..100 {
                        let staged = path.with_extension(format!("{hand}"));
                        std::fs::write(&staged, versioned("shared", &format!("{hand}.{round}.0"))).unwrap();
                        std::fs::rename(staged, &path).unwrap();
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                external.reload();
                assert!(external.report().len() <= 1);
            }
        });
        hands.into_iter().for_each(|hand| hand.join().unwrap());
        done.store(true, Ordering::Relaxed);
    });
    World::put(&world.user_file("shared"), &versioned("shared", "9.9.9"));
    world.until("the last one holds", |world| description(world, "shared").as_deref() == Some("9.9.9"));
    let count = world.crib.executor().registry().names().iter().filter(|name| *name == "shared").count();
    assert_eq!(count, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_finishes_on_the_version_it_began_with() {
    let world = Arc::new(World::new());
    let slow = |text: &str| {
        // It says that it runs, waits for a file, then answers.
        let line = format!("touch started; while [ ! -e go ]; do sleep 0.02; done; printf {text}");
        file("slow", &format!("command = [\"bash\", \"-c\", \"{line}\"]\ncapabilities = [\"write\"]"))
    };
    World::put(&world.user_file("slow"), &slow("old"));
    let _watch = world.watch();
    world.until("it is there", |world| world.serves("slow"));
    let running = tokio::spawn({
        let world = Arc::clone(&world);
        async move { world.call("slow", json!({})).await }
    });
    let started = world.root.path().join("started");
    world.until("it runs", |_| started.exists());
    let before = world.crib.executor().registry().get("slow").unwrap();
    World::put(&world.user_file("slow"), &slow("new"));
    world.until("it is replaced", |world| {
        !Arc::ptr_eq(&world.crib.executor().registry().get("slow").unwrap(), &before)
    });
    std::fs::remove_file(world.user_file("slow")).unwrap();
    world.until("it is gone", |world| !world.serves("slow"));
    std::fs::write(world.root.path().join("go"), "").unwrap();
    let outcome = running.await.unwrap();
    assert!(outcome.success, "{}", outcome.output);
    assert_eq!(outcome.data["stdout"], "old");
    assert_eq!(world.fails("slow", json!({})).await.0, "TOOL_NOT_FOUND");
}

#[tokio::test]
async fn tools_come_and_go_from_rust_too() {
    let world = World::new();
    world.user_tool("mine", "command = [\"printf\", \"file\"]");
    let registry = world.crib.executor().registry();
    let tool = registry.get("mine").unwrap();
    assert!(registry.unregister("mine"));
    assert_eq!(world.fails("mine", json!({})).await.0, "TOOL_NOT_FOUND");
    registry.register_dyn(tool).unwrap();
    assert_eq!(world.ok("mine", json!({})).await.data["stdout"], "file");
    // What Rust has put there is not a file's to take.
    assert!(registry.unregister("mine"));
    let text = file("mine", "command = [\"printf\", \"rust\"]");
    let workspace = world.crib.workspace().read_only();
    let trust = toolcrib::external::Trust::of(None);
    let user = toolcrib::external::Origin::User;
    let own: Arc<dyn DynTool> =
        Arc::new(toolcrib::external::CommandTool::new(text.as_bytes(), user, &workspace, &trust).unwrap());
    registry.register_dyn(own).unwrap();
    World::put(&world.user_file("mine"), &file("mine", "command = [\"printf\", \"changed\"]"));
    world.crib.external_tools().unwrap().reload();
    assert_eq!(world.ok("mine", json!({})).await.data["stdout"], "rust");
    assert!(world.problem("mine.tool.toml").unwrap().contains("there already"));
    std::fs::remove_file(world.user_file("mine")).unwrap();
    world.crib.external_tools().unwrap().reload();
    assert_eq!(world.ok("mine", json!({})).await.data["stdout"], "rust");
}
