//! What a component is made of, whether or not it fits the contract.

use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use super::component::{LoadError, check_kind};
use super::engine::Engine;
use super::fault::root_cause;
use super::limits::Limits;

/// What a component imports and exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anatomy {
    /// Names of what it imports; those in an interface as `interface#name`.
    pub imports: Vec<String>,
    /// Names of what it exports, in the same way.
    pub exports: Vec<String>,
}

impl Anatomy {
    /// Takes a component apart. It is compiled, and not run.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotAComponent`].
    pub fn of(bytes: &[u8]) -> Result<Self, LoadError> {
        check_kind(bytes)?;
        let engine = Engine::new(Limits::default().memory)?;
        let engine = engine.wasmtime();
        let component =
            Component::from_binary(engine, bytes).map_err(|error| LoadError::NotAComponent(root_cause(&error)))?;
        let ty = component.component_type();
        let names = |items: Vec<(String, ComponentItem)>| {
            items.into_iter().flat_map(|(name, item)| below(engine, &name, item)).collect()
        };
        let imports = ty.imports(engine).map(|(name, item)| (name.to_owned(), item.ty)).collect();
        let exports = ty.exports(engine).map(|(name, item)| (name.to_owned(), item.ty)).collect();
        Ok(Self { imports: names(imports), exports: names(exports) })
    }
}

/// The functions and resources of an interface, or the item itself.
fn below(engine: &wasmtime::Engine, name: &str, item: ComponentItem) -> Vec<String> {
    let ComponentItem::ComponentInstance(instance) = item else { return vec![name.to_owned()] };
    let is_code = |item: &ComponentItem| {
        matches!(item, ComponentItem::ComponentFunc(_) | ComponentItem::CoreFunc(_) | ComponentItem::Resource(_))
    };
    instance.exports(engine).filter(|(_, item)| is_code(&item.ty)).map(|(item, _)| format!("{name}#{item}")).collect()
}
