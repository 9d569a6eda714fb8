//! The elements of HTML.

/// The elements of HTML, including those of old versions.
#[rustfmt::skip]
const ELEMENTS: &[&str] = &[
    "a", "abbr", "acronym", "address", "applet", "area", "article", "aside", "audio", "b", "base", "basefont", "bdi", "bdo",
    "bgsound", "big", "blink", "blockquote", "body", "br", "button", "canvas", "caption", "center", "cite", "code", "col",
    "colgroup", "data", "datalist", "dd", "del", "details", "dfn", "dialog", "dir", "div", "dl", "dt", "em", "embed",
    "fieldset", "figcaption", "figure", "font", "footer", "form", "frame", "frameset", "h1", "h2", "h3", "h4", "h5", "h6",
    "head", "header", "hgroup", "hr", "html", "i", "iframe", "image", "img", "input", "ins", "isindex", "kbd", "keygen",
    "label", "legend", "li", "link", "listing", "main", "map", "mark", "marquee", "math", "menu", "menuitem", "meta", "meter",
    "nav", "nobr", "noembed", "noframes", "noscript", "object", "ol", "optgroup", "option", "output", "p", "param", "picture",
    "plaintext", "pre", "progress", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp", "script", "search", "section", "select",
    "slot", "small", "source", "spacer", "span", "strike", "strong", "style", "sub", "summary", "sup", "svg", "table", "tbody",
    "td", "template", "textarea", "tfoot", "th", "thead", "time", "title", "tr", "track", "tt", "u", "ul", "var", "video",
    "wbr", "xmp",
];

/// Whether HTML has an element of this name.
pub(super) fn is_known(name: &str) -> bool {
    matches!(name, "p" | "i" | "br" | "span" | "a" | "em") || ELEMENTS.binary_search(&name).is_ok()
}

/// Elements at whose start or end no inline element continues.
pub(super) const BOUNDARIES: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "caption",
    "center",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

/// Returns the index of an element in [`BOUNDARIES`].
pub(super) fn boundary(name: &str) -> Option<usize> {
    BOUNDARIES.binary_search(&name).ok()
}

/// Whether an element starts and ends a paragraph, a list item or a table cell.
pub(super) fn is_boundary(name: &str) -> bool {
    boundary(name).is_some()
}

/// Whether a tag of this name ends an unclosed title.
pub(super) fn ends_title(name: &str) -> bool {
    boundary(name).is_some()
        || matches!(name, "title" | "meta" | "link" | "base" | "style" | "script" | "head" | "html")
}

/// Void elements, which have no end tag.
pub(super) const VOID: &[&str] =
    &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];

/// Elements that start and end a line.
pub(super) const LINES: &[&str] = &["br", "dd", "dt", "li", "option", "tr"];

/// Returns the depth of a heading element, 1 for `h1`.
pub(super) fn heading_depth(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn element_names_are_sorted() {
        assert!(BOUNDARIES.is_sorted());
        assert!(ELEMENTS.is_sorted());
    }
}
