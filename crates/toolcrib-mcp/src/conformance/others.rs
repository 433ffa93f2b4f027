//! Its prompts and resources.

use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, InputRequiredResult, Prompt, PromptArgument,
    PromptMessage, Resource, ResourceContents, ResourceTemplate,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Pack, filled_value, question};

#[derive(Deserialize)]
pub(super) struct Others {
    prompts: Vec<PromptFixture>,
    resources: Vec<ResourceFixture>,
}

#[derive(Deserialize)]
struct PromptFixture {
    name: String,
    description: String,
    arguments: Option<Vec<PromptArgument>>,
    #[serde(default)]
    ask: Map<String, Value>,
    messages: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceFixture {
    uri: String,
    name: String,
    mime_type: String,
    text: Option<String>,
    blob: Option<String>,
}

impl Pack {
    pub(crate) fn prompts(&self) -> Vec<Prompt> {
        let all = self.others.prompts.iter();
        all.map(|prompt| Prompt::new(&prompt.name, Some(&prompt.description), prompt.arguments.clone()))
            .collect()
    }

    pub(crate) fn prompt(&self, request: GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = self.others.prompts.iter().find(|prompt| prompt.name == request.name) else {
            return Err(ErrorData::invalid_params(format!("there is no prompt {:?}", request.name), None));
        };
        let answers = request.input_responses.unwrap_or_default();
        if !prompt.ask.keys().all(|key| answers.get(key).is_some_and(Value::is_object)) {
            let questions: Map<String, Value> =
                prompt.ask.iter().map(|(key, short)| (key.clone(), question(short))).collect();
            let requests = serde_json::from_value(Value::Object(questions)).map_err(wrong)?;
            return Ok(InputRequiredResult::from_input_requests(requests).into());
        }
        let known = json!({"arguments": request.arguments.unwrap_or_default(), "answers": answers});
        let messages: Vec<PromptMessage> =
            serde_json::from_value(filled_value(&prompt.messages, &known)).map_err(wrong)?;
        Ok(GetPromptResult::new(messages).with_description(&prompt.description).into())
    }

    pub(crate) fn resources(&self) -> Vec<Resource> {
        let all = self.others.resources.iter();
        all.map(|resource| Resource::new(&resource.uri, &resource.name).with_mime_type(&resource.mime_type))
            .collect()
    }

    pub(crate) fn templates(&self) -> Vec<ResourceTemplate> {
        vec![
            ResourceTemplate::new("test://template/{id}/data", "Dynamic Resource")
                .with_mime_type("application/json"),
        ]
    }

    pub(crate) fn read(&self, uri: &str) -> Option<ResourceContents> {
        if let Some(id) = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data")) {
            let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
            return Some(ResourceContents::text(data.to_string(), uri).with_mime_type("application/json"));
        }
        let found = self.others.resources.iter().find(|resource| resource.uri == uri)?;
        let contents = match (&found.text, &found.blob) {
            (Some(text), _) => ResourceContents::text(text, uri),
            (None, blob) => ResourceContents::blob(blob.clone().unwrap_or_default(), uri),
        };
        Some(contents.with_mime_type(&found.mime_type))
    }
}

fn wrong(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
