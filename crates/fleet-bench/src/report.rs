//! Figures as text: samples as min / median / max, two sides as a ratio.

use std::time::Duration;

/// Prints a line.
#[expect(clippy::print_stdout, reason = "the benchmarks' only way to say anything")]
pub(crate) fn line(text: std::fmt::Arguments<'_>) {
    println!("{text}");
}

/// Measured values of one kind.
#[derive(Debug, Default, Clone)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    pub(crate) fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// Adds milliseconds.
    pub(crate) fn add_time(&mut self, time: Duration) {
        self.add(time.as_secs_f64() * 1e3);
    }

    /// The value that a share of the samples does not exceed; 0 without samples.
    pub(crate) fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "an index into samples"
        )]
        let at = (share * sorted.len().saturating_sub(1) as f64).round() as usize;
        sorted.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn median(&self) -> f64 {
        self.quantile(0.5)
    }

    /// `min / median / max unit`.
    pub(crate) fn spread(&self, unit: &str) -> String {
        let [low, middle, high] = [0.0, 0.5, 1.0].map(|share| figure(self.quantile(share)));
        format!("{low} / {middle} / {high} {unit}")
    }
}

impl Extend<f64> for Samples {
    fn extend<T: IntoIterator<Item = f64>>(&mut self, values: T) {
        self.0.extend(values);
    }
}

/// Three significant digits, or all of a whole part.
pub(crate) fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// Kilobytes as MiB.
pub(crate) fn mebibytes(kilobytes: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
    let value = kilobytes as f64 / 1024.0;
    format!("{} MiB", figure(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_shown_by_their_order_and_not_by_their_arrival() {
        let mut samples = Samples::default();
        samples.extend([30.0, 1.0, 200.4]);
        assert_eq!(samples.spread("ms"), "1.00 / 30.0 / 200 ms");
        assert_eq!(Samples::default().spread("ms"), "0.00 / 0.00 / 0.00 ms");
    }
}
