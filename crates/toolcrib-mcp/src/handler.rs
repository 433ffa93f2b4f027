//! The handler: one for each connection, and one for each request of the protocol without sessions.

#![allow(
    deprecated,
    reason = "the older protocol's subscriptions and log levels are what older clients speak"
)]

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use tokio_util::sync::CancellationToken;
use toolcrib_core::Session;

use crate::call::{self, Incoming, is_modern};
use crate::changes::Seen;
use crate::server::{ResourceBody, ResourceInfo, Server, Shared, session};

/// How long a client may keep the list of tools. It is told when the list changes.
const TOOLS_FRESH_MS: u64 = 300_000;
/// How long it may keep what else it reads: other calls may write new files.
const OTHERS_FRESH_MS: u64 = 1_000;

pub(crate) struct Handler {
    shared: Arc<Shared>,
    session: Arc<Session>,
    /// Whether requests without a session come from anybody: over HTTP, but not on a pipe of one's own.
    many: bool,
    /// What the client may know of: whatever changes after it came, it is told.
    seen: Seen,
    gone: CancellationToken,
}

impl Handler {
    /// A handler for one client.
    pub(crate) fn new(server: &Server, many: bool) -> Self {
        Self {
            shared: Arc::clone(&server.0),
            session: server.0.session(),
            many,
            seen: server.0.changes.seen(),
            gone: CancellationToken::new(),
        }
    }

    /// The conversation of a request. Over HTTP without sessions there is none: what must be known from one
    /// call to the next (which files were read) is then known of all such clients together, and nothing else
    /// is.
    fn session(&self, cx: &RequestContext<RoleServer>) -> (Arc<Session>, bool) {
        if self.many && is_modern(cx) { (session("mcp"), false) } else { (Arc::clone(&self.session), true) }
    }

    async fn off_reactor<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let shared = Arc::clone(&self.shared);
        let work = tokio::task::spawn_blocking(move || work(&shared));
        work.await.map_err(|_| ErrorData::internal_error("reading failed", None))
    }
}

impl Drop for Handler {
    fn drop(&mut self) {
        self.gone.cancel();
        if let Some(ended) = &self.shared.options.ended {
            ended(&self.session.id);
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let options = &self.shared.options;
        let mut capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        if options.resources.is_some() {
            capabilities.resources = Some(ResourcesCapability::default());
        }
        if options.conformance.is_some() {
            capabilities = ServerCapabilities::builder()
                .enable_logging()
                .enable_prompts()
                .enable_prompts_list_changed()
                .enable_resources()
                .enable_resources_subscribe()
                .enable_tools()
                .enable_tool_list_changed()
                .build();
        }
        let info = Implementation::new("toolcrib", env!("CARGO_PKG_VERSION")).with_title("Toolcrib");
        let config = ServerConfig::new(capabilities).with_server_info(info);
        match &options.instructions {
            Some(instructions) => config.with_instructions(instructions.clone()),
            None => config,
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.shared.tools();
        Ok(ListToolsResult::with_all_items(tools.as_ref().clone())
            .with_ttl_ms(TOOLS_FRESH_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (session, keeps_session) = self.session(&cx);
        call::call(&self.shared, Incoming { session, keeps_session, request, cx }).await
    }

    async fn on_initialized(&self, cx: NotificationContext<RoleServer>) {
        tokio::spawn(tell(cx.peer, self.seen.clone(), self.gone.clone()));
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let Seen { mut tools, mut prompts } = self.seen.clone();
        // What the client did not subscribe to is refused by the sink, which is no reason to end.
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                Ok(()) = tools.changed() => { let _ = context.sink().notify_tool_list_changed().await; }
                Ok(()) = prompts.changed() => { let _ = context.sink().notify_prompt_list_changed().await; }
                else => return Ok(()),
            }
        }
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let pack = self.shared.options.conformance.as_ref();
        let mut all = match &self.shared.options.resources {
            None if pack.is_none() => return Err(ErrorData::method_not_found::<ListResourcesRequestMethod>()),
            None => Vec::new(),
            Some(resources) => {
                let resources = Arc::clone(resources);
                let listed = self.off_reactor(move |_| resources.list()).await?;
                listed.into_iter().map(resource).collect()
            }
        };
        all.extend(pack.map(|pack| pack.resources()).unwrap_or_default());
        Ok(ListResourcesResult::with_all_items(all)
            .with_ttl_ms(OTHERS_FRESH_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let options = &self.shared.options;
        if options.resources.is_none() && options.conformance.is_none() {
            return Err(ErrorData::method_not_found::<ListResourceTemplatesRequestMethod>());
        }
        let all = options.conformance.as_ref().map(|pack| pack.templates()).unwrap_or_default();
        Ok(ListResourceTemplatesResult::with_all_items(all)
            .with_ttl_ms(TOOLS_FRESH_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let options = &self.shared.options;
        if options.resources.is_none() && options.conformance.is_none() {
            return Err(ErrorData::method_not_found::<ReadResourceRequestMethod>());
        }
        let uri = request.uri;
        let mut found = options.conformance.as_ref().and_then(|pack| pack.read(&uri));
        if let (None, Some(resources)) = (&found, &options.resources) {
            let (resources, wanted) = (Arc::clone(resources), uri.clone());
            let read = self.off_reactor(move |_| resources.read(&wanted)).await?;
            found = match read {
                None => None,
                Some(Ok((mime, body))) => Some(contents(&uri, mime, body)),
                Some(Err(why)) => return Err(ErrorData::internal_error(why, None)),
            };
        }
        let Some(contents) = found else {
            let data = serde_json::json!({"uri": uri});
            return Err(ErrorData::resource_not_found(format!("there is no resource {uri:?}"), Some(data)));
        };
        Ok(ReadResourceResult::new(vec![contents])
            .with_ttl_ms(OTHERS_FRESH_MS)
            .with_cache_scope(CacheScope::Private)
            .into())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match &self.shared.options.conformance {
            Some(pack) => pack.subscribe(&request.uri),
            None => Err(ErrorData::method_not_found::<SubscribeRequestMethod>()),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match &self.shared.options.conformance {
            Some(pack) => pack.subscribe(&request.uri),
            None => Err(ErrorData::method_not_found::<UnsubscribeRequestMethod>()),
        }
    }

    async fn list_prompts(
        &self,
        _page: Option<PaginatedRequestParams>,
        _cx: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        match &self.shared.options.conformance {
            Some(pack) => Ok(ListPromptsResult::with_all_items(pack.prompts())
                .with_ttl_ms(TOOLS_FRESH_MS)
                .with_cache_scope(CacheScope::Private)),
            None => Err(ErrorData::method_not_found::<ListPromptsRequestMethod>()),
        }
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        match &self.shared.options.conformance {
            Some(pack) => pack.prompt(request),
            None => Err(ErrorData::method_not_found::<GetPromptRequestMethod>()),
        }
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _cx: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        match &self.shared.options.conformance {
            Some(_) => Ok(()),
            None => Err(ErrorData::method_not_found::<SetLevelRequestMethod>()),
        }
    }
}

/// Tells a client of the older protocol about changes, as long as it is there.
async fn tell(peer: Peer<RoleServer>, seen: Seen, gone: CancellationToken) {
    let Seen { mut tools, mut prompts } = seen;
    loop {
        let told = tokio::select! {
            () = gone.cancelled() => return,
            Ok(()) = tools.changed() => peer.notify_tool_list_changed().await,
            Ok(()) = prompts.changed() => peer.notify_prompt_list_changed().await,
            else => return,
        };
        if told.is_err() {
            return;
        }
    }
}

fn resource(info: ResourceInfo) -> Resource {
    let resource =
        Resource::new(info.uri, info.name).with_description(info.description).with_mime_type(info.mime);
    match info.size {
        Some(size) => resource.with_size(size),
        None => resource,
    }
}

fn contents(uri: &str, mime: String, body: ResourceBody) -> ResourceContents {
    match body {
        ResourceBody::Text(text) => ResourceContents::text(text, uri),
        ResourceBody::Bytes(bytes) => ResourceContents::blob(STANDARD.encode(bytes), uri),
    }
    .with_mime_type(mime)
}
