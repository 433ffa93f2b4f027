//! The crib as an MCP server.

use std::io;
use std::sync::Arc;

use toolcrib_mcp::{Options, ResourceBody, ResourceInfo, Resources, Server};
use toolcrib_workspace::{ReadWorkspace, Workspace};

use crate::Toolcrib;

/// The largest resource that is read.
const MAX_BYTES: u64 = 16 << 20;
/// The mount of long outputs.
const SPILL: &str = "spill://";

impl Toolcrib {
    /// A server for the tools of this crib, to be served with [`toolcrib_mcp::serve_stdio`] or
    /// [`toolcrib_mcp::Http`]. What is not set in `options` is filled in: the workspace's name, long outputs as
    /// resources, and what ends with a session.
    ///
    /// ```no_run
    /// # use toolcrib::{PolicyMode, Toolcrib};
    /// # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    /// let crib = Toolcrib::builder().root(".").policy(PolicyMode::Auto).build()?;
    /// let server = crib.mcp_server(Default::default())?;
    /// toolcrib::mcp::serve_stdio(&server, Default::default()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn mcp_server(&self, mut options: Options) -> io::Result<Server> {
        if options.workspace.is_empty() {
            options.workspace = workspace_name(self.workspace());
        }
        let files = Spilled(self.workspace().read_only());
        options.resources.get_or_insert_with(|| Arc::new(files));
        let (states, table) = (self.sessions().clone(), self.processes().clone());
        options.ended.get_or_insert_with(|| {
            Arc::new(move |session: &str| {
                states.remove(session);
                // Nobody is left who could stop them.
                table.stop_session(session);
            })
        });
        Server::new(self.executor().clone(), options)
    }
}

fn workspace_name(workspace: &Workspace) -> String {
    let first = workspace.roots().into_iter().find(|root| root.mount.is_none()).and_then(|root| root.path);
    let name = first.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    name.unwrap_or_else(|| "the workspace".into())
}

/// Outputs that were too long for the model.
struct Spilled(ReadWorkspace);

impl Resources for Spilled {
    fn list(&self) -> Vec<ResourceInfo> {
        let mut found: Vec<_> = self
            .0
            .list(SPILL)
            .unwrap_or_default()
            .into_iter()
            .filter_map(|(entry, stat)| {
                let name = entry.name.into_string().ok()?;
                Some(ResourceInfo {
                    uri: format!("{SPILL}{name}"),
                    name,
                    description: "An output of a call that was too long to show.".into(),
                    mime: "text/plain".into(),
                    size: Some(stat.size),
                })
            })
            .collect();
        found.sort_by(|a, b| a.uri.cmp(&b.uri));
        found
    }

    fn read(&self, uri: &str) -> Option<Result<(String, ResourceBody), String>> {
        // Files of the workspace are for the tools, which ask the policy.
        let name = uri.strip_prefix(SPILL)?;
        if name.is_empty() || name.contains(['/', '\\']) {
            return None;
        }
        match self.0.read(uri, MAX_BYTES) {
            Ok(file) => Some(Ok(match String::from_utf8(file.bytes) {
                Ok(text) => ("text/plain".into(), ResourceBody::Text(text)),
                Err(bytes) => ("application/octet-stream".into(), ResourceBody::Bytes(bytes.into_bytes())),
            })),
            Err(error) if error.kind() == toolcrib_workspace::ErrorKind::NotFound => None,
            Err(error) => Some(Err(error.to_string())),
        }
    }
}
