//! The tool that a file describes: a program, started with arguments that a call fills in.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use toolcrib_core::executor::validate::Validator;
use toolcrib_core::permission::BoxFuture;
use toolcrib_core::sanitize::visible_path;
use toolcrib_core::schema::inline_refs;
use toolcrib_core::spec::Example;
use toolcrib_core::{
    BoundCall, CallContext, CommandEffect, DynTool, Effects, Judgement, Preview, ToolError, ToolOutput,
    ToolSpec, Violations,
};
use toolcrib_process::{Commands, Program, Request, shell};
use toolcrib_tools::commands::{self, CommandSpill};
use toolcrib_workspace::{Hash, ReadWorkspace};

use crate::folders::Origin;
use crate::manifest::{MAX_BYTES, Manifest, Results};
use crate::node::Problem;
use crate::output;
use crate::template;
use crate::trust::Trust;

/// What the executor waits longer than the program may take.
const TO_STOP: Duration = Duration::from_secs(1);

/// A program as a tool.
pub struct CommandTool {
    spec: ToolSpec,
    pub(crate) manifest: Manifest,
    /// The parameters where references could not all be written out for models.
    parameters: Option<Validator>,
    pub(crate) result: Option<Validator>,
    pub(crate) origin: Origin,
    content: Hash,
    workspace: ReadWorkspace,
    trust: Trust,
}

impl CommandTool {
    /// The tool of a file with this content.
    ///
    /// # Errors
    /// What is wrong with the file, with its line.
    pub fn new(
        content: &[u8],
        origin: Origin,
        workspace: &ReadWorkspace,
        trust: &Trust,
    ) -> Result<Self, Problem> {
        let manifest = Manifest::parse(content)?;
        let validator = |schema: &Value| Validator::new(schema).map_err(Problem::whole);
        let result = match &manifest.results {
            Results::Json(Some(schema)) => Some(validator(schema)?),
            _ => None,
        };
        let inlined = inline_refs(&manifest.parameters);
        // References that name each other can ask for far more than they take themselves.
        if inlined.to_string().len() > MAX_BYTES {
            return Err(Problem::whole(format!(
                "`parameters`: more than {MAX_BYTES} bytes once its references are written out"
            )));
        }
        let parameters =
            if inlined == manifest.parameters { None } else { Some(validator(&manifest.parameters)?) };
        Ok(Self {
            spec: spec(&manifest, origin, inlined),
            manifest,
            parameters,
            result,
            origin,
            content: Hash::of(content),
            workspace: workspace.clone(),
            trust: trust.clone(),
        })
    }

    /// The content that it was made of.
    pub fn content(&self) -> &Hash {
        &self.content
    }

    /// Whether its calls are judged like any others: the user's own files, and those of the project that the user
    /// has looked at.
    pub fn is_trusted(&self) -> bool {
        self.origin == Origin::User || self.trust.holds(&self.content)
    }
}

fn spec(manifest: &Manifest, origin: Origin, input_schema: Value) -> ToolSpec {
    let mut spec = ToolSpec::new(&manifest.name, &manifest.title, &manifest.description)
        .capabilities(manifest.capabilities)
        .timeout(manifest.timeout + TO_STOP);
    // Only for tools that come with Toolcrib the workspace's name is filled in.
    spec.description = spec.description.replace("${", "$ {");
    spec.version = manifest.version.clone();
    spec.input_schema = input_schema;
    spec.origin = Some(origin.as_str().to_owned());
    let whole = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some("object");
    if let Results::Json(Some(schema)) = &manifest.results {
        spec.output_schema = Some(schema).filter(whole).map(inline_refs);
    }
    let example = |input: &Value| Example { title: "an example", input: input.clone() };
    spec.examples = manifest.examples.iter().map(example).collect();
    spec
}

impl DynTool for CommandTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn bind(self: Arc<Self>, input: Value) -> Result<Box<dyn BoundCall>, Violations> {
        if let Some(violations) = self.parameters.as_ref().map(|schema| schema.check(&input))
            && !violations.is_empty()
        {
            return Err(violations);
        }
        let empty = serde_json::Map::new();
        let fields = input.as_object().unwrap_or(&empty);
        let argv = template::fill(&self.manifest.command, fields)?;
        let mut env = Vec::new();
        for (name, text) in &self.manifest.env {
            let value = text.fill(fields).map_err(|violation| vec![violation])?;
            env.extend(value.map(|value| (name.clone(), value)));
        }
        let stdin = self.manifest.json_input.then(|| format!("{input}\n"));
        Ok(Box::new(Filled { tool: self, argv, env, stdin }))
    }
}

/// A call with everything filled in.
struct Filled {
    tool: Arc<CommandTool>,
    argv: Vec<String>,
    env: Vec<(String, String)>,
    stdin: Option<String>,
}

impl Filled {
    fn network(&self) -> bool {
        self.tool.manifest.capabilities.accesses_network
    }

    /// The time that the program has: what the caller allowed, or else what the file says.
    fn timeout(&self, cx: &CallContext) -> Duration {
        let of_call =
            cx.allowed_time().map(|time| time.saturating_sub(Duration::from_millis(100)).max(time / 2));
        of_call.unwrap_or(self.tool.manifest.timeout)
    }
}

impl BoundCall for Filled {
    fn effects(&self) -> Effects {
        let (tool, cwd) = (&self.tool, self.tool.manifest.cwd.as_deref());
        let analysis = shell::analyse_argv(&self.argv, &commands::surroundings(&tool.workspace, cwd));
        let mut effects = commands::effects(&tool.workspace, &analysis, cwd, self.network());
        if effects.commands.is_empty() {
            effects.commands.push(CommandEffect {
                text: visible_path(&commands::typed(&self.argv)).into_owned(),
                words: Vec::new(),
                prefix: 0,
                bare: false,
                judgement: Judgement::Risky("nothing is known of it".into()),
            });
        }
        if !tool.is_trusted() {
            let why = untrusted(&tool.spec.name);
            for command in &mut effects.commands {
                if !matches!(command.judgement, Judgement::Forbidden(_)) {
                    command.judgement = Judgement::Risky(why.clone());
                }
            }
        }
        effects
    }

    fn preview<'a>(&'a self, cx: &'a CallContext) -> BoxFuture<'a, Result<Preview, ToolError>> {
        Box::pin(async move {
            let manifest = &self.tool.manifest;
            let cwd = manifest.cwd.clone();
            cx.blocking(move |cx| commands::directory(cx, cwd.as_deref())).await?;
            // What follows the command must not be mistaken for a line of it, nor a line of it for that.
            let mut text = format!("$ {}", commands::typed(&self.argv).replace('\n', "\n  "));
            for (name, value) in &self.env {
                text.push_str(&format!("\nwith {name}={}", visible_path(value)));
            }
            if let Some(cwd) = &manifest.cwd {
                text.push_str(&format!("\nin {}", visible_path(cwd)));
            }
            if self.network() {
                text.push_str("\nwith the network");
            }
            if let Some(stdin) = &self.stdin {
                text.push_str(&format!(
                    "\nwith this on its standard input: {}",
                    visible_path(stdin.trim_end())
                ));
            }
            text.push_str(&format!("\nas the {}'s tool {} says", self.tool.origin.as_str(), manifest.name));
            Ok(Preview { title: format!("would run {}", output::short(&self.argv)), text })
        })
    }

    fn run<'a>(self: Box<Self>, cx: &'a CallContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let manifest = &self.tool.manifest;
            let cwd = manifest.cwd.clone();
            let cwd = cx.blocking(move |cx| commands::directory(cx, cwd.as_deref())).await?;
            if !self.tool.is_trusted() {
                cx.warn(untrusted(&manifest.name));
            }
            let request = Request {
                network: self.network(),
                read_only: !manifest.capabilities.writes_files,
                input: self.stdin.is_some(),
                env: self.env.clone(),
                timeout: Some(self.timeout(cx)),
                spill: [CommandSpill::of(cx, "stdout"), CommandSpill::of(cx, "stderr")],
                ..Request::new(Program::Argv(self.argv.clone()), cwd)
            };
            let engine = cx.get::<Commands>()?;
            // Finding out what the machine can do takes a few milliseconds, the first time.
            let ready = engine.clone();
            cx.blocking(move |_| ready.level().map(drop).map_err(|error| commands::not_started(&error)))
                .await?;
            let process = engine.start(request).await.map_err(|error| commands::not_started(&error))?;
            let feed = async {
                let Some(stdin) = &self.stdin else { return };
                match process.input(stdin.as_bytes(), true).await {
                    Err(error) if error.kind() == std::io::ErrorKind::TimedOut => {
                        cx.warn("the program did not read all of its input");
                    }
                    // A program need not read what it is given.
                    _ => {}
                }
            };
            tokio::join!(feed, commands::watch(cx, &process, None));
            output::of(cx, &self.tool, &self.argv, &process)
        })
    }
}

fn untrusted(name: &str) -> String {
    format!(
        "{name} comes from this project, and nobody has trusted it yet: look at it, then \
         `toolcrib tools trust {name}`"
    )
}
