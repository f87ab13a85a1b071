;; Looks for a folder to open, finds none, and opens a file all the same.
(component
  (import "wasi:filesystem/types@0.2.0" (instance $types
    (export "descriptor" (type $descriptor (sub resource)))
    (export "open" (func (param "path" string) (result (own $descriptor))))))
  (alias export $types "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (alias outer 1 $descriptor (type $outer))
    (export "descriptor" (type $descriptor (eq $outer)))
    (export "get-directories" (func (result (list (tuple (own $descriptor) string)))))))
  (core module $memory
    (memory (export "memory") 1)
    (data (i32.const 0) "/etc/passwd")
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
  (core instance $memory (instantiate $memory))
  (alias core export $memory "memory" (core memory $bytes))
  (core func $folders (canon lower (func $preopens "get-directories")
    (memory $bytes) (realloc (core func $memory "realloc"))))
  (core func $open (canon lower (func $types "open") (memory $bytes)))
  (core module $start
    (import "memory" "memory" (memory 1))
    (import "host" "folders" (func $folders (param i32)))
    (import "host" "open" (func $open (param i32 i32) (result i32)))
    (func $run
      (call $folders (i32.const 64))
      ;; The length of the list: none.
      (if (i32.load (i32.const 68)) (then unreachable))
      (drop (call $open (i32.const 0) (i32.const 11))))
    (start $run))
  (core instance (instantiate $start
    (with "memory" (instance $memory))
    (with "host" (instance (export "folders" (func $folders)) (export "open" (func $open))))))
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
