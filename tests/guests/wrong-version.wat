;; The contract's interface in a version that this host does not speak.
(component
  (instance $decisions)
  (export "toolwarden:policy/decisions@9.0.0" (instance $decisions)))
