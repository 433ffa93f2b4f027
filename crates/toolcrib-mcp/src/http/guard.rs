//! Who may call at all.

use std::net::IpAddr;

use hyper::header::{AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::{StatusCode, Uri};

/// Why a request is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    Host,
    Origin,
    Token,
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }

    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Host => "the Host is not one of this server's",
            Self::Origin => "pages of this Origin may not call this server",
            Self::Token => {
                "send the header `Authorization: Bearer TOKEN` with the token that the server printed"
            }
        }
    }
}

pub(super) struct Guard {
    /// Whether only this machine can reach the server.
    loopback: bool,
    /// The token's hash: hashes are compared in constant time.
    token: Option<blake3::Hash>,
    hosts: Vec<String>,
}

impl Guard {
    pub(super) fn new(loopback: bool, token: Option<&str>, hosts: Vec<String>) -> Self {
        Self { loopback, token: token.map(|token| blake3::hash(token.as_bytes())), hosts }
    }

    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        // A name that somebody made to mean 127.0.0.1 is how a page gets here; an address is not.
        let host = only(headers, &HOST).map_err(|_| Refusal::Host)?.ok_or(Refusal::Host)?;
        let named = uri.authority().map(|authority| authority.as_str());
        if !self.is_ours(host) || named.is_some_and(|named| !self.is_ours(named)) {
            return Err(Refusal::Host);
        }
        if let Some(origin) = only(headers, &ORIGIN).map_err(|_| Refusal::Origin)? {
            let host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !host.is_some_and(|host| self.is_ours(host)) {
                return Err(Refusal::Origin);
            }
        }
        match self.token {
            None => Ok(()),
            Some(token) => {
                let shown = only(headers, &AUTHORIZATION).ok().flatten().and_then(bearer);
                let shown = shown.ok_or(Refusal::Token)?;
                if blake3::hash(shown.as_bytes()) == token { Ok(()) } else { Err(Refusal::Token) }
            }
        }
    }

    /// Whether `host`, with or without a port, is this server.
    fn is_ours(&self, host: &str) -> bool {
        let Some(name) = without_port(host) else { return false };
        if name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name))
        {
            return true;
        }
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        match bare.unwrap_or(name).parse::<IpAddr>() {
            Ok(address) => bare.is_some() == address.is_ipv6() && (!self.loopback || address.is_loopback()),
            Err(_) => false,
        }
    }
}

/// The value of a header that may be there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, ()> {
    let mut values = headers.get_all(name).iter();
    let first: Option<&HeaderValue> = values.next();
    if values.next().is_some() {
        return Err(());
    }
    first.map(|value| value.to_str().map_err(|_| ())).transpose()
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// A host without its port. `None` where there is anything but a host and a port.
fn without_port(host: &str) -> Option<&str> {
    let (name, port) = match host.rfind(':') {
        Some(colon) if !host.ends_with(']') => (host.get(..colon)?, host.get(colon + 1..)?),
        _ => (host, "0"),
    };
    let plain = !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_[]:".contains(&byte));
    (plain && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(guard: &Guard, headers: &[(&str, &str)]) -> Result<(), Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::try_from(*name).unwrap(), HeaderValue::try_from(*value).unwrap());
        }
        guard.check(&Uri::from_static("/mcp"), &map)
    }

    #[test]
    fn hosts_and_origins() {
        let guard = Guard::new(true, None, vec!["devbox".into()]);
        let host = |host: &str| check(&guard, &[("host", host)]);
        for ours in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.0.0.2", "[::1]:80", "devbox:1"] {
            assert_eq!(host(ours), Ok(()), "{ours}");
        }
        for other in [
            "",
            "evil.com",
            "localhost.evil.com",
            "127.0.0.1.evil.com",
            "10.0.0.1",
            "localhost:80@evil.com",
            "[::1",
            "::1",
            "localhost:",
            "localhost:80:80",
            "evil.com:80#localhost",
            "0.0.0.0",
            "xlocalhost",
        ] {
            assert_eq!(host(other), Err(Refusal::Host), "{other}");
        }
        assert_eq!(check(&guard, &[]), Err(Refusal::Host));
        assert_eq!(check(&guard, &[("host", "localhost"), ("host", "localhost")]), Err(Refusal::Host));
        let origin = |origin: &str| check(&guard, &[("host", "localhost"), ("origin", origin)]);
        for ours in ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:3"] {
            assert_eq!(origin(ours), Ok(()), "{ours}");
        }
        for other in [
            "null",
            "",
            "https://evil",
            "http://localhost.evil.com",
            "localhost",
            "file://",
            "http://localhost/x",
            "http://a@localhost",
            "http://localhost http://evil",
            "http://",
        ] {
            assert_eq!(origin(other), Err(Refusal::Origin), "{other}");
        }
        let two = [("host", "localhost"), ("origin", "http://localhost"), ("origin", "http://localhost")];
        assert_eq!(check(&guard, &two), Err(Refusal::Origin));
    }

    #[test]
    fn a_server_for_others_answers_to_addresses_and_its_names() {
        let guard = Guard::new(false, None, vec!["box.example".into()]);
        for (host, ours) in
            [("192.168.1.4:80", true), ("box.example", true), ("[fe80::1]", true), ("evil.com", false)]
        {
            assert_eq!(check(&guard, &[("host", host)]).is_ok(), ours, "{host}");
        }
    }

    #[test]
    fn tokens() {
        let guard = Guard::new(true, Some("secret"), Vec::new());
        let shown = |value: &str| check(&guard, &[("host", "localhost"), ("authorization", value)]);
        assert_eq!(shown("Bearer secret"), Ok(()));
        assert_eq!(shown("bearer secret"), Ok(()));
        for wrong in ["Bearer secre", "Bearer secrets", "Basic secret", "secret", "Bearer ", ""] {
            assert_eq!(shown(wrong), Err(Refusal::Token), "{wrong}");
        }
        assert_eq!(check(&guard, &[("host", "localhost")]), Err(Refusal::Token));
        let two = [("host", "localhost"), ("authorization", "Bearer secret"), ("authorization", "Bearer x")];
        assert_eq!(check(&guard, &two), Err(Refusal::Token));
    }
}
