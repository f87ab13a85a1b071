;; A core module: what cargo makes before it is made a component.
(module)
