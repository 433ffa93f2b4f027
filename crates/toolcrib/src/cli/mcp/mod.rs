//! `toolcrib mcp`.

mod config;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use tokio_util::sync::CancellationToken;
use toolcrib::Toolcrib;
use toolcrib::mcp::{self, Http, HttpOptions, Options};

use super::call::told_to_end;
use super::output::{Failure, Output};
use super::{CliMode, Global, setup};

/// How long tools and background commands have to end.
const WIND_DOWN: Duration = Duration::from_millis(250);

#[derive(Args)]
pub(crate) struct McpArgs {
    /// Serve over HTTP instead of stdio: PORT or ADDRESS:PORT. Without a value a free port of 127.0.0.1.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:0")]
    http: Option<String>,
    /// Ask for no token: every program of every user of this machine may call.
    #[arg(long, requires = "http")]
    no_token: bool,
    /// A name by which clients may call the server, besides localhost and addresses; repeatable.
    #[arg(long, requires = "http", value_name = "NAME")]
    allow_host: Vec<String>,
    /// Add a pack of tools.
    #[arg(long, value_enum)]
    pack: Option<PackName>,
    /// Print what to paste into a client's configuration, and end.
    #[arg(long, value_enum, value_name = "CLIENT", conflicts_with = "http")]
    print_config: Option<config::Client>,
}

#[derive(Clone, Copy, ValueEnum)]
enum PackName {
    /// The fixtures of the official MCP conformance suite.
    Conformance,
}

pub(crate) async fn mcp(global: &Global, args: &McpArgs, output: &Output) -> Result<ExitCode, Failure> {
    if let Some(client) = args.print_config {
        return config::print(global, client, output);
    }
    if global.session.is_some() || global.dry_run {
        return Err(Failure::usage(
            "--session and --dry-run are for single calls: a client is a session of its own",
        ));
    }
    // It is not the person's own call but an agent's.
    let global = Global { mode: CliMode::Mcp, ..global.clone() };
    let address = args.http.as_deref().map(parse_address).transpose()?;
    // Whoever is to be asked sits behind the client; there may be a terminal, but it is somebody else's.
    let (crib, _) = setup::crib_asking(&global, None)?;
    let conformance = match args.pack {
        None => None,
        Some(PackName::Conformance) => Some(
            mcp::conformance::Pack::register(crib.executor().registry())
                .map_err(|error| Failure::usage(error.to_string()))?,
        ),
    };
    let server = crib
        .mcp_server(Options { conformance, ..Options::default() })
        .map_err(|error| Failure::usage(format!("the server cannot start: {error}")))?;
    // Tools that files describe come and go while clients are connected.
    let _watch = crib.watch();
    let stop = CancellationToken::new();
    let signalled = stop.clone();
    tokio::spawn(async move {
        told_to_end().await;
        signalled.cancel();
    });
    match address {
        None => mcp::serve_stdio(&server, stop)
            .await
            .map_err(|error| Failure::io("standard input and output", &error))?,
        Some(address) => serve_http(&server, address, args, stop, output).await?,
    }
    end(&crib).await;
    Ok(ExitCode::SUCCESS)
}

async fn serve_http(
    server: &mcp::Server,
    address: SocketAddr,
    args: &McpArgs,
    stop: CancellationToken,
    output: &Output,
) -> Result<(), Failure> {
    let token = match args.no_token {
        true => None,
        false => {
            Some(mcp::token().ok_or_else(|| Failure::usage("the system has no random numbers for a token"))?)
        }
    };
    let options = HttpOptions { address, token: token.clone(), hosts: args.allow_host.clone() };
    let http = Http::bind(server, options).await.map_err(|error| {
        Failure::usage(error.to_string()).suggest("Give another address, or leave out --no-token.")
    })?;
    let address = http.address().map_err(|error| Failure::io("the address", &error))?;
    output.note(&format!("listening on http://{address}/mcp"));
    match token {
        Some(token) => output.note(&format!("token: {token}")),
        None => output.note("no token: every program on this machine may call"),
    }
    http.serve(stop).await;
    Ok(())
}

/// Tools and commands end with the server.
async fn end(crib: &Toolcrib) {
    let _ = tokio::time::timeout(WIND_DOWN, crib.executor().shutdown()).await;
    crib.processes().stop_all(WIND_DOWN).await;
}

fn parse_address(text: &str) -> Result<SocketAddr, Failure> {
    let localhost = IpAddr::V4(Ipv4Addr::LOCALHOST);
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(localhost, port));
    }
    if let Some(port) = text.strip_prefix("localhost:").and_then(|port| port.parse().ok()) {
        return Ok(SocketAddr::new(localhost, port));
    }
    text.parse().map_err(|_| Failure::usage(format!("--http {text}: give PORT or ADDRESS:PORT")))
}
