//! Stage 5: may this call be made? Fails closed, and is not timed.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::call::{Call, CallRequest};
use super::run::caught;
use super::{Executor, prepare};
use crate::activity::EventKind;
use crate::context::CallContext;
use crate::effects::Effects;
use crate::error::{ErrorCode, ErrorType, ToolError};
use crate::permission::{
    Answer, Approver, ConfirmRequest, Decision, Grant, GrantScope, PathResolver, PermissionSet,
    PolicyRequest, ResolvedPath, Sensitivity, Verdict,
};
use crate::render::{Render, RenderContext};
use crate::sanitize;
use crate::session::Session;
use crate::tool::{BoundCall, Preview, ToolOutput};

pub(super) async fn authorise(
    executor: &Executor,
    call: &mut Call,
    bound: &dyn BoundCall,
) -> Result<(), ToolError> {
    let (verdict, grant) = judge(executor, call, bound)?;
    match verdict.decision {
        Decision::Allow => Ok(()),
        Decision::Deny => Err(refused(&call.effects, verdict)),
        // A dry run changes nothing, so nobody is asked; its answer says that it would be.
        Decision::Ask if call.dry_run => {
            call.record.warnings.push(format!("this call would be asked for: {}", verdict.reason));
            Ok(())
        }
        Decision::Ask => ask(executor, call, bound, verdict.reason, grant).await,
    }
}

/// What the policy says, and what a standing yes would cover.
pub(super) fn judge(
    executor: &Executor,
    call: &mut Call,
    bound: &dyn BoundCall,
) -> Result<(Verdict, Option<Grant>), ToolError> {
    let (effects, sensitive) = resolved(executor, bound.effects(), &mut call.record.warnings)?;
    call.effects = effects;
    call.key = input_key(call)?;
    check_capabilities(call)?;
    let request = PolicyRequest {
        tool: &call.entry()?.tool.spec().name,
        permissions: call.permissions(),
        effects: &call.effects,
        sensitive: &sensitive,
        grants: &call.session.grants(),
        arguments: &call.arguments,
    };
    Ok(decided(executor, &request))
}

fn decided(executor: &Executor, request: &PolicyRequest<'_>) -> (Verdict, Option<Grant>) {
    let verdict = executor.0.policy.decide(request);
    let wanted = verdict.decision == Decision::Ask && verdict.grantable;
    let grant = if wanted { Grant::for_request(request) } else { None };
    (verdict, grant)
}

/// A refusal by the policy; what nobody can permit is not to be asked of anybody.
fn refused(effects: &Effects, verdict: Verdict) -> ToolError {
    let error = denied(effects, verdict.reason);
    match verdict.rule.as_deref() {
        Some("floor") => error.suggest("No permission changes that: do what you need in a narrower way."),
        _ => error,
    }
}

/// A refusal: of a command under a code of its own, since there is something else to do about it.
fn denied(effects: &Effects, message: impl Into<String>) -> ToolError {
    let code =
        if effects.commands.is_empty() { ErrorCode::PermissionDenied } else { ErrorCode::CommandDenied };
    ToolError::new(code, message)
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
    grant: Option<Grant>,
) -> Result<(), ToolError> {
    let Some(approver) = call.approver.clone() else {
        return Err(nobody_to_ask(&call.effects, &reason, grant.as_ref()));
    };
    let context = call.context(executor)?;
    // A preview that fails is the call that would fail: nobody is asked about it.
    let preview = tokio::select! {
        preview = bound.preview(&context) => preview?,
        () = call.cancel.cancelled() => return Err(super::run::cancelled()),
        () = executor.0.shutdown.cancelled() => return Err(super::run::cancelled()),
    };
    let question = ConfirmRequest {
        call_id: call.ids.call_id.clone(),
        tool: call.entry()?.tool.spec().name.clone(),
        title: sanitize::visible_path(&preview.title).into_owned(),
        reason: sanitize::visible_path(&reason).into_owned(),
        preview: sanitize::visible(&preview.text).into_owned(),
        effects: call.effects.clone(),
        scopes: scopes(executor, grant.as_ref()),
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
            keep(executor, context, &request, scope);
            parts.approved.store(true, Ordering::Relaxed);
            Ok(())
        }
        Ok(Answer::Approve { .. }) => Err(denied(
            &request.effects,
            "the approval was given for another input than this one, so it does not count",
        )),
        Ok(Answer::Deny { reason }) => {
            let said = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            Err(denied(&request.effects, format!("the person said no{said}")).suggest(
                "Do not ask for the same again: go on another way, or ask the person what they want.",
            ))
        }
        Err(_) => Err(denied(&request.effects, "asking failed, so the answer is no")),
    }
}

/// Keeps a yes as far as it was given and may reach.
fn keep(executor: &Executor, context: &CallContext, request: &ConfirmRequest, scope: GrantScope) {
    let Some(grant) = request.grant.as_ref().filter(|_| request.scopes.contains(&scope)) else { return };
    if scope == GrantScope::Once {
        return;
    }
    if let Some(store) = executor.0.grants.as_ref().filter(|_| scope == GrantScope::Project) {
        match store.keep(grant) {
            Ok(()) => return,
            Err(why) => context.warn(format!(
                "the grant could not be kept for the project ({why}); it holds for this session"
            )),
        }
    }
    context.parts().session.grant(grant.clone());
}

/// How far a yes may reach.
fn scopes(executor: &Executor, grant: Option<&Grant>) -> Vec<GrantScope> {
    let mut scopes = vec![GrantScope::Once];
    if grant.is_some() {
        scopes.push(GrantScope::Session);
        scopes.extend(executor.0.grants.as_ref().map(|_| GrantScope::Project));
    }
    scopes
}

fn nobody_to_ask(effects: &Effects, reason: &str, grant: Option<&Grant>) -> ToolError {
    let message = format!("this call needs a person's approval ({reason}), and there is nobody to ask");
    // A line that nobody would read is no help.
    let line = grant.map(Grant::command_line).filter(|line| line.len() <= 500);
    let how = line.map_or_else(
        || "they can do it, or allow it by policy".to_owned(),
        |line| format!("they can do it, or allow it with: {line}"),
    );
    denied(effects, message)
        .suggest(format!("Go on without it and tell the person what you would have done; {how}"))
}

impl Executor {
    /// Says what would be decided about a call, grants of its session included, without making it: nothing is run,
    /// asked, previewed or recorded, and no hook is called. An error is one that the call would end with before anything is decided.
    pub fn explain(&self, request: CallRequest) -> Result<Verdict, ToolError> {
        let mut call = Call::unannounced(self, request);
        super::resolve::resolve(self, &mut call)?;
        prepare::repair_and_validate(&mut call)?;
        let bound = prepare::bind(&mut call)?;
        let (verdict, _) = judge(self, &mut call, bound.as_ref())?;
        self.refuse_reads(&bound.effects())?;
        Ok(verdict)
    }

    /// The same for effects that no call has declared yet, of the tool with this name of its own.
    pub fn explain_effects(
        &self,
        session: &Session,
        tool: &str,
        effects: Effects,
    ) -> Result<Verdict, ToolError> {
        let permissions =
            self.registry().get(tool).map_or_else(PermissionSet::all, |tool| tool.spec().permissions());
        self.refuse_reads(&effects)?;
        let (effects, sensitive) = resolved(self, effects, &mut Vec::new())?;
        let request = PolicyRequest {
            tool,
            permissions,
            effects: &effects,
            sensitive: &sensitive,
            grants: &session.grants(),
            arguments: &serde_json::Value::Null,
        };
        Ok(self.0.policy.decide(&request))
    }

    /// A call leaves it to the tool to say that a path can never be read; here no tool will run.
    fn refuse_reads(&self, effects: &Effects) -> Result<(), ToolError> {
        let Some(paths) = &self.0.paths else { return Ok(()) };
        for path in &effects.reads {
            match paths.resolve(path, false) {
                Err(error) if error.code.error_type() == ErrorType::SecurityError => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

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
            grants: &parts.session.grants(),
            arguments: &serde_json::Value::Null,
        };
        let (verdict, grant) = decided(self, &request);
        let reason = match verdict.decision {
            Decision::Allow => return Ok(()),
            Decision::Deny => return Err(refused(&effects, verdict)),
            // A person who said yes to this very call has seen its preview.
            Decision::Ask if parts.approved.load(Ordering::Relaxed) => return Ok(()),
            Decision::Ask => verdict.reason,
        };
        let Some(approver) = parts.approver.clone() else {
            return Err(nobody_to_ask(&effects, &reason, grant.as_ref()));
        };
        let question = ConfirmRequest {
            call_id: parts.ids.call_id.clone(),
            tool: parts.tool.clone(),
            title: sanitize::visible_path(&preview.title).into_owned(),
            reason: sanitize::visible_path(&reason).into_owned(),
            preview: sanitize::visible(&preview.text).into_owned(),
            input_hash: blake3::hash(&serde_json::to_vec(&effects).map_err(ToolError::internal)?)
                .to_hex()
                .to_string(),
            effects,
            scopes: scopes(self, grant.as_ref()),
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
