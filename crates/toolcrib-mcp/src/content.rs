//! From an outcome to the protocol's words.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use toolcrib_core::Outcome;
use toolcrib_core::outcome::Attachment;

/// The result of a call. Data goes along only where the tool declares its shape: then it is the whole answer.
/// Clients that get both show the model only the data, so everywhere else there is text alone.
pub(crate) fn result(outcome: Outcome, declares_data: bool) -> CallToolResult {
    let mut content = Vec::new();
    if !outcome.output.is_empty() || outcome.attachments.is_empty() {
        content.push(ContentBlock::text(outcome.output));
    }
    content.extend(outcome.attachments.into_iter().map(block));
    if !outcome.success {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    if declares_data {
        result.structured_content = Some(outcome.data);
    }
    result
}

fn block(attachment: Attachment) -> ContentBlock {
    let Attachment { mime, name, base64 } = attachment;
    if mime.starts_with("image/") {
        return ContentBlock::image(base64, mime);
    }
    if mime.starts_with("audio/") {
        return ContentBlock::audio(base64, mime);
    }
    let uri = if name.contains("://") { name } else { format!("attachment:///{name}") };
    let text = mime.starts_with("text/") || mime == "application/json";
    let decoded = text.then(|| String::from_utf8(STANDARD.decode(&base64).ok()?).ok()).flatten();
    let contents = match decoded {
        Some(text) => ResourceContents::text(text, uri),
        None => ResourceContents::blob(base64, uri),
    };
    ContentBlock::resource(contents.with_mime_type(mime))
}
