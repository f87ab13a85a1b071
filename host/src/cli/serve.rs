//! `toolwarden serve`: a sidecar.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::data::AuditArguments;
use super::exit::{Exit, Failure, Outcome};
use super::output::{self, OutputArguments};
use super::setup::{self, PolicyArguments, ToolArguments};
use crate::embed::Warden;
use crate::invoke::FactSource;
use crate::lifecycle::{Watch, WatchOptions};
use crate::serve::{Door, DoorError, ServeLimits, Server, Token};

const EXAMPLES: &str = "Examples:
  toolwarden serve --socket /run/user/1000/toolwarden.sock --settings toolwarden.toml --watch
  toolwarden serve --listen 127.0.0.1:7414 --token-file token --profile dangerous

  curl --unix-socket /run/user/1000/toolwarden.sock http://localhost/v1/decide --data @call.json
  curl -H \"Authorization: Bearer $(cat token)\" http://127.0.0.1:7414/v1/decide --data @call.json

GET /openapi.json describes all requests. It stops on SIGINT and SIGTERM: calls in flight finish first.";

/// Arguments of `serve`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(group = clap::ArgGroup::new("door").required(true).args(["socket", "listen"]))]
pub(super) struct Arguments {
    /// Listen on a Unix socket, for this user alone
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Listen on a loopback address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", requires = "token_file")]
    listen: Option<SocketAddr>,
    /// The token that requests over loopback must carry; written where there is none
    #[arg(long, value_name = "FILE", conflicts_with = "socket")]
    token_file: Option<PathBuf>,
    /// Follow links on this machine in `decide` too; `invoke` always does
    #[arg(long)]
    resolve: bool,
    /// Take another module and other settings when their files change, or on SIGHUP
    #[arg(long)]
    watch: bool,
    /// Bytes of a request's body at most
    #[arg(long, value_name = "BYTES", default_value_t = ServeLimits::default().body)]
    max_body: usize,
    /// Connections at once; more wait
    #[arg(long, value_name = "N", default_value_t = ServeLimits::default().connections, value_parser = connections)]
    max_connections: usize,
    /// Requests a second; 0: as many as come
    #[arg(long, value_name = "N", default_value_t = 0)]
    rate: u32,
    #[command(flatten)]
    audit: AuditArguments,
    #[command(flatten)]
    policy: PolicyArguments,
    #[command(flatten)]
    tools: ToolArguments,
    #[command(flatten)]
    output: OutputArguments,
}

fn connections(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| (1..=100_000).contains(n)).ok_or_else(|| "a whole number from 1 to 100000".into())
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let audit = arguments.audit.log()?;
    let reloader = setup::reloader(&arguments.policy, &arguments.tools, audit.as_ref())?;
    let watch = arguments.watch.then(|| Watch::start(&reloader, WatchOptions::default())).transpose();
    let _watch = watch.map_err(|e| Failure::text(Exit::Usage, format!("the files cannot be watched: {e}")))?;
    let facts = if arguments.resolve { FactSource::ThisMachine } else { FactSource::Record };
    let warden = Warden::over(reloader, facts);
    let warden = Arc::new(match audit {
        Some(audit) => warden.recording(audit),
        None => warden,
    });
    let token = arguments.token_file.as_deref().map(Token::of_file).transpose();
    let token = token.map_err(|e| Failure::text(Exit::Usage, format!("{e} [{}]", e.code())))?;
    let limits = ServeLimits {
        body: arguments.max_body,
        connections: arguments.max_connections,
        rate: arguments.rate,
        ..ServeLimits::default()
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Failure::text(Exit::Usage, format!("no threads: {e}")))?;
    runtime.block_on(async {
        // Before the door is open, so that no signal finds nobody.
        let stop = CancellationToken::new();
        stop_on_signal(stop.clone()).map_err(|e| Failure::text(Exit::Usage, format!("no signals: {e}")))?;
        let door = open(arguments).await;
        let door = door.map_err(|e| Failure::text(Exit::Usage, format!("{e} [{}]", e.code())))?;
        let shown = door.shown();
        let server = Server::new(warden, door, token, limits).map_err(|e| Failure::new(Exit::Usage, e))?;
        let mut out = output::stdout();
        if arguments.output.is_human() {
            writeln!(out, "listening on {}", toolwarden_text::visible(&shown))?;
        } else {
            output::json_line(&mut out, &json!({ "listening": shown }))?;
        }
        out.flush()?;
        drop(out);
        server.run(stop).await;
        Ok(Exit::Done)
    })
}

async fn open(arguments: &Arguments) -> Result<Door, DoorError> {
    match (&arguments.listen, &arguments.socket) {
        (Some(address), _) => Door::loopback(*address).await,
        #[cfg(unix)]
        (None, Some(path)) => Door::socket(path).await,
        // The arguments name one of the two.
        _ => Err(DoorError::System("--socket".into(), io::Error::from(io::ErrorKind::Unsupported))),
    }
}

#[cfg(unix)]
fn stop_on_signal(stop: CancellationToken) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        stop.cancel();
    });
    Ok(())
}

#[cfg(not(unix))]
fn stop_on_signal(stop: CancellationToken) -> io::Result<()> {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stop.cancel();
        }
    });
    Ok(())
}
