//! How the registry is shown to a model: which tools, under which names and parameter names. A profile is data.
//!
//! Arguments are repaired and validated in the profile's own names, so that every message speaks the caller's
//! dialect; only then are they translated to the tool's.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::declarations::ToolView;
use crate::executor::validate::Validator;
use crate::outcome::Hint;
use crate::registry::Registry;
use crate::spec::Mode;
use crate::tool::DynTool;

/// A profile as it is written in TOML.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether every tool of the registry is shown under its own name.
    #[serde(default)]
    pub all: bool,
    /// The tools shown, in order.
    #[serde(default)]
    pub tools: Vec<ProfileEntry>,
}

/// One tool of a profile.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileEntry {
    /// The name shown.
    pub name: String,
    /// The tool, by its own name.
    pub tool: String,
    /// A description instead of the tool's own.
    pub description: Option<String>,
    /// Shown parameter → the tool's own. Absent: all, under their own names.
    pub params: Option<BTreeMap<String, Param>>,
    /// Parameters that must be given although the tool itself can do without.
    #[serde(default)]
    pub required: Vec<String>,
}

/// What a shown parameter stands for. `list[].field` names a field of a list's elements.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Param {
    /// The tool's parameter.
    To(String),
    /// The tool's parameter, translated.
    Mapped {
        /// The tool's parameter.
        to: String,
        /// A description instead of the tool's own.
        description: Option<String>,
        /// Shown value → the tool's.
        #[serde(default)]
        values: BTreeMap<String, String>,
        /// Added to a number on its way to the tool.
        #[serde(default)]
        add: i64,
        /// How many of the shown unit make one of the tool's: 1000 for milliseconds where it takes seconds.
        per: Option<f64>,
    },
    /// Accepted and ignored: models that know the dialect send it.
    Ignored {
        /// Its JSON type.
        ignore: String,
        /// Its description.
        description: Option<String>,
    },
}

impl Param {
    fn target(&self) -> Option<&str> {
        match self {
            Self::To(to) | Self::Mapped { to, .. } => Some(to),
            Self::Ignored { .. } => None,
        }
    }
}

impl Profile {
    /// Every tool under its own name.
    pub fn everything() -> Self {
        Self {
            name: "default".into(),
            description: "Every tool under its own name.".into(),
            all: true,
            tools: vec![],
        }
    }

    /// Reads a profile.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// Checks the profile against the registry: every tool and parameter must exist. Returns all that is wrong.
    pub fn bind(&self, registry: &Registry) -> Result<BoundProfile, Vec<String>> {
        let mut tools = Vec::new();
        let mut wrong = Vec::new();
        if self.all {
            tools.extend(registry.tools().into_iter().map(|tool| Arc::new(ProfileTool::plain(tool))));
        }
        for entry in &self.tools {
            let Some(tool) = registry.get(&entry.tool) else {
                wrong.push(format!("profile {}: there is no tool {:?}", self.name, entry.tool));
                continue;
            };
            if tools.iter().any(|other: &Arc<ProfileTool>| other.shown == entry.name) {
                wrong.push(format!("profile {}: {:?} is shown twice", self.name, entry.name));
            }
            let prefix = format!("profile {}, tool {}", self.name, entry.name);
            match ProfileTool::bind(entry, tool) {
                Ok(bound) => tools.push(Arc::new(bound)),
                Err(errors) => wrong.extend(errors.into_iter().map(|error| format!("{prefix}: {error}"))),
            }
        }
        // What a person added from outside is there in every dialect, under its own name.
        if !self.all {
            for tool in registry.tools().into_iter().filter(|tool| tool.spec().origin.is_some()) {
                let name = &tool.spec().name;
                if !tools.iter().any(|other| other.tool.spec().name == *name || other.shown == *name) {
                    tools.push(Arc::new(ProfileTool::plain(tool)));
                }
            }
        }
        if wrong.is_empty() { Ok(BoundProfile { name: self.name.clone(), tools }) } else { Err(wrong) }
    }
}

/// A profile whose tools and parameters were found in the registry.
pub struct BoundProfile {
    /// Its name.
    pub name: String,
    /// Its tools, in order.
    pub tools: Vec<Arc<ProfileTool>>,
}

impl BoundProfile {
    /// The tool shown under `name`.
    pub fn get(&self, name: &str) -> Option<&Arc<ProfileTool>> {
        self.tools.iter().find(|tool| tool.shown == name)
    }

    /// What declarations show, for the tools that can be used in `mode`.
    pub fn views(&self, mode: Mode, workspace: &str) -> Vec<ToolView> {
        self.tools
            .iter()
            .filter(|tool| tool.tool.spec().modes.contains(&mode))
            .map(|tool| tool.view(workspace))
            .collect()
    }

    /// A hint in the profile's names; `None` if the tool is not part of it.
    pub fn hint(&self, hint: &Hint) -> Option<String> {
        let tool = self.tools.iter().find(|tool| tool.tool.spec().name == hint.tool)?;
        let otherwise = || tool.to_shown(hint.otherwise.as_ref()?);
        let arguments = tool.to_shown(&hint.arguments).or_else(otherwise)?;
        Some(format!("{}: {} {arguments}", hint.why, tool.shown))
    }
}

/// One tool as a profile shows it.
pub struct ProfileTool {
    /// The name shown.
    pub shown: String,
    /// The tool.
    pub tool: Arc<dyn DynTool>,
    description: Option<String>,
    schema: Value,
    params: Option<BTreeMap<String, Param>>,
    validator: OnceLock<Result<Validator, String>>,
}

impl ProfileTool {
    fn plain(tool: Arc<dyn DynTool>) -> Self {
        Self {
            shown: tool.spec().name.clone(),
            description: None,
            schema: tool.spec().input_schema.clone(),
            params: None,
            validator: OnceLock::new(),
            tool,
        }
    }

    fn bind(entry: &ProfileEntry, tool: Arc<dyn DynTool>) -> Result<Self, Vec<String>> {
        let schema = shown_schema(&tool.spec().input_schema, entry)?;
        Ok(Self {
            shown: entry.name.clone(),
            description: entry.description.clone(),
            schema,
            params: entry.params.clone(),
            validator: OnceLock::new(),
            tool,
        })
    }

    /// The input schema, in shown names.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The compiled schema.
    pub(crate) fn validator(&self) -> Result<&Validator, &String> {
        self.validator.get_or_init(|| Validator::new(&self.schema)).as_ref()
    }

    /// What declarations show.
    pub fn view(&self, workspace: &str) -> ToolView {
        let spec = self.tool.spec();
        let capabilities = spec.capabilities;
        ToolView {
            name: self.shown.clone(),
            title: spec.title.clone(),
            description: self
                .description
                .clone()
                .unwrap_or_else(|| self.in_shown_names(&spec.described(workspace))),
            input_schema: self.schema.clone(),
            output_schema: spec.output_schema.clone(),
            read_only: capabilities.is_read_only(),
            destructive: !capabilities.is_read_only(),
            idempotent: capabilities.idempotent,
            open_world: capabilities.accesses_network,
        }
    }

    /// The tool's examples that can be told in shown names.
    pub fn examples(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        let examples = self.tool.spec().examples.iter();
        examples.filter_map(|example| Some((example.title, self.to_shown(&example.input)?)))
    }

    /// The first of them.
    pub fn example(&self) -> Option<Value> {
        self.examples().next().map(|(_, input)| input)
    }

    /// A description that names parameters in backticks, with the shown names.
    fn in_shown_names(&self, text: &str) -> String {
        let renamed = |text: String, (shown, param): (&String, &Param)| match param.target() {
            Some(own) if own != shown => text.replace(&format!("`{own}`"), &format!("`{shown}`")),
            _ => text,
        };
        self.params.iter().flatten().fold(text.to_owned(), renamed)
    }

    /// Translates arguments from shown names to the tool's own.
    pub(crate) fn to_native(&self, arguments: Value) -> Value {
        let (Some(params), Value::Object(shown)) = (&self.params, &arguments) else { return arguments };
        let mut native = Map::new();
        for (key, value) in shown {
            match params.get(key) {
                Some(Param::To(to)) => {
                    native.insert(to.clone(), rename_fields(key, value.clone(), params, true));
                }
                Some(Param::Mapped { to, values, add, per, .. }) => {
                    let value = rename_fields(key, value.clone(), params, true);
                    let value = scaled(translate(value, values, *add), per.map(|per| 1.0 / per));
                    native.insert(to.clone(), value);
                }
                Some(Param::Ignored { .. }) => {}
                None => {
                    native.insert(key.clone(), value.clone());
                }
            }
        }
        Value::Object(native)
    }

    /// Translates arguments from the tool's own names to shown ones; `None` if one of them is not shown.
    pub(crate) fn to_shown(&self, arguments: &Value) -> Option<Value> {
        let Some(params) = &self.params else { return Some(arguments.clone()) };
        let mut shown = Map::new();
        for (key, value) in arguments.as_object()? {
            let (name, param) = params.iter().find(|(_, param)| param.target() == Some(key.as_str()))?;
            let value = rename_fields(name, value.clone(), params, false);
            let value = match param {
                Param::Mapped { values, add, per, .. } => {
                    let back = values.iter().map(|(shown, native)| (native.clone(), shown.clone())).collect();
                    scaled(translate(value, &back, -*add), *per)
                }
                _ => value,
            };
            shown.insert(name.clone(), value);
        }
        Some(Value::Object(shown))
    }
}

fn translate(value: Value, values: &BTreeMap<String, String>, add: i64) -> Value {
    match &value {
        Value::String(text) => values.get(text).map_or(value.clone(), |to| json!(to)),
        Value::Number(number) if add != 0 => {
            number.as_i64().map_or(value.clone(), |number| json!(number.saturating_add(add)))
        }
        _ => value,
    }
}

/// A number in another unit.
fn scaled(value: Value, factor: Option<f64>) -> Value {
    match (value.as_f64(), factor) {
        (Some(number), Some(factor)) => json!(number * factor),
        _ => value,
    }
}

/// `todos[].activeForm` → (`todos`, `activeForm`).
fn split_field(name: &str) -> Option<(&str, &str)> {
    name.split_once("[].")
}

/// Renames the fields of a list's elements.
fn rename_fields(list: &str, value: Value, params: &BTreeMap<String, Param>, to_native: bool) -> Value {
    let Value::Array(items) = value else { return value };
    let renames: Vec<(&str, &str)> = params
        .iter()
        .filter_map(|(shown, param)| {
            let (shown_list, shown_field) = split_field(shown)?;
            let (_, native_field) = split_field(param.target()?)?;
            (shown_list == list).then_some(if to_native {
                (shown_field, native_field)
            } else {
                (native_field, shown_field)
            })
        })
        .collect();
    let rename = |item: Value| match item {
        Value::Object(fields) => Value::Object(
            fields
                .into_iter()
                .map(|(key, value)| {
                    let to = renames.iter().find(|(from, _)| *from == key).map(|(_, to)| (*to).to_owned());
                    (to.unwrap_or(key), value)
                })
                .collect(),
        ),
        other => other,
    };
    Value::Array(items.into_iter().map(rename).collect())
}

/// The tool's schema in shown names, or everything that does not fit.
fn shown_schema(native: &Value, entry: &ProfileEntry) -> Result<Value, Vec<String>> {
    let Some(params) = &entry.params else { return with_required(native.clone(), &entry.required) };
    let empty = Map::new();
    let properties = native.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut wrong = Vec::new();
    let mut shown = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for (shown_name, param) in params {
        let Some(target) = param.target() else { continue };
        let known = match split_field(target) {
            Some((list, field)) => properties
                .get(list)
                .and_then(|list| list.pointer("/items/properties"))
                .is_some_and(|fields| fields.get(field).is_some()),
            None => properties.contains_key(target),
        };
        if !known {
            wrong.push(format!("{shown_name}: the tool has no parameter {target:?}"));
        }
    }
    // The tool's own order, so that the important parameters stay first.
    for (name, schema) in properties {
        for (shown_name, param) in params.iter().filter(|(_, param)| param.target() == Some(name)) {
            shown.insert(shown_name.clone(), shown_property(shown_name, schema, param, params));
            if is_required(native, name) {
                required.push(json!(shown_name));
            }
        }
    }
    for name in
        native.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    {
        if !params.values().any(|param| param.target() == Some(name)) {
            wrong.push(format!("the required parameter {name:?} is not shown"));
        }
    }
    for (name, param) in params {
        if let Param::Ignored { ignore, description } = param {
            shown.insert(name.clone(), json!({"type": ignore, "description": description}));
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let schema = json!({
        "type": "object", "properties": shown, "required": required, "additionalProperties": false
    });
    with_required(schema, &entry.required)
}

fn is_required(schema: &Value, name: &str) -> bool {
    schema
        .get("required")
        .and_then(Value::as_array)
        .is_some_and(|required| required.iter().any(|item| item == name))
}

/// Adds to `required` what the profile demands besides.
fn with_required(mut schema: Value, more: &[String]) -> Result<Value, Vec<String>> {
    let known = |name: &String| schema.pointer("/properties").is_some_and(|all| all.get(name).is_some());
    if let Some(name) = more.iter().find(|name| !known(name)) {
        return Err(vec![format!("required: there is no parameter {name:?}")]);
    }
    if more.is_empty() {
        return Ok(schema);
    }
    if let Some(object) = schema.as_object_mut()
        && let Value::Array(required) = object.entry("required").or_insert_with(|| json!([]))
    {
        required.extend(more.iter().map(|name| json!(name)));
    }
    Ok(schema)
}

fn shown_property(name: &str, native: &Value, param: &Param, params: &BTreeMap<String, Param>) -> Value {
    let mut schema = native.clone();
    if let Param::Mapped { description, values, per, .. } = param {
        for bound in ["minimum", "maximum"] {
            if let Some(number) = schema.get_mut(bound) {
                *number = scaled(number.take(), *per);
            }
        }
        if let (Some(text), Some(fields)) = (description, schema.as_object_mut()) {
            fields.insert("description".into(), json!(text));
        }
        if !values.is_empty()
            && let Some(Value::Array(allowed)) = schema.get_mut("enum")
        {
            for item in allowed {
                if let Some((shown, _)) = values.iter().find(|(_, to)| item == to.as_str()) {
                    *item = json!(shown);
                }
            }
        }
    }
    rename_item_fields(name, &mut schema, params);
    schema
}

fn rename_item_fields(list: &str, schema: &mut Value, params: &BTreeMap<String, Param>) {
    let renames: Vec<(&str, &str)> = params
        .iter()
        .filter_map(|(shown, param)| {
            let (shown_list, shown_field) = split_field(shown)?;
            let (_, native_field) = split_field(param.target()?)?;
            (shown_list == list).then_some((native_field, shown_field))
        })
        .collect();
    let Some(items) = schema.get_mut("items").and_then(Value::as_object_mut) else { return };
    for (from, to) in renames {
        if let Some(Value::Object(fields)) = items.get_mut("properties") {
            *fields = std::mem::take(fields)
                .into_iter()
                .map(|(key, value)| if key == from { (to.to_owned(), value) } else { (key, value) })
                .collect();
        }
        if let Some(Value::Array(required)) = items.get_mut("required") {
            required.iter_mut().filter(|item| *item == from).for_each(|item| *item = json!(to));
        }
    }
}
