;; A component without anything.
(component)
