;; Opens one stream after the other and gives none back.
(component
  (import "wasi:io/streams@0.2.0" (instance $streams
    (export "output-stream" (type (sub resource)))))
  (alias export $streams "output-stream" (type $stream))
  (import "wasi:cli/stdout@0.2.0" (instance $stdout
    (alias outer 1 $stream (type $stream))
    (export "output-stream" (type $output (eq $stream)))
    (export "get-stdout" (func (result (own $output))))))
  (core func $get (canon lower (func $stdout "get-stdout")))
  (core module $start
    (import "host" "get" (func $get (result i32)))
    (func $run
      (loop $again
        (drop (call $get))
        (br $again)))
    (start $run))
  (core instance (instantiate $start
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
