;; Wants WASI, and something else beside it.
(component
  (import "wasi:cli/environment@0.2.0" (instance
    (export "get-arguments" (func (result (list string))))))
  (import "evil:host/shell@1.0.0" (instance
    (export "run" (func (param "command" string))))))
