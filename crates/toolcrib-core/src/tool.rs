//! The contract: [`Tool`] as authors write it, and [`DynTool`], its erased form that the executor runs.

use std::future::Future;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::context::{CallContext, InitContext};
use crate::effects::Effects;
use crate::error::ToolError;
use crate::executor::validate::Violation;
use crate::permission::BoxFuture;
use crate::render::Render;
use crate::schema::schema_of;
use crate::spec::ToolSpec;

/// What is wrong with an input, beyond what the schema says.
pub type Violations = Vec<Violation>;

/// What a call would do, computed without doing it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Preview {
    /// In a line.
    pub title: String,
    /// In full: a diff, a command.
    pub text: String,
}

/// Something a model can call. Doc comments on `Input`'s fields become the parameters' descriptions.
pub trait Tool: Send + Sync + 'static {
    /// What it takes.
    type Input: DeserializeOwned + JsonSchema + Send + Sync + 'static;
    /// What it gives: data, and how to show it.
    type Output: Serialize + Render + Send + Sync + 'static;

    /// The static description. Called once, at registration.
    fn spec(&self) -> ToolSpec;

    /// What this particular call will touch.
    fn effects(&self, input: &Self::Input) -> Effects;

    /// Does the work.
    fn run(
        &self,
        cx: &CallContext,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, ToolError>> + Send;

    /// Checks what the schema cannot say.
    fn check(&self, _input: &Self::Input) -> Result<(), Violations> {
        Ok(())
    }

    /// Says what would happen, without doing it.
    fn preview(
        &self,
        _cx: &CallContext,
        input: &Self::Input,
    ) -> impl Future<Output = Result<Preview, ToolError>> + Send {
        let effects = self.effects(input);
        async move { Ok(Preview { title: describe(&effects), text: String::new() }) }
    }

    /// Called once, before the first call.
    fn initialize(&self, _cx: &InitContext) -> impl Future<Output = Result<(), ToolError>> + Send {
        async { Ok(()) }
    }

    /// Called once, at the end.
    fn shutdown(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// Effects in a line, for tools without a preview of their own.
fn describe(effects: &Effects) -> String {
    let commands: Vec<String> = effects.commands.iter().map(|command| command.text.clone()).collect();
    let parts = [
        ("would read", &effects.reads),
        ("would write", &effects.writes),
        ("would run", &commands),
        ("would reach", &effects.hosts),
    ];
    let said: Vec<String> = parts
        .iter()
        .filter(|(_, items)| !items.is_empty())
        .map(|(verb, items)| format!("{verb} {}", items.join(", ")))
        .collect();
    if said.is_empty() { "would change nothing outside the session".to_owned() } else { said.join("; ") }
}

/// What a tool returned: data for programs, and a view to render.
pub struct ToolOutput {
    /// The output, serialized.
    pub data: Value,
    /// How to show it.
    pub view: Box<dyn Render + Send + Sync>,
}

/// A tool with its types erased: JSON in, rendered output out. Tools whose schema is only known at run time implement
/// it directly; typed ones get it from [`erase`].
pub trait DynTool: Send + Sync + 'static {
    /// The static description, with its input schema.
    fn spec(&self) -> &ToolSpec;

    /// Decodes and checks an input that satisfies the schema.
    fn bind(self: Arc<Self>, input: Value) -> Result<Box<dyn BoundCall>, Violations>;

    /// Called once, before the first call.
    fn initialize<'a>(&'a self, _cx: &'a InitContext) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async { Ok(()) })
    }

    /// Called once, at the end.
    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }
}

/// A tool with its decoded input, ready to run.
pub trait BoundCall: Send + Sync {
    /// What this call will touch.
    fn effects(&self) -> Effects;
    /// Says what would happen.
    fn preview<'a>(&'a self, cx: &'a CallContext) -> BoxFuture<'a, Result<Preview, ToolError>>;
    /// Does the work.
    fn run<'a>(self: Box<Self>, cx: &'a CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

/// Erases a typed tool.
pub fn erase<T: Tool>(tool: T) -> Arc<dyn DynTool> {
    let mut spec = tool.spec();
    if spec.input_schema.is_null() {
        spec.input_schema = schema_of::<T::Input>();
        // What the whole is for, the tool's own description says.
        if let Some(whole) = spec.input_schema.as_object_mut() {
            whole.remove("description");
        }
    }
    Arc::new(Erased { tool, spec })
}

struct Erased<T> {
    tool: T,
    spec: ToolSpec,
}

impl<T: Tool> DynTool for Erased<T> {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn bind(self: Arc<Self>, input: Value) -> Result<Box<dyn BoundCall>, Violations> {
        let input: T::Input = serde_json::from_value(input).map_err(|error| {
            // The schema said yes, so this is about a number's range or a rule only serde knows.
            let got = error.to_string();
            vec![Violation { path: String::new(), expected: "values within their range".into(), got }]
        })?;
        self.tool.check(&input)?;
        Ok(Box::new(Bound { tool: self, input }))
    }

    fn initialize<'a>(&'a self, cx: &'a InitContext) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(self.tool.initialize(cx))
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.tool.shutdown())
    }
}

struct Bound<T: Tool> {
    tool: Arc<Erased<T>>,
    input: T::Input,
}

impl<T: Tool> BoundCall for Bound<T> {
    fn effects(&self) -> Effects {
        self.tool.tool.effects(&self.input)
    }

    fn preview<'a>(&'a self, cx: &'a CallContext) -> BoxFuture<'a, Result<Preview, ToolError>> {
        Box::pin(self.tool.tool.preview(cx, &self.input))
    }

    fn run<'a>(self: Box<Self>, cx: &'a CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let Self { tool, input } = *self;
            let output = tool.tool.run(cx, input).await?;
            let data = serde_json::to_value(&output).map_err(ToolError::internal)?;
            Ok(ToolOutput { data, view: Box::new(output) })
        })
    }
}
