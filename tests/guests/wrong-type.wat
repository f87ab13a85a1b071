;; All functions of the contract by name, none by type.
(component
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
