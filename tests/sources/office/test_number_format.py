"""Values of cells as their number formats show them."""

from __future__ import annotations

import warnings
from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikigr.sources.office.number_format import Value, plain, show

DAY = datetime(2026, 3, 5)
SHOWN: list[tuple[Value, str, str]] = [
    # Digits, groups, decimals and signs.
    (2138, "00000", "02138"),
    (7, '"No. "000', "No. 007"),
    (1234567.891, "#,##0", "1,234,568"),
    (2.345, "0.00", "2.35"),
    (1.005, "0.00", "1.01"),
    (1.5, "0.##", "1.5"),
    (1, "0.##", "1"),
    (0.5, "#.00", ".50"),
    (-3, "0.0", "-3.0"),
    (49, "+0;-0;0", "+49"),
    (-5, "0;(0)", "(5)"),
    (-1234, "#,##0_);[Red](#,##0)", "(1,234)"),
    # Red alone would lose the sign, and a dash or nothing the zero.
    (-1234, "#,##0;[Red]#,##0", "-1,234"),
    (0, '0;-0;"-"', "0"),
    (5, ";;;", "5"),
    (1e20, "#,##0", "100,000,000,000,000,000,000"),
    # Currencies and units.
    (1234.5, '"€"#,##0.00', "€1,234.50"),
    (12345, "$#,##0", "$12,345"),
    (1234.5, '_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-', "1,234.50 €"),
    (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
    (5, "#,##0 [$CHF-807]", "5 CHF"),
    (12, '0 "kg"', "12 kg"),
    (20, '0"°C"', "20°C"),
    (1.25, "0.00x", "1.25x"),
    # Shares.
    (0.125, "0.0%", "12.5%"),
    (-0.2, "0%", "-20%"),
    (12.5, '0.0" %"', "12.5 %"),
    # Durations, times and dates.
    (timedelta(days=1, seconds=9000), "[h]:mm", "26:30"),
    (timedelta(hours=26, minutes=30, seconds=5), "[h]:mm:ss", "26:30:05"),
    (timedelta(hours=-2), "[h]:mm", "-2:00"),
    (time(5, 6), "h:mm", "05:06"),
    (time(18, 0), "h:mm AM/PM", "18:00"),
    (DAY, "dd.mm.yyyy", "2026-03-05"),
    (date(2026, 3, 5), "mmmm yyyy", "2026-03-05"),
    (datetime(2026, 3, 5, 14, 5), "[$-407]d. mmmm yyyy hh:mm", "2026-03-05 14:05"),
    # What is not understood: fractions, conditions, thousands, powers, digits in groups, parts of seconds.
    (0.5, "# ?/?", "0.5"),
    (1500, '[>=1000]0.0,"K";0', "1500"),
    (12e6, '0.0,,"M"', "12000000"),
    (1234567, "0.00E+00", "1234567"),
    (123456789, "000-00-0000", "123456789"),
    (time(0, 1, 35), "mm:ss.0", "00:01:35"),
    (3.0, "General", "3"),
    (0.1 + 0.2, "General", "0.3"),
    (5, "yyyy", "5"),
    (5, "0." + "0" * 400, "5"),
    (float("inf"), "0.00", "inf"),
]


@pytest.mark.parametrize(("value", "code", "expected"), SHOWN)
def test_a_value_is_shown_in_its_format(value: Value, code: str, expected: str) -> None:
    assert show(value, code) == expected


@given(
    st.one_of(st.floats(), st.integers(-(10**30), 10**30), st.datetimes(), st.timedeltas(), st.times()),
    st.text(alphabet='0#?.,;%E+-[]$"\\_* ymdhsAP/@€>=9g', max_size=30),
)
def test_any_format_shows_something_on_one_line(value: Value, code: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        shown = show(value, code)
    assert shown and "\n" not in shown
    assert plain(value)
