;; Wants the network as soon as it starts.
(component
  (import "wasi:sockets/instance-network@0.2.0" (instance $sockets
    (export "network" (type $network (sub resource)))
    (export "instance-network" (func (result (own $network))))))
  (core func $network (canon lower (func $sockets "instance-network")))
  (core module $start
    (import "host" "network" (func $network (result i32)))
    (func $run (drop (call $network)))
    (start $run))
  (core instance (instantiate $start
    (with "host" (instance (export "network" (func $network))))))
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
