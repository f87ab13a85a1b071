//! What the figures were measured on.

use std::fmt;
use std::thread;

use serde_json::{Value, json};

/// A machine and a toolchain, as a figure is quoted with them.
#[derive(Debug)]
pub struct Machine {
    processor: String,
    cores: usize,
    kernel: String,
    rustc: &'static str,
    /// Whether the kernel can say which pages were written, so that a fresh instance clears only those.
    pub pagemap_scan: bool,
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let kernel = read("/proc/sys/kernel/osrelease").unwrap_or_else(|| std::env::consts::OS.into());
        Self {
            processor: processor().unwrap_or_else(|| std::env::consts::ARCH.into()),
            cores: thread::available_parallelism().map_or(1, usize::from),
            pagemap_scan: cfg!(target_os = "linux") && version(&kernel).is_some_and(|v| v >= (6, 7)),
            kernel,
            rustc: env!("BENCH_RUSTC"),
        }
    }

    /// The machine as a line of JSON.
    pub fn json(&self) -> Value {
        json!({
            "processor": self.processor,
            "cores": self.cores,
            "kernel": self.kernel,
            "rustc": self.rustc,
            "pagemapScan": self.pagemap_scan,
        })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has = if self.pagemap_scan { "with" } else { "without" };
        write!(
            f,
            "{}, {} cores; kernel {} ({has} PAGEMAP_SCAN); {}",
            self.processor, self.cores, self.kernel, self.rustc
        )
    }
}

fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The processor's name; x86 and ARM kernels use different words for it.
fn processor() -> Option<String> {
    let text = read("/proc/cpuinfo")?;
    let field = |wanted: &str| {
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(name, _)| name.trim() == wanted).map(|(_, value)| value.trim().to_owned())
    };
    field("model name").or_else(|| field("Model")).or_else(|| field("CPU part").map(|part| format!("ARM part {part}")))
}

/// First two numbers of a kernel's version.
fn version(kernel: &str) -> Option<(u32, u32)> {
    let mut numbers = kernel.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::version;

    #[test]
    fn kernels_are_told_apart() {
        let rows =
            [("6.18.44-x", Some((6, 18))), ("6.7.0", Some((6, 7))), ("5.10-rc1", Some((5, 10))), ("linux", None)];
        for (kernel, expected) in rows {
            assert_eq!(version(kernel), expected, "{kernel}");
        }
    }
}
