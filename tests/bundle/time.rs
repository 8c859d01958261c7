//! Times of the trust file.

use relay_bundle::trust::Time;

#[test]
fn times_are_utc_and_exact() {
    for (text, expected) in [
        ("1970-01-01", Some(0)),
        ("1970-01-01T00:00:01Z", Some(1)),
        ("2000-02-29", Some(951_782_400)),
        ("2024-02-29", Some(1_709_164_800)),
        ("2026-11-21", Some(1_795_219_200)),
        ("2026-11-21T00:00:00Z", Some(1_795_219_200)),
        ("2026-11-21T23:59:59Z", Some(1_795_305_599)),
        ("2100-03-01", Some(4_107_542_400)),
        ("9999-12-31", Some(253_402_214_400)),
        // An impossible day.
        ("2026-02-29", None),
        ("2100-02-29", None),
        ("2026-04-31", None),
        ("2026-00-10", None),
        ("2026-13-01", None),
        ("2026-01-00", None),
        ("2026-01-32", None),
        ("1969-12-31", None),
        // An impossible time.
        ("2026-11-21T24:00:00Z", None),
        ("2026-11-21T00:60:00Z", None),
        ("2026-11-21T00:00:60Z", None),
        // Every way of writing that TOML has; a time that names no offset is in UTC.
        ("2026-11-21T00:00:00", Some(1_795_219_200)),
        ("2026-11-21 00:00:00Z", Some(1_795_219_200)),
        ("2026-11-21t00:00:00z", Some(1_795_219_200)),
        ("2026-11-21T00:00:00.000Z", Some(1_795_219_200)),
        ("2026-11-21T01:00:00+01:00", Some(1_795_219_200)),
        ("2026-11-20T18:30:00-05:30", Some(1_795_219_200)),
        ("1970-01-01T00:00:00+00:01", None),
        // Another way of writing, or other text.
        ("2026-11-21T00:00:00.5Z", None),
        ("2026-11-21T00:00:00+1:00", None),
        ("2026-11-21T00:00:00+01:00Z", None),
        ("2026-11-21Z", None),
        ("2026-1-21", None),
        ("26-11-21", None),
        ("2026-11-21-01", None),
        ("+026-11-21", None),
        (" 2026-11-21", None),
        ("٢٠٢٦-١١-٢١", None),
        ("tomorrow", None),
        ("", None),
    ] {
        assert_eq!(Time::parse(text), expected.map(Time), "{text:?}");
    }
}

#[test]
fn each_day_is_86_400_seconds_after_the_one_before() {
    let mut next = 0;
    for year in 1970..2105 {
        for month in 1..=12 {
            for day in 1..=31 {
                if let Some(Time(seconds)) = Time::parse(&format!("{year}-{month:02}-{day:02}")) {
                    assert_eq!(seconds, next, "{year}-{month:02}-{day:02}");
                    next += 86_400;
                }
            }
        }
    }
    assert_eq!(Some(Time(next)), Time::parse("2105-01-01"));
}
