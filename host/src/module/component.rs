//! A component that fits the contract.

use std::fmt;
use std::path::Path;

use thiserror::Error;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{self, Linker};

use super::aot;
use super::cache::{self, CachePolicy};
use super::contract::{self, PolicyPre};
use super::engine::Engine;
use super::fault::{Fault, causes, root_cause};
use super::inert;
use super::instance::Instance;
use super::limits::{Guard, Isolation, Limits, Wasi};
use crate::digest::Digest;

/// Bytes of a component at most. One with a script engine inside has 12 to 18 MB.
const LARGEST: u64 = 64 << 20;

/// Why a component cannot be used.
#[derive(Clone, Debug, Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read `{path}`: {problem}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        problem: String,
    },
    /// It is no component, or a damaged one.
    #[error("not a WebAssembly component: {0}")]
    NotAComponent(String),
    /// It wants something from the host.
    #[error("the module imports {0}; a policy module imports nothing")]
    Imports(String),
    /// It wants WASI, and the settings do not let it have an inert one.
    #[error(
        "the module imports {0}; a policy module imports nothing. If its language brings WASI along, `[module] allowInertWasi = true` \
         lets it have one that does nothing: what the module can reach stays the same, nothing"
    )]
    ImportsWasi(String),
    /// It does not export the contract's interface.
    #[error("the module does not export `{wanted}`{found}")]
    MissingInterface {
        /// What the contract asks for.
        wanted: String,
        /// What it exports instead.
        found: String,
    },
    /// It exports the interface without some of its functions.
    #[error("the module's `{interface}` lacks {functions}")]
    MissingFunctions {
        /// The interface.
        interface: String,
        /// What is missing.
        functions: String,
    },
    /// A function has other types than the contract says.
    #[error("the module does not fit the contract: {0}")]
    WrongType(String),
    /// It is built for another version of the contract.
    #[error("the module is built for contract version `{found}`, this host speaks `{wanted}`")]
    WrongContract {
        /// What the module says.
        found: String,
        /// What the host speaks.
        wanted: &'static str,
    },
    /// It failed while it described itself.
    #[error("the module cannot be asked what it is: {0}")]
    Undescribed(Fault),
    /// The engine cannot be set up.
    #[error("the WebAssembly engine cannot be set up: {0}")]
    Engine(String),
}

impl LoadError {
    /// A stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "module-unreadable",
            Self::NotAComponent(_) => "module-not-a-component",
            Self::Imports(_) | Self::ImportsWasi(_) => "module-imports",
            Self::MissingInterface { .. } => "module-missing-interface",
            Self::MissingFunctions { .. } => "module-missing-functions",
            Self::WrongType(_) => "module-wrong-type",
            Self::WrongContract { .. } => "module-wrong-contract",
            Self::Undescribed(fault) => fault.code(),
            Self::Engine(_) => "engine-unavailable",
        }
    }
}

/// What a module says of itself, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleInfo {
    /// Its name.
    pub name: String,
    /// Its own version.
    pub version: String,
    /// One sentence.
    pub summary: String,
    /// JSON Schema of its settings.
    pub settings_schema: String,
    /// Digest of its bytes.
    pub digest: Digest,
    /// Its size in bytes.
    pub size: usize,
    /// What it imports: nothing, or interfaces of an inert WASI.
    pub imports: Vec<String>,
}

/// Where a component's machine code came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compilation {
    /// The build script compiled it.
    AheadOfTime,
    /// It was compiled before, and kept.
    Cached,
    /// It was compiled for this very load.
    Now,
}

/// What a compiled component was made of.
#[derive(Clone, Copy)]
struct Source {
    compilation: Compilation,
    digest: Digest,
    size: usize,
}

/// A compiled component that imports nothing (or an inert WASI, where it may), exports the contract and is built for its version.
pub struct Component {
    pub(super) engine: Engine,
    pub(super) pre: PolicyPre<Guard>,
    pub(super) limits: Limits,
    info: ModuleInfo,
    compilation: Compilation,
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component").field("info", &self.info).finish_non_exhaustive()
    }
}

impl Component {
    /// The default module, embedded in this program and compiled ahead of time.
    ///
    /// # Errors
    ///
    /// [`LoadError::Engine`] where the machine cannot run WebAssembly.
    pub fn embedded(limits: Limits) -> Result<Self, LoadError> {
        Self::embedded_in(Engine::new(limits.memory)?, limits)
    }

    /// The digest of the default module.
    #[must_use]
    pub fn embedded_digest() -> Digest {
        Digest::from_bytes(*aot::DIGEST)
    }

    fn embedded_in(engine: Engine, limits: Limits) -> Result<Self, LoadError> {
        match aot::load(engine.wasmtime()) {
            Some(compiled) => {
                let compilation = Compilation::AheadOfTime;
                let source = Source { compilation, digest: Self::embedded_digest(), size: aot::COMPONENT.len() };
                Self::checked(engine, &compiled, source, limits)
            }
            None => Self::compiled(engine, aot::COMPONENT, limits, &CachePolicy::Off),
        }
    }

    /// The default module once more, in the engine that this component has.
    ///
    /// # Errors
    ///
    /// [`LoadError`] where this engine cannot run it.
    pub fn again(&self) -> Result<Self, LoadError> {
        Self::embedded_in(self.engine.clone(), self.limits)
    }

    /// A component from its bytes; compiling it takes tens of milliseconds a 100 KiB.
    ///
    /// # Errors
    ///
    /// [`LoadError`] that names what does not fit.
    pub fn from_bytes(bytes: &[u8], limits: Limits) -> Result<Self, LoadError> {
        Self::from_bytes_with(bytes, limits, &CachePolicy::Off)
    }

    /// A component from its bytes, which is compiled only if the cache does not have it. A cache that cannot be used is as
    /// good as none; [`CachePolicy::report`] says why.
    ///
    /// # Errors
    ///
    /// [`LoadError`] that names what does not fit.
    pub fn from_bytes_with(bytes: &[u8], limits: Limits, cache: &CachePolicy) -> Result<Self, LoadError> {
        Self::compiled(Engine::new(limits.memory)?, bytes, limits, cache)
    }

    /// A component from a file.
    ///
    /// # Errors
    ///
    /// [`LoadError`] that names what does not fit.
    pub fn from_file(path: &Path, limits: Limits) -> Result<Self, LoadError> {
        Self::from_bytes(&Self::read(path)?, limits)
    }

    /// A component from a file, which is compiled only if the cache does not have it.
    ///
    /// # Errors
    ///
    /// [`LoadError`] that names what does not fit.
    pub fn from_file_with(path: &Path, limits: Limits, cache: &CachePolicy) -> Result<Self, LoadError> {
        Self::from_bytes_with(&Self::read(path)?, limits, cache)
    }

    /// The bytes of a component's file.
    ///
    /// # Errors
    ///
    /// [`LoadError::Unreadable`] where it cannot be read, is no regular file or larger than 64 MiB.
    pub fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
        let unreadable = |problem: String| LoadError::Unreadable { path: path.display().to_string(), problem };
        let metadata = std::fs::metadata(path).map_err(|e| unreadable(e.to_string()))?;
        if !metadata.is_file() {
            return Err(unreadable("it is not a regular file".into()));
        }
        if metadata.len() > LARGEST {
            return Err(unreadable(format!("it is larger than {} MiB", LARGEST >> 20)));
        }
        std::fs::read(path).map_err(|e| unreadable(e.to_string()))
    }

    /// What the module is.
    #[must_use]
    pub const fn info(&self) -> &ModuleInfo {
        &self.info
    }

    /// Where the machine code came from.
    #[must_use]
    pub const fn compilation(&self) -> Compilation {
        self.compilation
    }

    fn compiled(engine: Engine, bytes: &[u8], limits: Limits, cache: &CachePolicy) -> Result<Self, LoadError> {
        check_kind(bytes)?;
        let digest = Digest::of(bytes);
        let key = cache::Key::new(engine.wasmtime(), digest);
        let kept = cache.load(&key).ok().flatten().and_then(|code| aot::from_cache(engine.wasmtime(), &code));
        let compilation = if kept.is_some() { Compilation::Cached } else { Compilation::Now };
        let compile = || component::Component::from_binary(engine.wasmtime(), bytes);
        let compiled = kept.map_or_else(compile, Ok).map_err(|error| LoadError::NotAComponent(root_cause(&error)))?;
        if compilation == Compilation::Now
            && *cache != CachePolicy::Off
            && let Ok(code) = compiled.serialize()
        {
            // Kept before it is checked: what is refused is refused quickly the next time. What cannot be kept is compiled
            // again.
            let _ = cache.store(&key, &code);
        }
        let source = Source { compilation, digest, size: bytes.len() };
        Self::checked(engine, &compiled, source, limits)
    }

    fn checked(
        engine: Engine,
        compiled: &component::Component,
        source: Source,
        limits: Limits,
    ) -> Result<Self, LoadError> {
        let imports = checked_imports(&engine, compiled, limits.wasi)?;
        check_exports(&engine, compiled)?;
        let wrong_type = |error: wasmtime::Error| LoadError::WrongType(causes(&error));
        let mut linker = Linker::new(engine.wasmtime());
        if limits.wasi == Wasi::Inert {
            inert::link(&mut linker, engine.wasmtime(), compiled).map_err(wrong_type)?;
        }
        let pre = linker.instantiate_pre(compiled).map_err(wrong_type)?;
        let pre = PolicyPre::new(pre).map_err(wrong_type)?;
        Instance::check_types(&engine, &pre, &limits)?;

        let mut instance = Instance::start(&engine, &pre, &limits).map_err(LoadError::Undescribed)?;
        let said = instance.describe().map_err(LoadError::Undescribed)?;
        if said.contract != contract::VERSION {
            let found = toolwarden_text::clip(&said.contract, 40).into_owned();
            return Err(LoadError::WrongContract { found, wanted: contract::VERSION });
        }
        let short = |text: &str| toolwarden_text::clip(text, 200).into_owned();
        let info = ModuleInfo {
            name: short(&said.name),
            version: short(&said.version),
            summary: short(&said.summary),
            settings_schema: said.settings_schema,
            digest: source.digest,
            size: source.size,
            imports,
        };
        Ok(Self { engine, pre, limits, info, compilation: source.compilation })
    }

    /// Whether instances serve more than one call.
    pub(super) fn is_pooled(&self) -> bool {
        self.limits.isolation == Isolation::Pooled
    }
}

/// Tells what the bytes are where they are no component, in words that help.
pub(super) fn check_kind(bytes: &[u8]) -> Result<(), LoadError> {
    let problem = match bytes.first_chunk::<8>() {
        None => "it is shorter than 8 bytes",
        Some([0, b'a', b's', b'm', 1, 0, 0, 0]) => {
            "it is a core module; `toolwarden policy build` makes a component of a crate"
        }
        Some([0, b'a', b's', b'm', _, _, 1, 0]) => return Ok(()),
        Some(_) => "it does not start like one",
    };
    Err(LoadError::NotAComponent(problem.into()))
}

/// The names of the imports, if the module may have them.
fn checked_imports(engine: &Engine, compiled: &component::Component, wasi: Wasi) -> Result<Vec<String>, LoadError> {
    let engine = engine.wasmtime();
    let ty = compiled.component_type();
    let (allowed, foreign): (Vec<_>, Vec<_>) =
        ty.imports(engine).partition(|(name, item)| inert::is_wasi(name, &item.ty));
    let list =
        |imports: &[(&str, _)]| imports.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if !foreign.is_empty() {
        return Err(LoadError::Imports(list(&foreign)));
    }
    if wasi == Wasi::Refused && !allowed.is_empty() {
        return Err(LoadError::ImportsWasi(list(&allowed)));
    }
    Ok(allowed.into_iter().map(|(name, _)| name.to_owned()).collect())
}

fn check_exports(engine: &Engine, compiled: &component::Component) -> Result<(), LoadError> {
    let engine = engine.wasmtime();
    let wanted = format!("{}@{}", contract::INTERFACE, contract::VERSION);
    let ty = compiled.component_type();
    let exports: Vec<(&str, ComponentItem)> = ty.exports(engine).map(|(name, item)| (name, item.ty)).collect();
    let Some(ComponentItem::ComponentInstance(interface)) =
        exports.iter().find(|(name, _)| *name == wanted).map(|(_, item)| item)
    else {
        let names: Vec<String> = exports.iter().map(|(name, _)| format!("`{name}`")).collect();
        let found =
            if names.is_empty() { ", nor anything else".into() } else { format!(", only {}", names.join(", ")) };
        return Err(LoadError::MissingInterface { wanted, found });
    };
    let present: Vec<&str> = interface.exports(engine).map(|(name, _)| name).collect();
    let missing: Vec<String> =
        contract::FUNCTIONS.iter().filter(|f| !present.contains(f)).map(|f| format!("`{f}`")).collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(LoadError::MissingFunctions { interface: wanted, functions: missing.join(", ") })
    }
}
