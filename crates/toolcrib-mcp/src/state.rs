//! What a client carries from a question to the repeated call that answers it.
//!
//! The newer protocol keeps no state between requests: the server hands it to the client, sealed, and gets it
//! back. It opens only for the same tool with the same arguments in the same session, only for a while, and
//! only once.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::model::{RequestStateCodec, SealOptions};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::random;

/// How long a person has to answer.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(300);
/// How many spent states are remembered at most.
const MAX_SPENT: usize = 10_000;

/// An input that a person said yes to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Approved {
    pub(crate) input_hash: String,
    /// Whether the yes is for the rest of the session.
    pub(crate) session: bool,
}

/// What is carried.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct State {
    /// Makes each state another one, so that it can be spent.
    pub(crate) nonce: String,
    pub(crate) approved: Vec<Approved>,
    /// The input that is being asked about.
    pub(crate) asking: Option<String>,
    /// What the tool itself keeps.
    pub(crate) tool: Value,
}

/// Seals states and opens them, each once.
pub(crate) struct States {
    codec: RequestStateCodec,
    spent: Mutex<HashMap<String, Instant>>,
}

impl States {
    pub(crate) fn new() -> Option<Self> {
        let codec = RequestStateCodec::try_new(random::bytes()?).ok()?;
        Some(Self { codec, spent: Mutex::default() })
    }

    pub(crate) fn seal(&self, mut state: State, bound_to: &[u8]) -> Option<String> {
        state.nonce = random::token()?;
        let payload = serde_json::to_vec(&state).ok()?;
        let options = SealOptions::new().associated_data(bound_to).ttl(ANSWER_WITHIN);
        Some(self.codec.seal_with(&payload, &options))
    }

    /// Opens a state that came back; says why not, in words.
    pub(crate) fn open(&self, sealed: &str, bound_to: &[u8]) -> Result<State, String> {
        let payload = self.codec.open_with(sealed, bound_to).map_err(|error| error.to_string())?;
        let state: State = serde_json::from_slice(&payload).map_err(|_| "request state is malformed")?;
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        if spent.len() >= MAX_SPENT {
            spent.retain(|_, at| at.elapsed() < ANSWER_WITHIN);
        }
        if spent.len() >= MAX_SPENT {
            return Err("too many answers at once; try again in some minutes".into());
        }
        match spent.insert(state.nonce.clone(), Instant::now()) {
            None => Ok(state),
            Some(_) => Err("request state was used already: make the call again without it".into()),
        }
    }
}

/// What a state is bound to: the conversation, the tool and its exact arguments.
pub(crate) fn bound_to(session: &str, tool: &str, arguments: &Value) -> Vec<u8> {
    let digest = blake3::hash(arguments.to_string().as_bytes());
    [session.as_bytes(), tool.as_bytes(), digest.as_bytes()].join(&0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_state_opens_once_and_only_for_its_own_call() {
        let states = States::new().unwrap();
        let here = bound_to("s", "write_file", &json!({"path": "a"}));
        let sealed = states.seal(State { asking: Some("h".into()), ..State::default() }, &here).unwrap();
        for elsewhere in [
            bound_to("s", "write_file", &json!({"path": "b"})),
            bound_to("s", "delete_file", &json!({"path": "a"})),
            bound_to("t", "write_file", &json!({"path": "a"})),
        ] {
            assert!(states.open(&sealed, &elsewhere).unwrap_err().contains("integrity"));
        }
        assert!(States::new().unwrap().open(&sealed, &here).is_err(), "another server's key");
        assert_eq!(states.open(&sealed, &here).unwrap().asking.as_deref(), Some("h"));
        assert!(states.open(&sealed, &here).unwrap_err().contains("used already"));
    }
}
