//! What a call brings along: whom to ask, services of its own, and a history that only the caller knows.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use support::*;
use toolcrib_core::permission::{Answer, Approver, BoxFuture, ConfirmRequest, GrantScope, PermissionSet};
use toolcrib_core::{CallContext, CallRequest, Permission, PolicyMode, Services, Session};

#[derive(Default)]
struct Willing(AtomicUsize);

impl Approver for Willing {
    fn confirm<'a>(&'a self, request: &'a ConfirmRequest) -> BoxFuture<'a, Answer> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let answer = Answer::Approve { input_hash: request.input_hash.clone(), scope: GrantScope::Once };
        Box::pin(async move { answer })
    }
}

#[tokio::test]
async fn the_caller_says_whom_to_ask() {
    let tool = Scripted::writing([]);
    let (executor, _events) = executor_with(tool, |builder| builder.policy_mode(PolicyMode::Ask));
    let person = Arc::new(Willing::default());
    let asking = CallRequest {
        approver: Some(Arc::clone(&person) as Arc<dyn Approver>),
        ..CallRequest::new(&session(), "scripted", json!({"path": "a"}))
    };
    assert!(executor.call(asking).await.success);
    assert_eq!(person.0.load(Ordering::SeqCst), 1);
    let alone = executor.call(CallRequest::new(&session(), "scripted", json!({"path": "a"}))).await;
    assert!(alone.output.contains("nobody to ask"), "{}", alone.output);
}

#[tokio::test]
async fn an_equal_answer_is_given_in_full_where_the_history_is_unknown() {
    let steps = || ["same", "same"].map(|text| Step::Say(text.into()));
    for (session, second) in
        [(Session::new("known"), None), (Session::new("unknown").with_unknown_history(), Some("same"))]
    {
        let (executor, _events) = executor(Scripted::reading(steps()));
        let session = Arc::new(session);
        executor.call(CallRequest::new(&session, "scripted", json!({"path": "a"}))).await;
        let again = executor.call(CallRequest::new(&session, "scripted", json!({"path": "a"}))).await;
        assert_eq!((again.output == "same").then_some("same"), second, "{}", again.output);
        assert_eq!(again.metadata.deduplicated, second.is_none());
    }
}

#[test]
fn services_are_guarded_wherever_they_come_from() {
    struct Secret;
    let services = Services::new().with_for(Permission::Write, Secret);
    assert!(services.offers::<Secret>() && !services.offers::<String>());
    let reader = CallContext::for_test(PermissionSet::of(&[Permission::Read]), services);
    assert!(reader.get::<Secret>().is_err());
}
