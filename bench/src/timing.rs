//! Timing in batches, so that the clock's own cost and grain do not count, and in turns, so that a slow moment of the
//! machine falls on every measurement alike and the ratios between them hold.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// How long things are measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Time that each measurement gets at least, over all turns.
    pub span: Duration,
    /// Turns that each measurement gets.
    pub turns: u32,
    /// Samples of what takes milliseconds.
    pub samples: u32,
    /// Swaps under load.
    pub swaps: u64,
}

impl Plan {
    /// Figures to quote.
    pub const WHOLE: Self = Self { span: Duration::from_secs(2), turns: 20, samples: 31, swaps: 1_000 };
    /// Shows that everything runs; the figures are rough.
    pub const QUICK: Self = Self { span: Duration::from_millis(60), turns: 3, samples: 1, swaps: 100 };
}

/// Does the work so many times, and says how long it took.
type Work<'m> = Box<dyn FnMut(u32) -> Result<Duration> + 'm>;

/// Something to time.
pub struct Measurement<'m> {
    work: Work<'m>,
    /// Repetitions in a batch.
    batch: u32,
    /// Nanoseconds a repetition, one for each batch.
    batches: Vec<f64>,
    /// Median of each turn's batches.
    turns: Vec<f64>,
}

/// What came of a measurement that took turns.
#[derive(Clone, Debug)]
pub struct Timed {
    /// Over all turns.
    pub figure: Figure,
    turns: Vec<f64>,
}

/// Nanoseconds of one repetition.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// 5th percentile of the batches: what the machine does when nobody else uses it.
    pub p5: f64,
    /// Median of the batches.
    pub median: f64,
    /// 99th percentile of the batches.
    pub p99: f64,
}

impl<'m> Measurement<'m> {
    /// A call of microseconds, in batches of a hundred. What it answers is kept from the optimizer.
    pub fn call<T>(mut call: impl FnMut() -> Result<T> + 'm) -> Self {
        Self::work(100, move |repetitions| {
            let begin = Instant::now();
            for _ in 0..repetitions {
                black_box(call()?);
            }
            Ok(begin.elapsed())
        })
    }

    /// Something of which each repetition is prepared before its time starts, and cleared away after it ends.
    pub fn prepared<P, T>(mut prepare: impl FnMut() -> P + 'm, mut work: impl FnMut(P) -> Result<T> + 'm) -> Self {
        Self::work(1, move |_| {
            let prepared = black_box(prepare());
            let begin = Instant::now();
            let done = black_box(work(prepared)?);
            let took = begin.elapsed();
            drop(done);
            Ok(took)
        })
    }

    fn work(batch: u32, work: impl FnMut(u32) -> Result<Duration> + 'm) -> Self {
        Self { work: Box::new(work), batch, batches: Vec::new(), turns: Vec::new() }
    }

    /// What was measured.
    fn figure(&self) -> Result<Figure> {
        Figure::of(self.batches.clone()).context("nothing was measured")
    }

    /// One turn: a warm-up of a quarter of the time, then batches for at least that time.
    fn turn(&mut self, span: Duration) -> Result<()> {
        let begin = Instant::now();
        while begin.elapsed() < span / 4 {
            (self.work)(self.batch)?;
        }
        let before = self.batches.len();
        let begin = Instant::now();
        while begin.elapsed() < span {
            self.once()?;
        }
        let turn = Figure::of(self.batches.iter().skip(before).copied().collect());
        self.turns.extend(turn.map(|figure| figure.median));
        Ok(())
    }

    fn once(&mut self) -> Result<()> {
        let took = (self.work)(self.batch)?;
        self.batches.push(nanoseconds(took) / f64::from(self.batch));
        Ok(())
    }
}

impl Timed {
    /// How many times as long as another that it took turns with: the median over the turns, since a machine that is shared
    /// is faster in one turn than in the next.
    pub fn multiple_of(&self, other: &Self) -> f64 {
        let ratios = self.turns.iter().zip(&other.turns).map(|(ours, theirs)| ours / theirs).collect();
        Figure::of(ratios).map_or(f64::INFINITY, |ratios| ratios.median)
    }
}

impl Figure {
    /// Percentiles of some times in nanoseconds; none of no times.
    pub fn of(mut times: Vec<f64>) -> Option<Self> {
        times.sort_unstable_by(f64::total_cmp);
        let quantile = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100).max(1);
            times.get(rank - 1).copied()
        };
        Some(Self { p5: quantile(5)?, median: quantile(50)?, p99: quantile(99)? })
    }

    /// The same for one of so many equal parts.
    pub fn part(self, parts: u32) -> Self {
        let part = |time: f64| time / f64::from(parts);
        Self { p5: part(self.p5), median: part(self.median), p99: part(self.p99) }
    }
}

/// Times calls of microseconds, taking turns.
pub fn turns<const N: usize>(mut measurements: [Measurement; N], plan: Plan) -> Result<[Timed; N]> {
    for _ in 0..plan.turns {
        for measurement in &mut measurements {
            measurement.turn(plan.span / plan.turns)?;
        }
    }
    each(measurements, |measurement| Ok(Timed { figure: measurement.figure()?, turns: measurement.turns }))
}

/// Times what takes milliseconds or happens once: so many samples, taking turns, without a warm-up.
pub fn samples<const N: usize>(mut measurements: [Measurement; N], plan: Plan) -> Result<[Figure; N]> {
    for _ in 0..plan.samples {
        for measurement in &mut measurements {
            measurement.once()?;
        }
    }
    each(measurements, |measurement| measurement.figure())
}

fn each<'m, T, const N: usize>(
    measurements: [Measurement<'m>; N],
    finish: impl Fn(Measurement<'m>) -> Result<T>,
) -> Result<[T; N]> {
    let finished = measurements.into_iter().map(finish).collect::<Result<Vec<T>>>()?;
    finished.try_into().ok().context("a measurement is missing")
}

/// A duration in nanoseconds.
pub fn nanoseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests {
    use super::Figure;

    #[test]
    fn a_figure_is_taken_from_times_that_occurred() {
        let figure = Figure::of((1..=200).rev().map(f64::from).collect()).unwrap();
        assert_eq!([figure.p5, figure.median, figure.p99].map(|time| time.to_string()), ["10", "100", "198"]);
        assert!(Figure::of(Vec::new()).is_none());
    }
}
