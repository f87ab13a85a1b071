//! What one decision costs on each face that is built here: a call of 1 KiB, bytes in, bytes out.
//!
//!   cargo build --release && cargo run --release -p toolwarden-harness --example faces

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use toolwarden::embed::Warden;
use toolwarden_harness::cli;

/// Decisions that are measured, after as many that are not.
const TIMES: usize = 20_000;

/// A call of 1 KiB.
fn call() -> String {
    let mut call = json!({
        "id": "c1", "tool": "Bash", "arguments": { "command": "", "cwd": "src/parser" }, "route": "direct",
        "attendance": "interactive", "workspace": { "root": "/home/u/project", "flavour": "posix", "home": "/home/u" },
    });
    let missing = 1024 - call.to_string().len();
    call["arguments"]["command"] = "cargo test ".repeat(missing / 11 + 1)[..missing].into();
    call.to_string()
}

fn measured(mut decide: impl FnMut() -> Result<()>) -> Result<(Duration, Duration)> {
    for _ in 0..TIMES {
        decide()?;
    }
    let mut times = Vec::with_capacity(TIMES);
    for _ in 0..TIMES {
        let begun = Instant::now();
        decide()?;
        times.push(begun.elapsed());
    }
    times.sort();
    let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
    Ok((at(50), at(99)))
}

/// MiB of this process that are in memory; of another one where it is named.
fn memory(process: &str) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no figure")?;
    let kib: u64 = line.split_whitespace().nth(1).context("no figure")?.parse()?;
    Ok(kib / 1024)
}

fn library(call: &str) -> Result<()> {
    let before = memory("self")?;
    let begun = Instant::now();
    let warden = Warden::open(br#"{"profile":"dangerous"}"#)?;
    let opened = begun.elapsed();
    let (half, most) = measured(|| {
        ensure!(warden.decide(call.as_bytes())?.contains(r#""verdict":"allow""#));
        Ok(())
    })?;
    let memory = memory("self")?.saturating_sub(before);
    println!("{:<16} {half:>10.2?} {most:>10.2?} {opened:>10.2?} {memory:>6} MiB", "Rust library");
    Ok(())
}

#[cfg(unix)]
fn sidecar(call: &str) -> Result<()> {
    use std::os::unix::net::UnixStream;

    let folder = tempfile::tempdir()?;
    let socket = folder.path().join("socket");
    let begun = Instant::now();
    let mut child = Command::new(cli::program()?)
        .arg("serve")
        .arg("--socket")
        .arg(&socket)
        .args(["--profile", "dangerous"])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("no output")?).read_line(&mut line)?;
    let opened = begun.elapsed();
    let mut stream = UnixStream::connect(&socket)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    let request = format!("POST /v1/decide HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{call}", call.len());
    let measured = measured(|| {
        stream.write_all(request.as_bytes())?;
        let mut length = 0;
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            if line == "\r\n" {
                break;
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        ensure!(serde_json::from_slice::<Value>(&body)?["verdict"] == "allow");
        Ok(())
    });
    let memory = memory(&child.id().to_string());
    child.kill()?;
    child.wait()?;
    let ((half, most), memory) = (measured?, memory?);
    println!("{:<16} {half:>10.2?} {most:>10.2?} {opened:>10.2?} {memory:>6} MiB", "sidecar, socket");
    Ok(())
}

#[cfg(not(unix))]
fn sidecar(_call: &str) -> Result<()> {
    println!("sidecar, socket: no Unix sockets here");
    Ok(())
}

fn main() -> Result<()> {
    let call = call();
    println!("a call of {} bytes, {TIMES} times", call.len());
    println!("{:<16} {:>10} {:>10} {:>10} {:>10}", "face", "p50", "p99", "start", "memory");
    library(&call)?;
    sidecar(&call)
}
