//! Numbers as people read them, and their middle.

/// The significant digits that a data file keeps.
const DIGITS: i32 = 6;

/// Returns a number with about three significant digits, and a comma at each thousand.
pub(crate) fn shown(value: f64) -> String {
    let size = value.abs();
    match size {
        _ if !value.is_finite() => "?".to_owned(),
        0.0 => "0".to_owned(),
        1000.0.. => grouped(value),
        99.95.. => format!("{value:.0}"),
        9.995.. => trimmed(&format!("{value:.1}")),
        0.995.. => trimmed(&format!("{value:.2}")),
        0.0995.. => trimmed(&format!("{value:.3}")),
        _ => trimmed(&format!("{value:.4}")),
    }
}

/// Returns the lowest and the highest of some values, as one number where they read the same.
pub(crate) fn span(values: &[f64]) -> String {
    let lowest = shown(values.iter().copied().fold(f64::INFINITY, f64::min));
    let highest = shown(values.iter().copied().fold(f64::NEG_INFINITY, f64::max));
    if lowest == highest { lowest } else { format!("{lowest}–{highest}") }
}

/// Returns a number as data files keep it.
pub(crate) fn kept(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a finite number is small")]
    let places = DIGITS - 1 - value.abs().log10().floor() as i32;
    // Divided rather than multiplied by a fraction, so that the result is the nearest to what is written.
    if places >= 0 {
        let scale = 10f64.powi(places);
        (value * scale).round() / scale
    } else {
        let scale = 10f64.powi(-places);
        (value / scale).round() * scale
    }
}

/// Returns the middle of some figures.
pub(crate) fn median(figures: &mut [f64]) -> f64 {
    quantile(figures, 0.5)
}

/// Returns the figure below which this part of them lies.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into a list of figures"
)]
pub(crate) fn quantile(figures: &mut [f64], part: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    let index = (figures.len().saturating_sub(1) as f64 * part).round() as usize;
    figures.get(index).copied().unwrap_or(f64::NAN)
}

fn trimmed(text: &str) -> String {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text.to_owned()
    }
}

fn grouped(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = if value < 0.0 { "-".to_owned() } else { String::new() };
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
