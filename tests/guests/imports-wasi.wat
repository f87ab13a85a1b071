;; Wants the environment, as a program built for a WASI target does; a policy module imports nothing.
(component
  (import "wasi:cli/environment@0.2.0" (instance
    (export "get-arguments" (func (result (list string)))))))
