;; Wants a thousand gigabytes of random numbers, after eight bytes that must be the same on every instance.
(component
  (import "wasi:random/random@0.2.0" (instance $random
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))
  (core module $memory
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $memory (instantiate $memory))
  (alias core export $memory "memory" (core memory $bytes))
  (core func $get (canon lower (func $random "get-random-bytes")
    (memory $bytes) (realloc (core func $memory "realloc"))))
  (core module $start
    (import "memory" "memory" (memory 1))
    (import "host" "get" (func $get (param i64 i32)))
    (func $run
      (call $get (i64.const 8) (i32.const 0))
      (if (i64.ne (i64.load (i32.const 1024)) (i64.const 0x9436bab46ed8b70a)) (then unreachable))
      (call $get (i64.const 1_000_000_000_000) (i32.const 0)))
    (start $run))
  (core instance (instantiate $start
    (with "memory" (instance $memory))
    (with "host" (instance (export "get" (func $get))))))
  (component $policy
    (core module $module
      (func (export "nothing")))
    (core instance $core (instantiate $module))
    (func $nothing (canon lift (core func $core "nothing")))
    (export "describe" (func $nothing))
    (export "configure" (func $nothing))
    (export "admit-tools" (func $nothing))
    (export "should-defer" (func $nothing))
    (export "should-defer-all" (func $nothing))
    (export "is-approval-gated" (func $nothing))
    (export "classify-cwd" (func $nothing)))
  (instance $decisions (instantiate $policy))
  (export "toolwarden:policy/decisions@0.1.0" (instance $decisions)))
