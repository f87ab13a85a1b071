//! The wasmtime engine that policy modules run on, and the clock of their deadlines.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use wasmtime::{Enabled, InstanceAllocationStrategy, PoolingAllocationConfig};

use super::LoadError;
use super::fault::root_cause;
use super::tuning;

/// Length of one epoch. Shorter ticks would wake the process more often than a deadline in tens of milliseconds needs.
const TICK: Duration = Duration::from_millis(5);

/// Instances of one module that may exist at once. A decision takes microseconds, so that many would be at work only if
/// hundreds of threads decided at the same time; whoever comes later waits its turn.
pub(crate) const INSTANCES: u32 = 32;

/// Slots of an engine's pool: the same component may run under several settings, the old ones until their calls are over.
/// A slot reserves address space for its whole memory and a guard behind it, 4 GiB and more. Where there is too little for
/// the first number the next is tried; with few slots, calls wait for one another.
const SLOTS: [u32; 3] = [4 * INSTANCES, INSTANCES, 4];

/// An engine. Cheap to clone; the ticker stops when the last clone is gone.
#[derive(Clone)]
pub(crate) struct Engine {
    inner: wasmtime::Engine,
    _ticker: Arc<Ticker>,
}

impl Engine {
    /// An engine whose modules get this much memory each, in bytes.
    pub fn new(memory: usize) -> Result<Self, LoadError> {
        let pooled = |slots| {
            let mut config = tuning::config();
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(memory, slots)));
            wasmtime::Engine::new(&config).ok()
        };
        let inner = SLOTS
            .into_iter()
            .find_map(pooled)
            // Where there is no room for any pool, instances are made as they are needed.
            .map_or_else(|| wasmtime::Engine::new(&tuning::config()), Ok)
            .map_err(|error| LoadError::Engine(root_cause(&error)))?;
        let ticker = Arc::new(Ticker);
        tick(inner.weak(), Arc::downgrade(&ticker)).map_err(|error| LoadError::Engine(error.to_string()))?;
        Ok(Self { inner, _ticker: ticker })
    }

    pub const fn wasmtime(&self) -> &wasmtime::Engine {
        &self.inner
    }

    /// A deadline in epochs: the current one may be about to end, so it does not count.
    pub fn epochs(deadline: Duration) -> u64 {
        u64::try_from(deadline.as_millis().div_ceil(TICK.as_millis())).unwrap_or(u64::MAX).saturating_add(1)
    }
}

/// Lives as long as some engine does.
struct Ticker;

/// Advances the epoch until the engine is gone.
fn tick(engine: wasmtime::EngineWeak, alive: std::sync::Weak<Ticker>) -> std::io::Result<()> {
    let run = move || {
        while alive.strong_count() > 0 {
            thread::sleep(TICK);
            let Some(engine) = engine.upgrade() else { return };
            engine.increment_epoch();
        }
    };
    thread::Builder::new().name("toolwarden-epoch".into()).spawn(run).map(drop)
}

fn pool(memory: usize, slots: u32) -> PoolingAllocationConfig {
    // The default module is made of one core module, JavaScript's components of a few, Python's of 24 to 38: one for each of
    // its libraries. Instances of core modules and tables take address space and counters, no memory, until they are used.
    const CORE_INSTANCES: u32 = 64;
    const TABLES: u32 = 8;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots * CORE_INSTANCES)
        .total_memories(slots)
        .total_tables(slots * TABLES)
        .max_core_instances_per_component(CORE_INSTANCES)
        .max_memories_per_component(2)
        .max_memories_per_module(1)
        .max_tables_per_component(TABLES)
        .max_tables_per_module(TABLES)
        .table_elements(20_000)
        .max_core_instance_size(1 << 20)
        .max_component_instance_size(1 << 20)
        .max_memory_size(memory)
        // What a call of the default module touches. Kept, it need not be faulted in again by the next fresh instance; where
        // the kernel can say which pages were written, only those are cleared.
        .linear_memory_keep_resident(128 << 10)
        .table_keep_resident(4 << 10)
        .pagemap_scan(Enabled::Auto);
    pool
}
