//! A body that holds its place among the streams as long as it is being sent.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

pub(super) struct Held {
    body: BoxBody<Bytes, Infallible>,
    _place: Option<OwnedSemaphorePermit>,
}

impl Held {
    pub(super) fn full(bytes: Bytes) -> Self {
        Self { body: Full::new(bytes).boxed(), _place: None }
    }

    pub(super) fn response(
        response: Response<BoxBody<Bytes, Infallible>>,
        place: Option<OwnedSemaphorePermit>,
    ) -> Response<Self> {
        response.map(|body| Self { body, _place: place })
    }
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
