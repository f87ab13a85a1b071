//! An inert WASI, for modules whose language brings imports of `wasi:` along. Only where `module.allowInertWasi` is set.
//!
//! It is no WASI to do anything with: there are no files, no environment, no arguments and no network; standard streams
//! swallow what is written and read as ended; the clock stands still; random numbers start with the same seed in every call.
//! What a language's runtime calls on its way is answered so, from one table; everything else traps. A module gets nothing
//! from it that it could not have made up by itself, so a decision stays a pure function of settings and facts.
//!
//! Which versions and functions a component imports is read from its type, so nothing here is bound to one release of WASI.
//!
//! Nothing a module does here makes the host's memory grow: handles are counted, what it hands over is bounded by the fuel
//! of every call into the host, and what it asks for is bounded below. Nothing waits.

mod answer;

use thiserror::Error;
use wasmtime::Engine;
use wasmtime::StoreContextMut;
use wasmtime::component::types::{ComponentInstance, ComponentItem, ResourceType as DeclaredResource};
use wasmtime::component::{Component, Linker, LinkerInstance, ResourceType, Val};

use super::limits::Guard;
use answer::Answer;

/// Handles that a module may hold at once. A runtime needs its standard streams and something to wait for.
const HANDLES: u32 = 64;

/// The seed of every call's random numbers. Any number would do, as long as it is always the same.
const SEED: u64 = 0x746f_6f6c_7761_7264;

/// What an instance did with its inert WASI.
#[derive(Debug)]
pub(crate) struct State {
    handles: u32,
    random: u64,
}

impl State {
    pub const fn new() -> Self {
        Self { handles: 0, random: SEED }
    }

    /// A call begins: its random numbers do not depend on the calls before it.
    pub const fn begin(&mut self) {
        self.random = SEED;
    }

    /// The next random number (SplitMix64): evenly spread, and no secret at all.
    const fn random(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Counts a handle that is given out.
    fn give(&mut self) -> Result<(), Refusal> {
        if self.handles == HANDLES {
            return Err(Refusal::TooManyHandles);
        }
        self.handles += 1;
        Ok(())
    }

    /// Counts a handle that came back.
    const fn take_back(&mut self) {
        self.handles = self.handles.saturating_sub(1);
    }
}

/// Why a call of the inert WASI traps.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// There is no such thing.
    #[error("inert WASI has no `{0}`")]
    Missing(String),
    /// Handles would fill the host's memory.
    #[error("inert WASI gives out at most {HANDLES} handles at a time")]
    TooManyHandles,
    /// So would these bytes.
    #[error("inert WASI gives out at most {} random bytes at a time", answer::RANDOM_BYTES)]
    TooManyBytes,
    /// The function exists, with other types than it should have.
    #[error("inert WASI knows `{0}` with other types")]
    OtherTypes(String),
}

/// Whether an import is one of WASI's interfaces.
pub(super) fn is_wasi(name: &str, item: &ComponentItem) -> bool {
    name.starts_with("wasi:") && matches!(item, ComponentItem::ComponentInstance(_))
}

/// Defines every interface of `wasi:` that the component imports.
pub(super) fn link(linker: &mut Linker<Guard>, engine: &Engine, component: &Component) -> wasmtime::Result<()> {
    let mut resources = Resources::default();
    for (name, import) in component.component_type().imports(engine) {
        if let ComponentItem::ComponentInstance(interface) = import.ty
            && name.starts_with("wasi:")
        {
            define(&mut linker.instance(name)?, engine, name, &interface, &mut resources)?;
        }
    }
    Ok(())
}

/// The resources that the component's imports declare. Interfaces hand one another's resources on; the same resource is the
/// same number everywhere.
#[derive(Default)]
struct Resources(Vec<DeclaredResource>);

impl Resources {
    fn number(&mut self, resource: DeclaredResource) -> wasmtime::Result<u32> {
        let known = self.0.iter().position(|known| *known == resource);
        let number = known.unwrap_or_else(|| {
            self.0.push(resource);
            self.0.len() - 1
        });
        Ok(u32::try_from(number)?)
    }
}

fn define(
    linker: &mut LinkerInstance<'_, Guard>,
    engine: &Engine,
    interface: &str,
    ty: &ComponentInstance,
    resources: &mut Resources,
) -> wasmtime::Result<()> {
    for (name, item) in ty.exports(engine) {
        match item.ty {
            ComponentItem::Resource(resource) => {
                let ty = ResourceType::host_dynamic(resources.number(resource)?);
                linker.resource(name, ty, |mut store, _| {
                    store.data_mut().inert.take_back();
                    Ok(())
                })?;
            }
            ComponentItem::ComponentFunc(function) => {
                let full = toolwarden_text::clip(&format!("{interface}#{name}"), 160).into_owned();
                let answer = Answer::of(interface, name, &function, |resource| resources.number(resource))?;
                linker.func_new(name, move |store, _, given, results| respond(store, &full, answer, given, results))?;
            }
            // Types need no definition, and WASI's interfaces hold nothing else. What does is not linked, and said so later.
            _ => {}
        }
    }
    Ok(())
}

fn respond(
    mut store: StoreContextMut<'_, Guard>,
    name: &str,
    answer: Answer,
    given: &[Val],
    results: &mut [Val],
) -> wasmtime::Result<()> {
    if matches!(answer, Answer::None) {
        return Err(wasmtime::Error::new(Refusal::Missing(name.to_owned())));
    }
    let answered = answer.give(&mut store, name, given)?;
    // Borrowed handles are only given back by whoever was lent them.
    release(&mut store, given)?;
    match (answered, results) {
        (None, []) => Ok(()),
        (Some(value), [result]) => {
            *result = value;
            Ok(())
        }
        _ => Err(wasmtime::Error::new(Refusal::OtherTypes(name.to_owned()))),
    }
}

/// Gives handles back: those given by themselves and those in a list. The functions that answer take no others.
fn release(store: &mut StoreContextMut<'_, Guard>, given: &[Val]) -> wasmtime::Result<()> {
    for value in given {
        match value {
            Val::Resource(handle) => handle.resource_drop(&mut *store)?,
            Val::List(values) => release(store, values)?,
            _ => {}
        }
    }
    Ok(())
}
