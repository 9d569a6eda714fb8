//! Decides which pages of an EPUB are boilerplate, and which of its marks are headings.

use std::collections::BTreeMap;

use super::marks::marked_headings;
use super::nonlinear_pages;
use crate::books::{ContentsEntry, Page, RawBoilerplate, RawBook, RawHeading};
use crate::schema::{BoilerplateKind, MarkedHeading};
use crate::stages::chunk::chapters::{boilerplate, structure};

/// Returns the headings of an EPUB, and adds the boilerplate of its pages to that of the book.
pub(super) fn headings(raw: &mut RawBook) -> Vec<MarkedHeading> {
    let contents = std::mem::take(&mut raw.contents);
    let tagged = classify_pages(raw, &contents);
    let listed = listed_headings(contents, &raw.boilerplate);
    let (listed, tagged) = (marked_headings(&raw.text, listed), marked_headings(&raw.text, tagged));
    // The table of contents is preferred, unless it leaves out most of the chapters marked in the pages.
    let title = raw.title.as_deref().unwrap_or_default();
    let by_contents = structure::count(&raw.text, &listed, title);
    // Each mark makes at most one chapter.
    let most = || tagged.len() <= by_contents * 2;
    let by_tags = || structure::count(&raw.text, &tagged, title);
    if by_contents >= 2 && (most() || by_contents * 2 >= by_tags()) { listed } else { tagged }
}

/// Moves the boilerplate of the pages to the book, and returns the headings of the story pages.
fn classify_pages(raw: &mut RawBook, contents: &[ContentsEntry]) -> Vec<RawHeading> {
    let mut headings = Vec::new();
    // The lengths of the linear story pages.
    let mut lengths = Vec::new();
    let mut nonlinear = Vec::new();
    for page in std::mem::take(&mut raw.pages) {
        let is_empty = page.start == page.end;
        if let Some(kind) = page.kind.or_else(|| title_kind(&page)) {
            if !is_empty {
                let detail = format!("the page `{}`", page.path);
                raw.boilerplate.push(RawBoilerplate { start: page.start, end: page.end, kind, detail });
            }
        } else if let Some(kind) = page.nonlinear.filter(|_| !is_empty) {
            // Whether it belongs to the story is decided once all pages are known.
            nonlinear.push((page, kind));
        } else {
            headings.extend(page.headings);
            raw.boilerplate.extend(page.boilerplate);
            lengths.extend(Some(page.end - page.start).filter(|_| !is_empty));
        }
    }
    let chapter_length = nonlinear_pages::chapter_length(lengths);
    let mut titles: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in contents.iter().filter(|_| !nonlinear.is_empty()) {
        titles.entry(&entry.page).or_default().push(&entry.title);
    }
    for (page, kind) in nonlinear {
        let listed = titles.get(page.path.as_str()).into_iter().flatten().copied();
        let named = page.headings.iter().map(|heading| heading.title.as_str()).chain(listed);
        if let Some(why) = nonlinear_pages::exclusion(&raw.text[page.start..page.end], named, chapter_length) {
            let detail = format!("the page `{}`, which is non-linear and {why}", page.path);
            raw.boilerplate.push(RawBoilerplate { start: page.start, end: page.end, kind, detail });
        } else {
            headings.extend(page.headings);
            raw.boilerplate.extend(page.boilerplate);
        }
    }
    headings.sort_by_key(|heading| heading.start);
    raw.boilerplate.sort_by_key(|passage| (passage.start, passage.end));
    headings
}

/// Returns the kind of a page by the title over it, or in its head.
fn title_kind(page: &Page) -> Option<BoilerplateKind> {
    let first = page.headings.first().filter(|heading| heading.start - page.start < 4);
    let title = first.map_or(page.title.as_str(), |heading| heading.title.as_str());
    boilerplate::boilerplate_kind_of_title(title)
}

/// Returns the entries of the table of contents as headings, without those on boilerplate pages.
fn listed_headings(contents: Vec<ContentsEntry>, boilerplate: &[RawBoilerplate]) -> Vec<RawHeading> {
    let heading = |entry: ContentsEntry| RawHeading { start: entry.start, depth: entry.depth, title: entry.title };
    let mut headings: Vec<RawHeading> = contents.into_iter().map(heading).collect();
    headings.dedup();
    let mut boilerplate = boilerplate.iter().peekable();
    headings.retain(|heading| {
        while boilerplate.next_if(|passage| passage.end <= heading.start).is_some() {}
        boilerplate.peek().is_none_or(|passage| heading.start < passage.start)
    });
    headings
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use proptest::prelude::*;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use crate::books::{MAX_BYTES, ReadError};
    use crate::stages::chunk::{Params, chapters, chunk, read as read_book};

    const CONTAINER: &str = "<container><rootfiles><rootfile full-path='OEBPS/content.opf'/></rootfiles></container>";

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            writer.start_file(*name, SimpleFileOptions::default()).expect("a name");
            writer.write_all(bytes).expect("written to memory");
        }
        writer.finish().expect("written to memory").into_inner()
    }

    fn opf(items: &str, spine: &str) -> String {
        format!(
            "<package><metadata><dc:title>Rain</dc:title><dc:creator>A. B.</dc:creator></metadata>\
             <manifest>{items}</manifest><spine toc='ncx'>{spine}</spine></package>"
        )
    }

    fn page(title: &str, words: &str) -> String {
        let prose = format!("<p>{words} it rained on the weir all that night, and nobody slept.</p>").repeat(6);
        format!("<?xml version='1.0'?><html><body><h2>{title}</h2>{prose}</body></html>")
    }

    /// Builds a book of two chapters; `second` is the address of the second page.
    fn book(second: &str, more: &[(&str, &[u8])]) -> Vec<u8> {
        let items = format!("<item id='a' href='a.xhtml'/><item id='b' href='{second}'/>");
        let opf = opf(&items, "<itemref idref='a'/><itemref idref='b'/>");
        let (one, two) = (page("Chapter 1", "Yes,"), page("Chapter 2", "No,"));
        let files = [
            ("META-INF/container.xml", CONTAINER.as_bytes()),
            ("OEBPS/content.opf", opf.as_bytes()),
            ("OEBPS/a.xhtml", one.as_bytes()),
            ("OEBPS/b c.xhtml", two.as_bytes()),
        ];
        zipped(&[&files[..], more].concat())
    }

    fn error(bytes: &[u8]) -> ReadError {
        read_book("some/rain.epub", bytes, None).expect_err("no book")
    }

    /// Asserts that the archive is refused as a broken EPUB, and returns the cause.
    fn broken(bytes: &[u8]) -> String {
        match error(bytes) {
            ReadError::Epub { path, cause } if path == "some/rain.epub" => cause,
            error => panic!("{error:?}"),
        }
    }

    #[test]
    fn a_book_is_the_pages_of_its_spine() {
        let book = read_book("some/rain.epub", &book("b%20c.xhtml", &[]), None).expect("reads");
        assert_eq!((book.title.as_str(), book.author.as_deref(), book.slug.as_str()), ("Rain", Some("A. B."), "rain"));
        assert!(
            book.text.starts_with("Chapter 1\n\nYes, it rained") && book.text.contains("slept.\n\nChapter 2\n\nNo,")
        );
        let chapters = chapters(&book);
        let found: Vec<_> = chapters.iter().map(|chapter| (chapter.title.as_str(), chapter.line)).collect();
        assert_eq!(found, [("Chapter 1", None), ("Chapter 2", None)]);
        let (chunks, rejects) = chunk(&book, &chapters, &Params::default());
        assert_eq!((chunks.len(), rejects.len()), (1, 0));
    }

    #[test]
    fn the_epub_table_of_contents_names_the_chapters() {
        let items = "<item id='n' href='nav.xhtml' properties='nav'/><item id='t' href='text.xhtml'/>";
        let opf = opf(items, "<itemref idref='n'/><itemref idref='t'/>");
        let nav = "<html><body><nav epub:type='toc'><h1>目录</h1><ol><li><a href='text.xhtml#a'>第一回 看灯</a></li>\
                   <li><a href='./text.xhtml#b'>第二回 听雨</a></li></ol></nav></body></html>";
        let prose = "<p>河上无风，水车不动。守夜的人都睡了。</p>".repeat(20);
        let text = format!("<html><body><p id='a'>其一</p>{prose}<p id='b'>其二</p>{prose}</body></html>");
        let bytes = zipped(&[
            ("META-INF/container.xml", CONTAINER.as_bytes()),
            ("OEBPS/content.opf", opf.as_bytes()),
            ("OEBPS/nav.xhtml", nav.as_bytes()),
            ("OEBPS/text.xhtml", text.as_bytes()),
        ]);
        let book = read_book("灯.epub", &bytes, None).expect("reads");
        let chapters = chapters(&book);
        let found: Vec<_> = chapters.iter().map(|chapter| (chapter.title.as_str(), chapter.number)).collect();
        assert_eq!(found, [("第一回 看灯", Some(1)), ("第二回 听雨", Some(2))]);
        let (chunks, rejects) = chunk(&book, &chapters, &Params::default());
        assert!(chunks[0].text.starts_with("其一"), "{}", chunks[0].text);
        assert_eq!(rejects.iter().map(|reject| reject.reason.name()).collect::<Vec<_>>(), ["contents"]);
    }

    #[test]
    fn paths_cannot_leave_the_archive() {
        // A path above the root resolves to the root, as in a browser.
        let book_of = |second: &str| read_book("rain.epub", &book(second, &[("../secret.xhtml", b"<p>no</p>")]), None);
        let read = book_of("../../OEBPS/./x/../b%20c.xhtml").expect("reads");
        assert!(read.text.contains("No, it rained"));
        let read = book_of("../../../etc/passwd").expect("reads");
        let (chunks, rejects) = chunk(&read, &chapters(&read), &Params::default());
        assert!(chunks[0].text.contains("Yes, it rained") && !read.text.contains("root:"));
        assert_eq!(rejects[0].reason.name(), "missing_page");
        assert!(rejects[0].detail.contains("`etc/passwd`"), "{}", rejects[0].detail);
    }

    #[test]
    fn a_zip_bomb_is_rejected_regardless_of_its_declared_size() {
        let zeros = vec![b' '; 1 << 20];
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in [
            ("META-INF/container.xml", CONTAINER.to_owned()),
            ("OEBPS/content.opf", opf("<item id='a' href='a.xhtml'/>", "<itemref idref='a'/>")),
        ] {
            writer.start_file(name, SimpleFileOptions::default()).expect("a name");
            writer.write_all(bytes.as_bytes()).expect("written to memory");
        }
        writer.start_file("OEBPS/a.xhtml", SimpleFileOptions::default()).expect("a name");
        for _ in 0..=MAX_BYTES >> 20 {
            writer.write_all(&zeros).expect("written to memory");
        }
        let mut bytes = writer.finish().expect("written to memory").into_inner();
        assert!(bytes.len() < 2 << 20);
        assert!(matches!(error(&bytes), ReadError::TooLarge { .. }), "{:?}", error(&bytes));
        // The same, with a claimed size of one byte in both headers.
        let size = u32::try_from((1 + (MAX_BYTES >> 20)) << 20).expect("below 4 GB").to_le_bytes();
        let mut claims = 0;
        for at in 0..bytes.len() - 4 {
            if bytes[at..at + 4] == size {
                bytes[at..at + 4].copy_from_slice(&1_u32.to_le_bytes());
                claims += 1;
            }
        }
        assert!(claims >= 1);
        assert!(matches!(error(&bytes), ReadError::TooLarge { .. } | ReadError::Epub { .. }), "{:?}", error(&bytes));
    }

    #[test]
    fn missing_and_empty_pages_are_rejected_with_a_reason() {
        let items = "<item id='a' href='a.xhtml'/><item id='b' href='b.xhtml'/><item id='c' href='c.xhtml'/>";
        let spine = "<itemref idref='lost'/><itemref idref='a'/><itemref idref='b'/><itemref idref='c'/><itemref idref='第二'/>";
        let one = page("Chapter 1", "Yes,");
        let drawn = "<html><body><svg><text>河上无风</text></svg></body></html>";
        let book = read_book(
            "rain.epub",
            &zipped(&[
                ("META-INF/container.xml", CONTAINER.as_bytes()),
                ("OEBPS/content.opf", opf(items, spine).as_bytes()),
                ("OEBPS/a.xhtml", one.as_bytes()),
                ("OEBPS/b.xhtml", drawn.as_bytes()),
                ("OEBPS/c.xhtml", b"<html>\0\0\xff\xfe"),
            ]),
            None,
        );
        let book = book.expect("reads");
        let (chunks, rejects) = chunk(&book, &chapters(&book), &Params::default());
        assert!(chunks[0].text.contains("Yes, it rained"));
        let rejected: Vec<(&str, &str)> =
            rejects.iter().map(|reject| (reject.reason.name(), reject.detail.as_str())).collect();
        let expected = [
            ("missing_page", "`lost`, which is missing from the manifest"),
            ("empty_page", "`OEBPS/b.xhtml`"),
            ("missing_page", "`OEBPS/c.xhtml`, which is not a readable page"),
            ("missing_page", "`第二`, which is missing from the manifest"),
        ];
        assert_eq!(rejected.len(), expected.len(), "{rejected:?}");
        for (reason, part) in expected {
            assert!(
                rejected.iter().any(|reject| reject.0 == reason && reject.1.contains(part)),
                "{part}: {rejected:?}"
            );
        }
    }

    #[test]
    fn a_book_of_front_matter_only_keeps_its_text() {
        let items = "<item id='a' href='a.xhtml'/>";
        for (words, second) in [("Yes,", ""), ("河上无风，", "<itemref idref='lost'/>")] {
            let spine = format!(
                "<itemref idref='a'/>{second}</spine><guide><reference type='cover' href='a.xhtml'/></guide><spine>"
            );
            let opf = opf(items, &spine);
            let one = page("Rain", words);
            let files = [
                ("META-INF/container.xml", CONTAINER.as_bytes()),
                ("OEBPS/content.opf", opf.as_bytes()),
                ("OEBPS/a.xhtml", one.as_bytes()),
            ];
            let book = read_book("rain.epub", &zipped(&files), None).expect("reads");
            let (chunks, rejects) = chunk(&book, &chapters(&book), &Params::default());
            assert!(chunks[0].text.contains(words), "{rejects:?}");
            assert_eq!(rejects.len(), usize::from(!second.is_empty()));
        }
    }

    #[test]
    fn a_nonlinear_page_with_story_text_is_kept() {
        let long = |words: &str| format!("<p>{words}</p>").repeat(60);
        for (head, story, notes, advertisement) in [
            (
                "Chapter ",
                "It rained on the weir all that night.",
                "[1] A weir is a low dam.",
                "Also by A. B.: Low Tide",
            ),
            ("第三回 听雨 ", "河上无风，水车不动，守夜的人都睡了。", "［1］水车：旧时的磨。", "另有佳作，敬请期待。"),
        ] {
            let pages = [
                page(&format!("{head}1"), story),
                format!("<html><body><p>{head}2</p><p>{story} two</p></body></html>"),
                format!("<html><body>{}</body></html>", long(&format!("three {story}"))),
                page(&format!("{head}4"), story),
                format!("<html><body>{}</body></html>", long(notes)),
                format!("<html><body><h1>{advertisement}</h1><nav>x</nav></body></html>"),
            ];
            let of = |part: &dyn Fn(usize) -> String| (0..pages.len()).map(part).collect::<String>();
            let items = of(&|n| format!("<item id='p{n}' href='p{n}.xhtml'/>"));
            let linear = |n| if matches!(n, 0 | 3) { "" } else { " linear='no'" };
            let spine = of(&|n| format!("<itemref idref='p{n}'{}/>", linear(n)));
            let opf = opf(&items, &spine);
            let names: Vec<String> = (0..pages.len()).map(|n| format!("OEBPS/p{n}.xhtml")).collect();
            let mut files =
                vec![("META-INF/container.xml", CONTAINER.as_bytes()), ("OEBPS/content.opf", opf.as_bytes())];
            files.extend(names.iter().zip(&pages).map(|(name, page)| (name.as_str(), page.as_bytes())));
            let book = read_book("rain.epub", &zipped(&files), None).expect("reads");
            let (chunks, rejects) = chunk(&book, &chapters(&book), &Params::default());
            let text: String = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
            let offsets = [format!("{head}1"), format!("{head}2"), format!("three {story}"), format!("{head}4")]
                .map(|part| text.find(&part).unwrap_or_else(|| panic!("{part} is lost: {rejects:?}")));
            assert!(offsets.is_sorted(), "{offsets:?}");
            assert!(!text.contains(notes) && !text.contains(advertisement), "{text}");
            let rejected: Vec<(&str, bool, bool)> = rejects
                .iter()
                .map(|reject| {
                    (
                        reject.reason.name(),
                        reject.detail.contains("p4.xhtml`, which is non-linear and contains notes"),
                        reject.detail.contains("p5.xhtml`"),
                    )
                })
                .collect();
            assert_eq!(rejected, [("back_matter", true, false), ("back_matter", false, true)], "{rejects:?}");
        }
    }

    #[test]
    fn page_names_are_case_sensitive() {
        let items = "<item id='a' href='a.xhtml'/><item id='b' href='A.xhtml'/><item id='c' href='B.XHTML'/><item id='d' href='b.xhtml'/>";
        let opf = opf(items, "<itemref idref='a'/><itemref idref='b'/><itemref idref='c'/><itemref idref='d'/>");
        let (one, two, three) = (page("Chapter 1", "One,"), page("Chapter 2", "Two,"), page("Chapter 3", "三，"));
        let files = [
            ("META-INF/container.xml", CONTAINER.as_bytes()),
            ("OEBPS/content.opf", opf.as_bytes()),
            ("OEBPS/a.xhtml", one.as_bytes()),
            ("OEBPS/A.xhtml", two.as_bytes()),
            ("OEBPS/b.xhtml", three.as_bytes()),
        ];
        let book = read_book("rain.epub", &zipped(&files), None).expect("reads");
        let counts: Vec<usize> =
            ["Chapter 1", "Chapter 2", "Chapter 3"].map(|title| book.text.matches(title).count()).into();
        assert_eq!(counts, [1, 1, 1]);
    }

    #[test]
    fn an_oversized_directory_or_manifest_is_rejected() {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for n in 0..100_001 {
            writer.add_directory(format!("{n:x}"), SimpleFileOptions::default()).expect("a name");
        }
        let cause = broken(&writer.finish().expect("written to memory").into_inner());
        assert!(cause.contains("more files than the limit"), "{cause}");
        let long = " ".repeat(33_000_000);
        let cause = broken(&zipped(&[("META-INF/container.xml", long.as_bytes())]));
        assert!(cause.contains("META-INF/container.xml"), "{cause}");
    }

    #[test]
    fn the_declared_number_of_files_is_not_trusted() {
        // The end of a ZIP64 directory that claims 2⁴⁰ files of one byte each.
        let zip = book("b%20c.xhtml", &[]);
        let end = zip.windows(4).rposition(|four| four == b"PK\x05\x06").expect("an end");
        let start = u32::from_le_bytes(zip[end + 16..end + 20].try_into().expect("four bytes"));
        let mut bytes = zip[..end].to_vec();
        bytes.extend(b"PK\x06\x06");
        bytes.extend(44_u64.to_le_bytes());
        bytes.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [1_u64 << 40, 1 << 40, 46 << 40, u64::from(start)] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(b"PK\x06\x07\0\0\0\0");
        bytes.extend((end as u64).to_le_bytes());
        bytes.extend(1_u32.to_le_bytes());
        bytes.extend(b"PK\x05\x06\0\0\0\0");
        bytes.extend([0xff; 12]);
        bytes.extend([0, 0]);
        broken(&bytes);
    }

    #[test]
    fn broken_archives_and_other_formats_are_errors() {
        let bytes = book("b%20c.xhtml", &[]);
        broken(&bytes[..bytes.len() / 2]);
        broken(b"PK\x03\x04");
        for name in ["word/document.xml", "a.txt"] {
            assert!(matches!(error(&zipped(&[(name, b"<w/>")])), ReadError::Format { .. }), "{name}");
        }
        assert!(broken(&zipped(&[("META-INF/container.xml", CONTAINER.as_bytes())])).contains("OEBPS/content.opf"));
        let opf = opf("<item id='a' href='gone.xhtml'/>", "<itemref idref='a'/>");
        let files = [("META-INF/container.xml", CONTAINER.as_bytes()), ("OEBPS/content.opf", opf.as_bytes())];
        assert!(broken(&zipped(&files)).contains("spine"));
        let locked = "<encryption><enc:CipherReference URI='OEBPS/a.xhtml'/></encryption>";
        let locked = book("b%20c.xhtml", &[("META-INF/encryption.xml", locked.as_bytes())]);
        assert!(matches!(error(&locked), ReadError::Protected { .. }));
        let fonts = "<encryption><enc:CipherReference URI='OEBPS/font.otf'/></encryption>";
        let bytes = book("b%20c.xhtml", &[("META-INF/encryption.xml", fonts.as_bytes())]);
        assert!(read_book("rain.epub", &bytes, None).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn a_corrupted_archive_is_read_or_rejected(at in 0_usize..2000, bytes in proptest::collection::vec(any::<u8>(), 1..8), cut in 0_usize..2000) {
            let mut book = book("b%20c.xhtml", &[]);
            let at = at % book.len();
            for (index, byte) in (at..book.len()).zip(bytes) {
                book[index] = byte;
            }
            book.truncate(book.len() - cut % 40);
            if let Ok(book) = read_book("rain.epub", &book, None) {
                let _ = chunk(&book, &chapters(&book), &Params::default());
            }
        }
    }
}
