//! Stage 5: may this call be made? Fails closed, and is not timed.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::Executor;
use super::call::Call;
use super::run::caught;
use crate::activity::EventKind;
use crate::context::CallContext;
use crate::effects::Effects;
use crate::error::{ErrorCode, ToolError};
use crate::permission::{
    Answer, Approver, ConfirmRequest, Decision, Grant, GrantScope, PathResolver, PolicyRequest, ResolvedPath,
    Sensitivity,
};
use crate::render::{Render, RenderContext};
use crate::sanitize;
use crate::tool::{BoundCall, Preview, ToolOutput};

pub(super) async fn authorise(
    executor: &Executor,
    call: &mut Call,
    bound: &dyn BoundCall,
) -> Result<(), ToolError> {
    let (effects, sensitive) = resolved(executor, bound.effects(), &mut call.record.warnings)?;
    call.effects = effects;
    call.key = input_key(call)?;
    let tool = call.entry()?.tool.spec().name.clone();
    check_capabilities(call)?;
    let request = PolicyRequest {
        tool: &tool,
        permissions: call.permissions(),
        effects: &call.effects,
        sensitive: &sensitive,
        arguments: &call.arguments,
    };
    let decision = executor.0.policy.decide(&request);
    let grant = Grant::for_request(&request);
    let granted = call.session.granted(&request);
    match decision {
        Decision::Allow => Ok(()),
        Decision::Ask(_) if granted => Ok(()),
        Decision::Deny(reason) => Err(ToolError::new(ErrorCode::PermissionDenied, reason)),
        // A dry run changes nothing, so nobody is asked; its answer says that it would be.
        Decision::Ask(reason) if call.dry_run => {
            call.record.warnings.push(format!("this call would be asked for: {reason}"));
            Ok(())
        }
        Decision::Ask(reason) => ask(executor, call, bound, reason, grant).await,
    }
}

/// The effects in canonical paths, and the paths to be written that are worth a question.
fn resolved(
    executor: &Executor,
    effects: Effects,
    warnings: &mut Vec<String>,
) -> Result<(Effects, Vec<(String, String)>), ToolError> {
    let Some(paths) = &executor.0.paths else { return Ok((effects, Vec::new())) };
    let mut sensitive = Vec::new();
    let mut canonical = effects.clone();
    canonical.writes.clear();
    for path in &effects.writes {
        let resolved = paths.resolve(path, true)?;
        match resolved.sensitivity {
            Sensitivity::Normal => {}
            Sensitivity::Sensitive(reason) => sensitive.push((resolved.path.clone(), reason)),
            Sensitivity::Flagged(reason) => warnings.push(format!("{}: {reason}", resolved.path)),
        }
        canonical.writes.push(resolved.path);
    }
    canonical.reads = effects.reads.iter().map(|path| canonical_read(paths.as_ref(), path)).collect();
    Ok((canonical, sensitive))
}

/// Refuses a call whose paths have come to mean other files since it was permitted: while a person thought about it,
/// or while it waited for its turn.
pub(super) fn still_holds(executor: &Executor, call: &Call, bound: &dyn BoundCall) -> Result<(), ToolError> {
    let Some(paths) = &executor.0.paths else { return Ok(()) };
    for (path, permitted) in bound.effects().writes.iter().zip(&call.effects.writes) {
        if paths.resolve(path, true)?.path != *permitted {
            let shown = sanitize::visible_path(path);
            let message = format!("{shown} leads to another file than when the call was permitted");
            return Err(ToolError::new(ErrorCode::Conflict, message));
        }
    }
    Ok(())
}

/// What can't be resolved for reading is left to the tool, which reports it file by file.
fn canonical_read(paths: &dyn PathResolver, path: &str) -> String {
    paths.resolve(path, false).map_or_else(|_| path.to_owned(), |resolved| resolved.path)
}

/// A call may not touch more than its tool's capabilities say: a wrong flag is a failing call and not a hole.
fn check_capabilities(call: &Call) -> Result<(), ToolError> {
    let capabilities = call.entry()?.tool.spec().capabilities;
    let effects = &call.effects;
    let beyond = [
        (!effects.writes.is_empty() || effects.writes_anything)
            && !(capabilities.writes_files || capabilities.executes_commands),
        !effects.commands.is_empty() && !capabilities.executes_commands,
        !effects.hosts.is_empty() && !capabilities.accesses_network,
    ];
    if beyond.contains(&true) {
        return Err(ToolError::internal("the effects of a call go beyond its tool's capabilities"));
    }
    Ok(())
}

/// The hash of the tool and its exact input.
fn input_key(call: &Call) -> Result<[u8; 32], ToolError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(call.entry()?.tool.spec().name.as_bytes());
    hasher.update(&[0]);
    serde_json::to_writer(&mut hasher, &call.arguments).map_err(ToolError::internal)?;
    Ok(*hasher.finalize().as_bytes())
}

async fn ask(
    executor: &Executor,
    call: &mut Call,
    bound: &dyn BoundCall,
    reason: String,
    grant: Grant,
) -> Result<(), ToolError> {
    let Some(approver) = executor.0.approver.clone() else { return Err(nobody_to_ask(&reason)) };
    let context = call.context(executor)?;
    // A preview that fails is the call that would fail: nobody is asked about it.
    let preview = tokio::select! {
        preview = bound.preview(&context) => preview?,
        () = call.cancel.cancelled() => return Err(super::run::cancelled()),
        () = executor.0.shutdown.cancelled() => return Err(super::run::cancelled()),
    };
    let question = ConfirmRequest {
        call_id: call.ids.call_id.clone(),
        tool: grant.tool.clone(),
        title: sanitize::visible_path(&preview.title).into_owned(),
        reason: sanitize::visible(&reason).into_owned(),
        preview: sanitize::visible(&preview.text).into_owned(),
        effects: call.effects.clone(),
        grant,
        input_hash: blake3::Hash::from_bytes(call.key).to_hex().to_string(),
    };
    confirmed(executor, &context, approver.as_ref(), question).await
}

/// Puts the question; an error is a no.
async fn confirmed(
    executor: &Executor,
    context: &CallContext,
    approver: &dyn Approver,
    request: ConfirmRequest,
) -> Result<(), ToolError> {
    let parts = context.parts();
    executor.activity().emit(&parts.session.id, Some(&request.call_id), Some(&request.tool), || {
        EventKind::PermissionRequest { request: Box::new(request.clone()) }
    });
    let answer = tokio::select! {
        answer = caught(async { Ok(approver.confirm(&request).await) }) => answer,
        () = parts.cancel.cancelled() => return Err(super::run::cancelled()),
        () = executor.0.shutdown.cancelled() => return Err(super::run::cancelled()),
    };
    match answer {
        Ok(Answer::Approve { input_hash, scope }) if input_hash == request.input_hash => {
            if scope == GrantScope::Session {
                parts.session.grant(request.grant);
            }
            parts.approved.store(true, Ordering::Relaxed);
            Ok(())
        }
        Ok(Answer::Approve { .. }) => Err(ToolError::new(
            ErrorCode::PermissionDenied,
            "the approval was given for another input than this one, so it does not count",
        )),
        Ok(Answer::Deny { reason }) => {
            let said = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            Err(ToolError::new(ErrorCode::PermissionDenied, format!("the person said no{said}")))
        }
        Err(_) => Err(ToolError::new(ErrorCode::PermissionDenied, "asking failed, so the answer is no")),
    }
}

fn nobody_to_ask(reason: &str) -> ToolError {
    ToolError::new(
        ErrorCode::PermissionDenied,
        format!("this call needs a person's approval ({reason}), and there is nobody to ask"),
    )
    .suggest("Go on without it and tell the person what you would have done; they can do it, or allow it by policy.")
}

impl Executor {
    /// Decides about a running call again, now by what it really touches.
    pub(crate) async fn authorise_known(
        &self,
        context: &CallContext,
        effects: Effects,
        preview: Preview,
    ) -> Result<(), ToolError> {
        let parts = context.parts();
        let mut sensitive = Vec::new();
        // What cannot be resolved (a link in a folder that is deleted) is the tool's to refuse or to remove as such.
        for path in &effects.writes {
            match self.0.paths.as_ref().and_then(|paths| paths.resolve(path, true).ok()) {
                Some(ResolvedPath { path, sensitivity: Sensitivity::Sensitive(reason) }) => {
                    sensitive.push((path, reason));
                }
                Some(ResolvedPath { path, sensitivity: Sensitivity::Flagged(reason) }) => {
                    context.warn(format!("{path}: {reason}"));
                }
                _ => {}
            }
        }
        let request = PolicyRequest {
            tool: &parts.tool,
            permissions: parts.granted,
            effects: &effects,
            sensitive: &sensitive,
            arguments: &serde_json::Value::Null,
        };
        let reason = match self.0.policy.decide(&request) {
            Decision::Allow => return Ok(()),
            Decision::Deny(reason) => return Err(ToolError::new(ErrorCode::PermissionDenied, reason)),
            // A person who said yes to this very call has seen its preview.
            Decision::Ask(_) if parts.approved.load(Ordering::Relaxed) || parts.session.granted(&request) => {
                return Ok(());
            }
            Decision::Ask(reason) => reason,
        };
        let Some(approver) = self.0.approver.clone() else { return Err(nobody_to_ask(&reason)) };
        let grant = Grant::for_request(&request);
        let question = ConfirmRequest {
            call_id: parts.ids.call_id.clone(),
            tool: parts.tool.clone(),
            title: preview.title,
            reason,
            preview: preview.text,
            input_hash: blake3::hash(effects.writes.join("\0").as_bytes()).to_hex().to_string(),
            effects,
            grant,
        };
        confirmed(self, context, approver.as_ref(), question).await
    }
}

/// What `--dry-run` returns instead of running the tool.
pub(super) async fn dry_run(
    executor: &Executor,
    call: &mut Call,
    bound: &dyn BoundCall,
) -> Result<ToolOutput, ToolError> {
    let context = call.context(executor)?;
    let preview = bound.preview(&context).await?;
    let data = json!({
        "dry_run": true, "title": preview.title, "preview": preview.text, "effects": call.effects,
    });
    Ok(ToolOutput { data, view: Box::new(DryRun(preview)) })
}

struct DryRun(Preview);

impl Render for DryRun {
    fn title(&self) -> String {
        format!("Dry run: {}", self.0.title)
    }

    fn text(&self, _cx: &mut RenderContext<'_>) -> String {
        let text = &self.0.text;
        if text.is_empty() { self.title() } else { format!("{}\n{text}", self.title()) }
    }

    fn preview(&self) -> Vec<String> {
        self.0.text.lines().take(8).map(str::to_owned).collect()
    }
}
