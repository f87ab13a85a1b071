//! Timing in batches, so that the clock's own cost and grain do not count, and in turns, so that a slow moment of the
//! machine falls on every measurement alike and the ratios between them hold.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// Calls in a batch. A figure is a batch's time divided by this.
const BATCH: u32 = 100;

/// Turns that each measurement gets.
const TURNS: u32 = 20;

/// Something to time.
pub struct Measurement {
    call: Box<dyn FnMut() -> Result<()>>,
    batches: Vec<Duration>,
}

/// Nanoseconds a call over all batches of a measurement.
pub struct Figures {
    pub median_ns: u64,
    pub p99_ns: u64,
}

impl Measurement {
    pub fn new<T>(mut call: impl FnMut() -> Result<T> + 'static) -> Self {
        let call = move || {
            black_box(call()?);
            Ok(())
        };
        Self { call: Box::new(call), batches: Vec::new() }
    }

    pub fn figures(&self) -> Result<Figures> {
        let mut sorted = self.batches.clone();
        sorted.sort_unstable();
        Ok(Figures { median_ns: quantile(&sorted, 50)?, p99_ns: quantile(&sorted, 99)? })
    }

    /// One turn: a warm-up of a quarter of `span`, then batches for at least `span`.
    fn turn(&mut self, span: Duration) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < span / 4 {
            self.batch()?;
        }
        let begin = Instant::now();
        while begin.elapsed() < span {
            let batch = self.batch()?;
            self.batches.push(batch);
        }
        Ok(())
    }

    fn batch(&mut self) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..BATCH {
            (self.call)()?;
        }
        Ok(start.elapsed())
    }
}

/// Times each measurement for at least `span`.
///
/// Returns an error when a call fails: a failed call is not a measurement.
pub fn run<'a>(measurements: impl IntoIterator<Item = &'a mut Measurement>, span: Duration) -> Result<()> {
    let mut measurements: Vec<_> = measurements.into_iter().collect();
    for _ in 0..TURNS {
        for measurement in &mut measurements {
            measurement.turn(span / TURNS)?;
        }
    }
    Ok(())
}

/// The smallest batch that at least `percent` of all batches do not exceed, per call.
fn quantile(sorted: &[Duration], percent: usize) -> Result<u64> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    let batch = sorted.get(rank - 1).context("nothing was measured")?;
    Ok(u64::try_from((*batch / BATCH).as_nanos())?)
}
