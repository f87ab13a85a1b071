//! What the functions of the inert WASI answer.

use wasmtime::StoreContextMut;
use wasmtime::component::types::{ComponentFunc, ResourceType as DeclaredResource, Type};
use wasmtime::component::{ResourceDynamic, Val};

use super::{Guard, Refusal};

/// Random bytes that are given out at a time. Each of them is a value of its own on the way.
pub(super) const RANDOM_BYTES: u64 = 4096;

/// Bytes that a stream says it would take. It takes whatever comes; what comes is bounded by the fuel of the call.
const WRITABLE: u64 = 4096;

/// What a function answers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    /// There is no such function: a call of it traps.
    None,
    /// Nothing, since it returns nothing.
    Nothing,
    /// An empty list.
    EmptyList,
    /// No value.
    Absent,
    /// Done.
    Done,
    /// Done, and room for more.
    Writable,
    /// The stream has ended.
    Ended,
    /// Yes.
    Yes,
    /// All that was asked about.
    All,
    /// The time, which is always the same: nought.
    Instant,
    /// The time as a record, likewise.
    Moment,
    /// A new handle of the resource with this number.
    Handle(u32),
    /// A random number.
    Random,
    /// Two of them.
    RandomPair,
    /// As many random bytes as asked for.
    RandomBytes,
}

impl Answer {
    /// The answer of a function, by the interface's name without its version.
    pub fn of(
        interface: &str,
        function: &str,
        ty: &ComponentFunc,
        mut number: impl FnMut(DeclaredResource) -> wasmtime::Result<u32>,
    ) -> wasmtime::Result<Self> {
        let interface = interface.split_once('@').map_or(interface, |(name, _)| name);
        Ok(match (interface, function) {
            ("wasi:cli/environment", "get-environment" | "get-arguments")
            | ("wasi:filesystem/preopens", "get-directories") => Self::EmptyList,
            ("wasi:cli/environment", "initial-cwd" | "get-initial-cwd")
            | ("wasi:cli/terminal-stdin", "get-terminal-stdin")
            | ("wasi:cli/terminal-stdout", "get-terminal-stdout")
            | ("wasi:cli/terminal-stderr", "get-terminal-stderr") => Self::Absent,
            ("wasi:cli/stdin", "get-stdin")
            | ("wasi:cli/stdout", "get-stdout")
            | ("wasi:cli/stderr", "get-stderr")
            | ("wasi:clocks/monotonic-clock", "subscribe-instant" | "subscribe-duration")
            | ("wasi:io/streams", "[method]output-stream.subscribe" | "[method]input-stream.subscribe") => {
                match ty.results().next() {
                    Some(Type::Own(resource)) => Self::Handle(number(resource)?),
                    _ => Self::None,
                }
            }
            ("wasi:io/streams", "[method]output-stream.check-write") => Self::Writable,
            (
                "wasi:io/streams",
                "[method]output-stream.write"
                | "[method]output-stream.blocking-write-and-flush"
                | "[method]output-stream.flush"
                | "[method]output-stream.blocking-flush",
            ) => Self::Done,
            ("wasi:io/streams", "[method]input-stream.read" | "[method]input-stream.blocking-read") => Self::Ended,
            ("wasi:io/poll", "[method]pollable.ready") => Self::Yes,
            ("wasi:io/poll", "[method]pollable.block") => Self::Nothing,
            ("wasi:io/poll", "poll") => Self::All,
            ("wasi:clocks/monotonic-clock", "now" | "resolution") => Self::Instant,
            ("wasi:clocks/wall-clock", "now" | "resolution") => Self::Moment,
            ("wasi:random/random", "get-random-u64") | ("wasi:random/insecure", "get-insecure-random-u64") => {
                Self::Random
            }
            ("wasi:random/random", "get-random-bytes") | ("wasi:random/insecure", "get-insecure-random-bytes") => {
                Self::RandomBytes
            }
            ("wasi:random/insecure-seed", "insecure-seed") => Self::RandomPair,
            _ => Self::None,
        })
    }

    /// The value, for these arguments.
    pub fn give(
        self,
        store: &mut StoreContextMut<'_, Guard>,
        name: &str,
        given: &[Val],
    ) -> wasmtime::Result<Option<Val>> {
        let other_types = || wasmtime::Error::new(Refusal::OtherTypes(name.to_owned()));
        Ok(Some(match self {
            Self::None => return Err(wasmtime::Error::new(Refusal::Missing(name.to_owned()))),
            Self::Nothing => return Ok(None),
            Self::EmptyList => Val::List(Vec::new()),
            Self::Absent => Val::Option(None),
            Self::Done => Val::Result(Ok(None)),
            Self::Writable => Val::Result(Ok(Some(Box::new(Val::U64(WRITABLE))))),
            Self::Ended => Val::Result(Err(Some(Box::new(Val::Variant("closed".into(), None))))),
            Self::Yes => Val::Bool(true),
            Self::All => match given {
                [Val::List(asked)] => {
                    Val::List((0..asked.len()).filter_map(|i| u32::try_from(i).ok()).map(Val::U32).collect())
                }
                _ => return Err(other_types()),
            },
            Self::Instant => Val::U64(0),
            Self::Moment => Val::Record(vec![("seconds".into(), Val::U64(0)), ("nanoseconds".into(), Val::U32(0))]),
            Self::Handle(resource) => {
                store.data_mut().inert.give().map_err(wasmtime::Error::new)?;
                Val::Resource(ResourceDynamic::new_own(0, resource).try_into_resource_any(store)?)
            }
            Self::Random => Val::U64(store.data_mut().inert.random()),
            Self::RandomPair => {
                let inert = &mut store.data_mut().inert;
                Val::Tuple(vec![Val::U64(inert.random()), Val::U64(inert.random())])
            }
            Self::RandomBytes => match given {
                [Val::U64(length @ 0..=RANDOM_BYTES)] => {
                    let inert = &mut store.data_mut().inert;
                    let bytes = std::iter::repeat_with(|| inert.random().to_le_bytes()).flatten();
                    Val::List(bytes.take(usize::try_from(*length)?).map(Val::U8).collect())
                }
                [Val::U64(_)] => return Err(wasmtime::Error::new(Refusal::TooManyBytes)),
                _ => return Err(other_types()),
            },
        }))
    }
}
