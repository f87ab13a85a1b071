;; The contract's interface with `describe` alone. It answers as it should, so that the other functions are all that is wrong.
(component
  (component $policy
    (core module $module
      (memory (export "memory") 1)
      ;; The answer: address and length of each text.
      (data (i32.const 0)
        "\40\00\00\00\07\00\00\00"
        "\48\00\00\00\05\00\00\00"
        "\48\00\00\00\05\00\00\00"
        "\50\00\00\00\15\00\00\00"
        "\68\00\00\00\02\00\00\00")
      (data (i32.const 0x40) "missing")
      (data (i32.const 0x48) "0.1.0")
      (data (i32.const 0x50) "Describes itself only")
      (data (i32.const 0x68) "{}")
      (func (export "describe") (result i32)
        i32.const 0))
    (core instance $core (instantiate $module))
    (alias core export $core "memory" (core memory $memory))
    (type $record (record
      (field "name" string)
      (field "version" string)
      (field "contract" string)
      (field "summary" string)
      (field "settings-schema" string)))
    (export $description "description" (type $record))
    (func $describe (result $description)
      (canon lift (core func $core "describe") (memory $memory)))
    (export "describe" (func $describe)))
  (instance $decisions (instantiate $policy))
  (export "toolwarden:policy/decisions@0.1.0" (instance $decisions)))
