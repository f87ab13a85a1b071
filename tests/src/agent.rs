//! A scripted agent host: it has the agent's tools, runs what it is told to run, and keeps a list of it.
//!
//! Files are real, below a folder of its own. Shells and SSH are make-believe: what counts is whether a call reached them, and
//! with which arguments.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::{Value, json};
use toolwarden::call::{Arguments, Attendance, Flavour, Workspace};
use toolwarden::invoke::{Caller, Dispatch, ExecutorError, ToolExecutor};

/// The agent host.
#[derive(Debug)]
pub struct Agent {
    folder: tempfile::TempDir,
    dispatched: Mutex<Vec<Dispatch>>,
    running: Arc<AtomicUsize>,
}

/// Counts a call as running for as long as it lives; an abort drops it.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Agent {
    /// An agent with an empty workspace.
    ///
    /// # Errors
    ///
    /// Where there is no room for one.
    pub fn new() -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("repo"))?;
        Ok(Self { folder, dispatched: Mutex::default(), running: Arc::default() })
    }

    /// The workspace's root.
    #[must_use]
    pub fn root(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// A folder beside the workspace.
    #[must_use]
    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// Somebody who calls from this workspace.
    #[must_use]
    pub fn caller(&self, attendance: Attendance) -> Caller {
        let workspace = Workspace {
            root: self.root().display().to_string(),
            extra_roots: Vec::new(),
            flavour: Flavour::HERE,
            home: String::new(),
            skills: Vec::new(),
        };
        Caller { attendance, workspace: Arc::new(workspace) }
    }

    /// What was run so far: tool and arguments.
    #[must_use]
    pub fn ran(&self) -> Vec<(String, Value)> {
        let dispatched = self.dispatched.lock().unwrap_or_else(PoisonError::into_inner);
        dispatched.iter().map(|d| (d.tool.public_name.clone(), json!(*d.arguments))).collect()
    }

    /// Calls that are running now.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    fn path(&self, arguments: &Arguments) -> Result<PathBuf, ExecutorError> {
        Ok(self.root().join(text(arguments, "path")?))
    }
}

#[async_trait]
impl ToolExecutor for Agent {
    async fn execute(&self, dispatch: Dispatch) -> Result<Value, ExecutorError> {
        self.running.fetch_add(1, Ordering::SeqCst);
        let _running = Running(Arc::clone(&self.running));
        self.dispatched.lock().unwrap_or_else(PoisonError::into_inner).push(dispatch.clone());
        let Dispatch { tool, arguments, .. } = dispatch;
        let failed = |e: std::io::Error| ExecutorError(e.to_string());
        match tool.public_name.as_str() {
            "Bash" if text(&arguments, "command")? == "sleep forever" => std::future::pending().await,
            "Bash" => Ok(json!({ "stdout": format!("ran {}", text(&arguments, "command")?) })),
            "ManagedProcess" | "SSHManager" => Ok(json!({ "done": text(&arguments, "action")? })),
            "Delete" => {
                let path = self.path(&arguments)?;
                if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
                    .map_err(failed)?;
                Ok(json!({ "deleted": true }))
            }
            "Read" => Ok(json!({ "content": std::fs::read_to_string(self.path(&arguments)?).map_err(failed)? })),
            "Write" => {
                std::fs::write(self.path(&arguments)?, text(&arguments, "content")?).map_err(failed)?;
                Ok(json!({ "written": true }))
            }
            "List" => {
                let entries = std::fs::read_dir(self.path(&arguments)?).map_err(failed)?;
                let mut names: Vec<String> =
                    entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
                names.sort_unstable();
                Ok(json!({ "entries": names }))
            }
            // A tool of a server answers what it was asked.
            name if name.starts_with("mcp__") => Ok(json!({ "echo": *arguments })),
            name => Err(ExecutorError(format!("the agent cannot run `{name}`"))),
        }
    }
}

fn text<'a>(arguments: &'a Arguments, name: &str) -> Result<&'a str, ExecutorError> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| ExecutorError(format!("`{name}` is not a string")))
}
