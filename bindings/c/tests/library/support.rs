//! The library, installed, and programs built on it.

use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use anyhow::{Context as _, Result, ensure};

/// The folder of the binding.
pub const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Languages that programs are written in. Each is compiled by its standard, and without one warning.
#[derive(Clone, Copy, Debug)]
pub enum Language {
    C11,
    Cpp17,
}

impl Language {
    pub fn compiler(self) -> Command {
        let (variable, compiler, standard) = match self {
            Self::C11 => ("CC", "cc", "-std=c11"),
            Self::Cpp17 => ("CXX", "c++", "-std=c++17"),
        };
        let mut command = Command::new(std::env::var_os(variable).unwrap_or_else(|| compiler.into()));
        command.args([standard, "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread"]);
        command
    }
}

/// How a program gets the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linking {
    Shared,
    Static,
}

/// An installed library.
#[derive(Clone, Debug)]
pub struct Installed {
    pub prefix: PathBuf,
}

impl Installed {
    /// Installs into a folder of the target folder, with the command that README.md names.
    pub fn into(target: &Path, name: &str) -> Result<Self> {
        let prefix = target.join("tmp").join(name);
        let mut make = Command::new("make");
        make.args(["-C", HERE, "install"]).arg(assignment("PREFIX", &prefix)).arg(assignment("TARGET", target));
        output(&mut make)?;
        Ok(Self { prefix })
    }

    pub fn library(&self) -> PathBuf {
        self.prefix.join("lib")
    }

    /// What pkg-config says of the library.
    pub fn pkg_config(&self, arguments: &[&str]) -> Result<Vec<String>> {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", self.library().join("pkgconfig")).args(arguments).arg("toolwarden");
        let output = output(&mut command)?;
        Ok(String::from_utf8(output.stdout)?.split_whitespace().map(str::to_owned).collect())
    }

    /// Builds a program of this folder; gives its path.
    pub fn build(&self, language: Language, source: &str, linking: Linking) -> Result<PathBuf> {
        let name = Path::new(source).file_stem().context("no name")?;
        let program = self.prefix.join(format!("{}-{linking:?}", name.display()));
        let mut compiler = language.compiler();
        compiler.arg(Path::new(HERE).join(source)).arg("-o").arg(&program).args(self.pkg_config(&["--cflags"])?);
        match linking {
            Linking::Shared => {
                compiler.args(self.pkg_config(&["--libs"])?);
                compiler.arg(format!("-Wl,-rpath,{}", self.library().display()));
            }
            Linking::Static => {
                compiler.args(self.pkg_config(&["--variable=static"])?);
            }
        }
        output(&mut compiler)?;
        Ok(program)
    }
}

/// Runs a program to its end with this standard input; it must end well.
pub fn run(command: &mut Command, input: &[u8]) -> Result<Output> {
    // It leaves nothing in the user's folders.
    command.env("TOOLWARDEN_CACHE", "off");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context(named(command))?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    let input = input.to_vec();
    // A program that ends before it has read everything says so by its status.
    let writer = thread::spawn(move || stdin.write_all(&input).is_ok());
    let output = child.wait_with_output()?;
    let _ = writer.join();
    well(command, output)
}

/// Runs a program to its end; it must end well.
pub fn output(command: &mut Command) -> Result<Output> {
    let output = command.output().context(named(command))?;
    well(command, output)
}

fn well(command: &Command, output: Output) -> Result<Output> {
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (said(&output.stdout), said(&output.stderr));
    ensure!(output.status.success(), "{}: {}\n{out}{err}", named(command), output.status);
    Ok(output)
}

fn named(command: &Command) -> String {
    format!("{command:?}")
}

fn assignment(variable: &str, value: &Path) -> impl AsRef<OsStr> {
    let mut text = std::ffi::OsString::from(variable);
    text.push("=");
    text.push(value);
    text
}
