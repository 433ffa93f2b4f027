//! `todo_write`: the task list of the conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolcrib_core::executor::validate::Violation;
use toolcrib_core::{
    CallContext, Capabilities, Effects, Render, RenderContext, Tool, ToolError, ToolSpec, Violations,
};

use crate::support::sessions::{Todo, TodoStatus, state_of};

/// Replaces the task list.
pub struct TodoWrite;

/// The new list.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// All tasks, in order.
    #[schemars(length(max = 200))]
    pub todos: Vec<Todo>,
}

/// How many tasks stand where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pending: usize,
    in_progress: usize,
    completed: usize,
}

/// The list.
#[derive(Serialize)]
pub struct Output {
    todos: Vec<Todo>,
    counts: Counts,
}

impl Output {
    pub(crate) fn new(todos: Vec<Todo>) -> Self {
        let count = |status: TodoStatus| todos.iter().filter(|todo| todo.status == status).count();
        let counts = Counts {
            pending: count(TodoStatus::Pending),
            in_progress: count(TodoStatus::InProgress),
            completed: count(TodoStatus::Completed),
        };
        Self { todos, counts }
    }
}

impl Tool for TodoWrite {
    type Input = Input;
    type Output = Output;

    fn spec(&self) -> ToolSpec {
        ToolSpec::new("todo_write", "Write tasks", include_str!("description.md"))
            .capabilities(Capabilities { idempotent: true, ..Capabilities::default() })
            .example(
                "two tasks",
                json!({"todos": [
                    {"content": "Add the parser", "status": "in_progress", "active_form": "Adding the parser"},
                    {"content": "Test the parser", "status": "pending"}
                ]}),
            )
    }

    fn effects(&self, _input: &Input) -> Effects {
        Effects::none()
    }

    fn check(&self, input: &Input) -> Result<(), Violations> {
        let mut wrong = Vec::new();
        let active = input.todos.iter().filter(|todo| todo.status == TodoStatus::InProgress).count();
        if active > 1 {
            wrong.push(Violation {
                path: "todos".into(),
                expected: "at most one task in_progress".into(),
                got: active.to_string(),
            });
        }
        for (index, todo) in input.todos.iter().enumerate() {
            if todo.content.trim().is_empty() || todo.content.len() > 2_000 {
                wrong.push(Violation {
                    path: format!("todos[{index}].content"),
                    expected: "a text of 1 to 2000 bytes".into(),
                    got: format!("{} bytes", todo.content.trim().len()),
                });
            }
        }
        if wrong.is_empty() { Ok(()) } else { Err(wrong) }
    }

    async fn run(&self, cx: &CallContext, input: Input) -> Result<Output, ToolError> {
        let state = state_of(cx)?;
        state.set_todos(input.todos.clone());
        Ok(Output::new(input.todos))
    }
}

impl Render for Output {
    fn title(&self) -> String {
        let Counts { pending, in_progress, completed } = self.counts;
        format!("Tasks: {completed} completed, {in_progress} in progress, {pending} pending")
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        if self.todos.is_empty() {
            return "The task list is empty.".into();
        }
        let line = |todo: &Todo| {
            let mark = match todo.status {
                TodoStatus::Pending => "[ ]",
                TodoStatus::InProgress => "[>]",
                TodoStatus::Completed => "[x]",
            };
            format!("{mark} {}", todo.content)
        };
        self.todos.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn preview(&self) -> Vec<String> {
        self.text(&mut RenderContext::plain()).lines().take(8).map(str::to_owned).collect()
    }
}
