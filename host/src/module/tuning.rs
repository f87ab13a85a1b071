//! How wasmtime compiles a policy module. The build script includes this file: what is compiled ahead of time must be
//! compiled as the running engine would.

/// The part of the engine's configuration that shapes compiled code.
///
/// A decision takes microseconds, is called synchronously and imports nothing. So: no fibers, no fuel, an epoch check as the
/// deadline, and none of the proposals that a policy has no use for.
pub(crate) fn config() -> wasmtime::Config {
    let mut config = wasmtime::Config::new();
    config
        // A bare typed call costs a third of what it costs with concurrency support.
        .concurrency_support(false)
        // The deadline: about a quarter on a call of a microsecond, nothing on a loop. Fuel costs more.
        .epoch_interruption(true)
        // A policy call is shallow. An overflow is a typed trap.
        .max_wasm_stack(256 * 1024)
        // Traps are told by their code; nobody reads a stack of addresses.
        .wasm_backtrace_max_frames(None)
        .generate_address_map(false)
        .cranelift_opt_level(wasmtime::OptLevel::Speed)
        .wasm_component_model(true)
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false);
    config
}
