//! A module's life: load, compile, instance; and what the component is.

use std::hint::black_box;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use toolwarden::module::{Component, Digest, Isolation, Limits, PolicyModule};

use crate::subject::{COMPONENT, Subject, component};
use crate::table::{Cell, Row};
use crate::timing::{Measurement, Plan, samples};

/// Nanoseconds to load the embedded module.
const LOAD: f64 = 500_000.0;
/// Bytes of the component.
const SIZE: usize = 200 << 10;

/// The rows on the embedded module.
pub fn rows(subject: &Subject, plan: Plan) -> Result<Vec<Row>> {
    let loaded = component(Isolation::Pooled)?;
    ensure!(loaded.info().digest == Digest::of(COMPONENT), "the embedded component is not the one of the repository");
    // A load is short enough to be measured often.
    let often = Plan { samples: plan.samples * 10, ..plan };
    let [load, configured] = samples(
        [
            Measurement::prepared(|| (), |()| Ok(Component::embedded(black_box(Limits::default()))?)),
            Measurement::prepared(
                || Arc::clone(&loaded),
                |component| Ok(PolicyModule::new(component, black_box(subject.settings()))?),
            ),
        ],
        often,
    )?;
    let compile =
        Measurement::prepared(|| (), |()| Ok(Component::from_bytes(black_box(COMPONENT), Limits::default())?));
    let [compile] = samples([compile], plan)?;
    let imports = imports(COMPONENT).context("the component cannot be read")?;
    Ok(vec![
        Row { cold: load.into(), ..Row::new("load of the embedded module, compiled ahead of time") }
            .reach("<= 500 us", load.median <= LOAD),
        Row { cold: compile.into(), ..Row::new("load of a module that is compiled now") },
        Row { fresh: configured.into(), ..Row::new("a first instance under settings") },
        Row { cold: Cell::Count(COMPONENT.len(), "bytes"), ..Row::new("size of the component") }
            .reach("<= 204800 bytes", COMPONENT.len() <= SIZE),
        Row { cold: Cell::Count(imports, "imports"), ..Row::new("imports of the component") }
            .reach("none", imports == 0),
    ])
}

/// Number of imports that a component declares: the entries of its import sections. None of what is no component.
fn imports(component: &[u8]) -> Option<usize> {
    /// Number of the import section. Source: component model, binary format.
    const IMPORTS: u8 = 10;
    let mut rest = component.strip_prefix(&[0, b'a', b's', b'm', 13, 0, 1, 0])?;
    let mut imports = 0;
    while let Some((&section, behind)) = rest.split_first() {
        let (length, behind) = number(behind)?;
        let (body, behind) = behind.split_at_checked(length)?;
        if section == IMPORTS {
            imports += number(body)?.0;
        }
        rest = behind;
    }
    Some(imports)
}

/// An unsigned LEB128 number, and what stands behind it.
fn number(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let mut number = 0_usize;
    for (at, &byte) in bytes.iter().enumerate().take(5) {
        number |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, bytes.get(at + 1..)?));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{imports, number};

    #[test]
    fn numbers_and_imports_are_read() {
        assert_eq!(number(&[0xe5, 0x8e, 0x26, 7]), Some((624_485, &[7][..])));
        assert_eq!(number(&[0x80]), None);
        let empty = [0, b'a', b's', b'm', 13, 0, 1, 0];
        assert_eq!(imports(&empty), Some(0));
        assert_eq!(imports(&[&empty[..], &[10, 2, 3, 0]].concat()), Some(3));
        assert_eq!(imports(b"\0asm\x01\0\0\0"), None);
    }
}
