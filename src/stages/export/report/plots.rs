//! The plots of the report as SVG. Text is kept as text and the colours are few, so that the style sheet of the page
//! can change them for dark mode and print. The colour scales are safe for red-green colour blindness.

use plotters::coord::ranged1d::{IntoSegmentedCoord as _, SegmentValue};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::sanitize::line;

/// Text; the style sheet replaces it by the page's text colour.
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
/// Text on light bars, in any colour scheme.
const ON_PALE: RGBColor = RGBColor(0x11, 0x11, 0x11);
/// Text on dark bars, in any colour scheme.
const ON_DARK: RGBColor = RGBColor(0xFE, 0xFE, 0xFE);
/// Axes.
const RULE: RGBColor = RGBColor(0xBB, 0xBB, 0xBB);
/// Bars of a single series.
const ONE: RGBColor = RGBColor(0x00, 0x72, 0xB2);

/// The colours of a stacked bar in order, and whether text on each must be light.
pub(super) type Palette = &'static [(RGBColor, bool)];

/// σ from 1 to 5: green-blue for the source, brown for the base.
pub(super) const SCORES: Palette = &[
    (RGBColor(0x01, 0x85, 0x71), true),
    (RGBColor(0x80, 0xCD, 0xC1), false),
    (RGBColor(0xBD, 0xBD, 0xBD), false),
    (RGBColor(0xDF, 0xC2, 0x7D), false),
    (RGBColor(0xA6, 0x61, 0x1A), true),
];
/// Cacheable prompt tokens, other prompt tokens, completion tokens.
pub(super) const TOKENS: Palette =
    &[(RGBColor(0x56, 0xB4, 0xE9), false), (RGBColor(0x00, 0x72, 0xB2), true), (RGBColor(0xE6, 0x9F, 0x00), false)];
/// A single amount.
pub(super) const AMOUNT: Palette = &[(ONE, true)];

const WIDTH: u32 = 480;
const LABELS: i32 = 118;
const TOTALS: i32 = 64;
const ROW: i32 = 28;
/// The maximum width of a label in character cells; a Chinese character takes two.
const CELLS: usize = 15;

/// Draws vertical bars over a labelled axis.
pub(super) fn columns(bars: &[(String, u64)], axis: &str, of: &str) -> String {
    let mut svg = String::new();
    let draw = |svg: &mut String| {
        let root = SVGBackend::with_string(svg, (WIDTH, 230)).into_drawing_area();
        let longest = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
        let mut chart = ChartBuilder::on(&root)
            .margin_top(8)
            .margin_right(8)
            .x_label_area_size(44)
            .y_label_area_size(56)
            .build_cartesian_2d(
                (0..bars.len().saturating_sub(1)).into_segmented(),
                0..longest + longest.div_ceil(20),
            )?;
        let label = |value: &SegmentValue<usize>| match value {
            SegmentValue::CenterOf(at) => bars.get(*at).map_or(String::new(), |(label, _)| label.clone()),
            _ => String::new(),
        };
        let ink = font(15, INK);
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(RULE.mix(0.6))
            .axis_style(RULE)
            .label_style(ink.clone())
            .axis_desc_style(ink)
            .x_labels(bars.len().min(24))
            .y_labels(5)
            .x_label_formatter(&label)
            .y_label_formatter(&|count| crate::stages::export::amounts::thousands(*count))
            .x_desc(axis)
            .y_desc(of)
            .draw()?;
        chart.draw_series(bars.iter().enumerate().map(|(at, (_, count))| {
            let end = if at + 1 == bars.len() { SegmentValue::Last } else { SegmentValue::Exact(at + 1) };
            let corners = [(SegmentValue::Exact(at), 0), (end, *count)];
            let mut bar = Rectangle::new(corners, ONE.filled());
            bar.set_margin(0, 0, 2, 2);
            bar
        }))?;
        root.present()
    };
    draw(&mut svg).expect("drawing into a string cannot fail");
    svg
}

/// Draws a stacked horizontal bar per row. The length of a bar is its sum, or the full width if `are_shares`.
pub(super) fn stacks(rows: &[(String, Vec<u64>)], palette: Palette, are_shares: bool) -> String {
    let count = i32::try_from(rows.len()).unwrap_or(i32::MAX / ROW);
    let height = u32::try_from(count * ROW + 4).unwrap_or(ROW.unsigned_abs());
    let longest = rows.iter().map(|(_, parts)| parts.iter().sum::<u64>()).max().unwrap_or(0).max(1);
    let mut svg = String::new();
    let draw = |svg: &mut String| {
        let root = SVGBackend::with_string(svg, (WIDTH, height)).into_drawing_area();
        for (top, (label, parts)) in (0..).step_by(28).zip(rows) {
            let middle = top + ROW / 2;
            let sum: u64 = parts.iter().sum();
            root.draw(&Text::new(short(label), (LABELS - 8, middle), at(&font(17, INK), HPos::Right)))?;
            let total = if are_shares { sum.max(1) } else { longest };
            let mut before = 0;
            for (part, (colour, is_dark)) in parts.iter().zip(palette).filter(|(part, _)| **part > 0) {
                let (left, right) = (x_coordinate(before, total), x_coordinate(before + part, total));
                before += part;
                root.draw(&Rectangle::new([(left, top + 3), (right, top + ROW - 3)], colour.filled()))?;
                let share = (part * 100 + total / 2) / total;
                if are_shares && right - left > 34 {
                    let ink = if *is_dark { ON_DARK } else { ON_PALE };
                    let position = (i32::midpoint(left, right), middle);
                    root.draw(&Text::new(format!("{share} %"), position, at(&font(15, ink), HPos::Center)))?;
                }
            }
            let end = if are_shares { x_coordinate(1, 1) } else { x_coordinate(sum, longest) } + 6;
            root.draw(&Text::new(
                crate::stages::export::amounts::thousands(sum),
                (end, middle),
                at(&font(15, INK), HPos::Left),
            ))?;
        }
        root.present()
    };
    draw(&mut svg).expect("drawing into a string cannot fail");
    svg
}

/// Returns the x coordinate for a part of the whole.
fn x_coordinate(part: u64, total: u64) -> i32 {
    let room = i64::from(WIDTH) - i64::from(LABELS + TOTALS);
    let reached = i128::from(room) * i128::from(part) / i128::from(total.max(1));
    LABELS + i32::try_from(reached).unwrap_or(i32::MAX)
}

fn font(size: u32, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&colour)
}

fn at(style: &TextStyle<'static>, alignment: HPos) -> TextStyle<'static> {
    style.pos(Pos::new(alignment, VPos::Center))
}

/// Cuts a label to the available width.
fn short(label: &str) -> String {
    let mut cells = 0;
    let fits = |c: &char| {
        cells += if *c < '\u{1100}' { 1 } else { 2 };
        cells <= CELLS
    };
    line(label, label.chars().take_while(fits).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_fill_their_bar() {
        let svg = stacks(&[("红线".to_owned(), vec![1, 1, 0, 0, 2])], SCORES, true);
        let bars: Vec<(&str, i32)> = svg
            .lines()
            .filter_map(|line| {
                let colour = line.split_once("fill=\"")?.1.split('"').next()?;
                Some((
                    colour,
                    line.split_once(" width=\"")
                        .filter(|_| line.starts_with("<rect"))?
                        .1
                        .split('"')
                        .next()?
                        .parse()
                        .ok()?,
                ))
            })
            .collect();
        assert_eq!(bars, [("#018571", 74), ("#80CDC1", 75), ("#A6611A", 149)], "{svg}");
        assert!(svg.contains("50 %") && svg.contains("红线"), "{svg}");
    }

    #[test]
    fn bar_lengths_are_proportional() {
        let svg = stacks(&[("a".to_owned(), vec![1000]), ("b".to_owned(), vec![500])], AMOUNT, false);
        let full = x_coordinate(1, 1) - LABELS;
        assert!(
            svg.contains(&format!("width=\"{full}\"")) && svg.contains(&format!("width=\"{}\"", full / 2)),
            "{svg}"
        );
        assert!(svg.contains("1,000"), "{svg}");
    }

    #[test]
    fn names_in_a_plot_are_escaped() {
        let hostile = "<script>alert(1)</script>\u{202e}\0";
        for svg in
            [stacks(&[(hostile.to_owned(), vec![1])], AMOUNT, false), columns(&[("<b>".to_owned(), 3)], "<i>", "&")]
        {
            assert!(!svg.contains("<script") && !svg.contains("<b>") && !svg.contains("<i>"), "{svg}");
            assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        }
        assert_eq!(
            (short("0123456789abcdefg"), short("红线女盗盒一十二")),
            ("0123456789abcde…".into(), "红线女盗盒一十…".into())
        );
    }

    #[test]
    fn an_empty_plot_is_valid() {
        assert!(columns(&[], "turns", "conversations").ends_with("</svg>\n"));
        assert!(stacks(&[], SCORES, true).ends_with("</svg>\n"));
        assert!(stacks(&[("a".to_owned(), vec![0; 5])], SCORES, true).contains(">\n0\n<"));
    }
}
