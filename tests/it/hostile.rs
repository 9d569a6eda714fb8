//! Hostile books: any file is read or rejected within limits, and offsets of what is read are valid.

use std::io::{Cursor, Write as _};

use dramaturg::books::ReadError;
use dramaturg::schema::Book;
use dramaturg::stages::chunk::{Params, books, chapters, chunk};
use encoding_rs::{BIG5, GB18030, SHIFT_JIS, WINDOWS_1252};
use proptest::prelude::*;
use proptest::sample::Index;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const EN: &str = "It rained on the weir all that night, and nobody in the mill slept. “Who is there?” said Zoë.";
const ZH: &str = "河边有一座旧水车，三十年没有转过。“今夜涨水。”陆三更说。";
const TRADITIONAL: &str = "河邊有一座舊水車，三十年沒有轉過。「今夜漲水。」陸三更說。";

fn text(sentence: &str, heading: fn(usize) -> String, end: &str) -> String {
    let chapter = |n: usize| format!("{}{end}{end}{}{end}", heading(n), format!("{sentence}{end}{end}").repeat(6));
    (1..4).map(chapter).collect()
}

fn chapter(n: usize) -> String {
    format!("Chapter {n}")
}

fn hui(n: usize) -> String {
    format!("第{n}回 听雨")
}

fn page(sentence: &str, heading: fn(usize) -> String) -> String {
    let body: String = (1..4)
        .map(|n| format!("<h2 id=\"c{n}\">{}</h2>\n{}<hr/>\n", heading(n), format!("<p class=\"x\">{sentence}<span class=\"pagenum\">[{n}]</span> <ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby></p>\n").repeat(4)))
        .collect();
    format!(
        "<!DOCTYPE html><html><head><title>Rain &amp; Mud</title><meta name=\"author\" content=\"A. B.\"/><style>p{{}}</style>\
         <script>if (a < b) {{ }}</script></head><body><nav epub:type=\"toc\"><ol><li><a href=\"#c1\">One</a></li></ol></nav>\
         <section class=\"pg-boilerplate\"><p>Licence.</p></section><div>{body}</div><svg><text>a</text></svg><!-- b -->\
         <table><tr><td>1</td><td><button>c</button></td></tr></table></body></html>"
    )
}

/// The files of an EPUB with both kinds of tables of contents.
fn epub_files() -> Vec<(&'static str, Vec<u8>)> {
    let opf = "<?xml version=\"1.0\"?><package><metadata><dc:title>Rain</dc:title><dc:creator>A. B.</dc:creator></metadata><manifest>\
               <item id=\"n\" href=\"nav.xhtml\" media-type=\"application/xhtml+xml\" properties=\"nav\"/><item id=\"x\" href=\"toc.ncx\" media-type=\"application/x-dtbncx+xml\"/>\
               <item id=\"a\" href=\"a.xhtml\" media-type=\"application/xhtml+xml\"/><item id=\"b\" href=\"b%20c.xhtml\" media-type=\"application/xhtml+xml\"/></manifest>\
               <spine toc=\"x\"><itemref idref=\"n\"/><itemref idref=\"a\"/><itemref idref=\"b\" linear=\"no\"/></spine>\
               <guide><reference type=\"toc\" href=\"nav.xhtml\"/></guide></package>";
    let nav = "<html><body><nav epub:type=\"toc\"><ol><li><a href=\"a.xhtml#c1\">Chapter 1</a><ol><li><a href=\"a.xhtml#c2\">Chapter 2</a></li></ol></li>\
               <li><span>二</span></li><li><a href=\"b%20c.xhtml\">第一回</a></li></ol></nav></body></html>";
    let ncx = "<ncx><navMap><navPoint><navLabel><text>Chapter 1</text></navLabel><content src=\"a.xhtml#c1\"/><navPoint><navLabel><text><![CDATA[第一回]]></text>\
               </navLabel><content src=\"b%20c.xhtml#c2\"/></navPoint></navPoint></navMap></ncx>";
    let container = "<container><rootfiles><rootfile full-path=\"OEBPS/content.opf\"/></rootfiles></container>";
    vec![
        ("META-INF/container.xml", container.into()),
        ("OEBPS/content.opf", opf.into()),
        ("OEBPS/nav.xhtml", nav.into()),
        ("OEBPS/toc.ncx", ncx.into()),
        ("OEBPS/a.xhtml", page(EN, chapter).into()),
        ("OEBPS/b c.xhtml", page(ZH, hui).into()),
    ]
}

fn zipped<N: AsRef<str>>(files: &[(N, Vec<u8>)], packed: bool) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let method = if packed { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    for (name, bytes) in files {
        writer.start_file(name.as_ref(), SimpleFileOptions::default().compression_method(method)).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A valid file of each format and encoding.
fn seeds() -> Vec<(&'static str, Vec<u8>)> {
    let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let (english, chinese) = (text(EN, chapter, "\n"), text(ZH, hui, "\n"));
    let line = |title: &str, content: &str| {
        serde_json::json!({"title": title, "author": "A. B.", "content": content}).to_string() + "\n"
    };
    let lines = line("Rain", &english) + &line("听雨", &chinese);
    let objects = serde_json::json!([{"title": "Rain", "content": english}, {"author": ["A"], "text": chinese}]);
    vec![
        ("a.html", page(EN, chapter).into()),
        ("a.htm", page(ZH, hui).replace('\n', "\r\n").into()),
        ("a.xhtml", format!("<?xml version=\"1.0\" encoding=\"utf-8\"?>{}", page(ZH, hui)).into()),
        ("a.epub", zipped(&epub_files(), true)),
        ("a.epub", zipped(&epub_files(), false)),
        ("a.jsonl", lines.into()),
        ("a.json", serde_json::to_string_pretty(&objects).unwrap().into()),
        ("a.md", format!("---\ntitle: Rain\n---\n# Rain\n\n{}", text(EN, |n| format!("## {n}. Mud"), "\n")).into()),
        ("a.md", text(ZH, |n| format!("第{n}回\n===="), "\n").into()),
        ("a.txt", english.clone().into()),
        ("a.txt", text(EN, chapter, "\r").into()),
        ("a.txt", chinese.clone().into()),
        ("a.txt", format!("\u{feff}{}", text(TRADITIONAL, hui, "\r\n")).into()),
        ("a.txt", WINDOWS_1252.encode(&english).0.into_owned()),
        ("a.txt", GB18030.encode(&chinese).0.into_owned()),
        ("a.txt", BIG5.encode(&text(TRADITIONAL, chapter, "\n")).0.into_owned()),
        ("a.txt", SHIFT_JIS.encode(&"その夜は雨が降っていた。\n".repeat(40)).0.into_owned()),
        ("a.txt", wide(&english, u16::to_le_bytes)),
        ("a.txt", wide(&format!("\u{feff}{chinese}"), u16::to_be_bytes)),
        (
            "a.fountain",
            "Title: Rain\n\nINT. MILL - NIGHT\n\nANNA\nWho is there?\n\nBORIS\n(rising)\nNobody.\n\n".repeat(5).into(),
        ),
    ]
}

/// A change to a file.
#[derive(Debug, Clone)]
enum Change {
    Insert(Index, Vec<u8>),
    Overwrite(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Move(Index, Index, usize),
    Truncate(Index),
    InsertFrom(Index, Index, usize),
}

/// Text that often breaks parsers.
const TOKENS: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\xfe\xff",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n\n\n",
    b"<",
    b">",
    b"</",
    b"/>",
    b"\"",
    b"'",
    b"&",
    b"&#0;",
    b"&#x10ffff;",
    b"&nbsp;",
    b"&#8203;",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b"<p class=\"x>",
    b"<a title='",
    b"class=\"",
    b"='",
    b"<Dear Peter, ",
    "<亲爱的".as_bytes(),
    b"a <b and ",
    b"1 < 2 <3 ",
    b"<! ",
    b"<? ",
    b"</ ",
    b"</x>",
    b"<x>",
    b"<dc:title>",
    b"<!DOCTYPE a [",
    b"<![if a]>",
    b"<?xml ",
    b" linear=\"no\"",
    b"<script>",
    b"</script>",
    b"<style>",
    b"<title>",
    b"</title>",
    b"<textarea>",
    b"<rt>",
    b"</ruby>",
    b"<head>",
    b"<span class=pagenum>",
    b"</span>",
    b"<div class=pagenum>",
    b"<p class=pagenum>",
    b"</div>",
    b"<svg>",
    b"</svg>",
    b"<foreignObject>",
    b"<object>",
    b"<button>",
    b"<select>",
    b"<template>",
    b"<h1>",
    b"</h1>",
    b"<pre>",
    b"<hr>",
    b"<br>",
    b"<p>",
    b"<li>",
    b"<table>",
    b"<nav epub:type=toc>",
    b"</nav>",
    b"<section epub:type=copyright-page>",
    b"</section>",
    b"<a id=c1>",
    b"#c2",
    b"../",
    b"%00",
    b"%2e%2e/",
    b"PK\x05\x06",
    b"PK\x01\x02",
    b"PK\x03\x04",
    b"PK\x06\x06",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b"\\",
    b"\\u0000",
    b"\"content\":",
    b"# ",
    b"```",
    b"---\n",
    b"====\n",
    b"\xe7\xac\xac",
    b"\x81",
    b"\x1b$B",
    b"\xd8\x00",
];

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let bytes = || {
        prop_oneof![
            4 => prop::sample::select(TOKENS).prop_map(<[u8]>::to_vec),
            1 => prop::collection::vec(any::<u8>(), 1..9),
            1 => (prop::sample::select(TOKENS), 2_usize..400).prop_map(|(token, count)| token.repeat(count)),
        ]
    };
    let at = any::<Index>;
    let change = prop_oneof![
        4 => (at(), bytes()).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        3 => (at(), bytes()).prop_map(|(at, bytes)| Change::Overwrite(at, bytes)),
        2 => (at(), 1_usize..60).prop_map(|(at, length)| Change::Remove(at, length)),
        1 => (at(), 1_usize..200, 1_usize..30).prop_map(|(at, length, times)| Change::Repeat(at, length, times)),
        1 => (at(), at(), 1_usize..300).prop_map(|(from, to, length)| Change::Move(from, to, length)),
        1 => at().prop_map(Change::Truncate),
        1 => (at(), at(), 1_usize..300).prop_map(|(seed, at, length)| Change::InsertFrom(seed, at, length)),
    ];
    prop::collection::vec(change, 0..9)
}

fn changed(mut bytes: Vec<u8>, changes: &[Change], seeds: &[(&str, Vec<u8>)]) -> Vec<u8> {
    for change in changes {
        let (length, position) = (bytes.len(), |at: &Index| at.index(bytes.len() + 1));
        match change {
            Change::Insert(at, more) => {
                let at = position(at);
                bytes.splice(at..at, more.iter().copied());
            }
            Change::Overwrite(at, more) => {
                let at = position(at);
                bytes.splice(at..length.min(at + more.len()), more.iter().copied());
            }
            Change::Remove(at, count) => {
                let at = position(at);
                bytes.drain(at..length.min(at + count));
            }
            Change::Repeat(at, count, times) => {
                let at = position(at);
                let again = bytes[at..length.min(at + count)].repeat(*times);
                bytes.splice(at..at, again);
            }
            Change::Move(from, to, count) => {
                let (from, to) = (position(from), position(to));
                let moved: Vec<u8> = bytes.drain(from..length.min(from + count)).collect();
                let to = to.min(bytes.len());
                bytes.splice(to..to, moved);
            }
            Change::Truncate(at) => bytes.truncate(position(at)),
            Change::InsertFrom(seed, at, count) => {
                let other = &seeds[seed.index(seeds.len())].1;
                let (from, at) = (at.index(other.len()), position(at));
                bytes.splice(at..at, other[from..other.len().min(from + count)].iter().copied());
            }
        }
    }
    bytes
}

/// Checks the books of a file with this unpacked size.
fn check(name: &str, bytes: &[u8], size: usize) {
    let found: Vec<Result<Book, ReadError>> = books(name, Cursor::new(bytes), None).collect();
    assert!(!found.is_empty() && found.len() <= size + 1, "{} books and errors", found.len());
    for book in found {
        match book {
            Ok(book) => check_book(&book, size),
            Err(error) => assert!(error.to_string().contains(name), "{error}"),
        }
    }
}

fn check_book(book: &Book, size: usize) {
    let chars: Vec<char> = book.text.chars().collect();
    let length = u32::try_from(chars.len()).unwrap();
    assert!(!book.text.contains('\0') && !book.text.trim().is_empty());
    // A byte of another encoding becomes at most three, and `<hr>a` a line of asterisks.
    assert!(book.text.len() <= size * 3 + 16, "{} bytes of {size}", book.text.len());
    assert!(!book.slug.is_empty() && !book.slug.contains(['/', '\\', '.']), "{}", book.slug);
    assert!(!book.title.trim().is_empty() && !book.title.contains(['\n', '\0']), "{:?}", book.title);
    assert!(book.marked_headings.is_sorted_by_key(|mark| mark.start));
    for mark in &book.marked_headings {
        assert!(mark.start <= length && !mark.title.is_empty() && !mark.title.contains(['\n', '\0']), "{mark:?}");
    }
    assert!(book.boilerplate.is_sorted_by_key(|passage| passage.start));
    assert!(book.boilerplate.windows(2).all(|pair| pair[0].end <= pair[1].start));
    assert!(book.boilerplate.iter().all(|passage| passage.start <= passage.end && passage.end <= length));
    let chapters = chapters(book);
    assert!(chapters.windows(2).all(|pair| pair[0].start <= pair[1].start));
    assert!(chapters.iter().all(|chapter| chapter.start <= chapter.end && chapter.end <= length));
    let (chunks, rejects) = chunk(book, &chapters, &Params { max_tokens: 256, ..Params::default() });
    let mut at = 0;
    for chunk in &chunks {
        assert!(chunk.start >= at && chunk.end > chunk.start && chunk.end <= length);
        let own: String = chars[chunk.start as usize..chunk.end as usize].iter().collect();
        assert_eq!(own, chunk.text);
        at = chunk.end;
    }
    assert!(!chunks.is_empty() || !rejects.is_empty());
}

proptest! {
    #[test]
    fn a_corrupted_file_is_read_or_rejected(seed in any::<Index>(), changes in changes()) {
        let seeds = seeds();
        let (name, bytes) = seeds[seed.index(seeds.len())].clone();
        let bytes = changed(bytes, &changes, &seeds);
        // A corrupted archive yields no more than its pages, since checksums are verified.
        let size = bytes.len().max(epub_files().iter().map(|(_, bytes)| bytes.len()).sum());
        check(name, &bytes, size);
    }

    #[test]
    fn a_corrupted_part_of_an_epub_is_read_or_reported(parts in prop::collection::vec((any::<Index>(), changes()), 1..4)) {
        let (seeds, mut files) = (seeds(), epub_files());
        for (part, changes) in &parts {
            let at = part.index(files.len());
            files[at].1 = changed(std::mem::take(&mut files[at].1), changes, &seeds);
        }
        let size = files.iter().map(|(_, bytes)| bytes.len()).sum();
        check("a.epub", &zipped(&files, true), size);
    }
}

#[test]
fn valid_files_are_read() {
    for (name, bytes) in seeds() {
        let found: Vec<Result<Book, ReadError>> = books(name, Cursor::new(&bytes), None).collect();
        assert!(!found.is_empty() && found.iter().all(Result::is_ok), "{name}: {found:?}");
        for book in found.into_iter().flatten() {
            assert!(
                chapters(&book).len() >= 2 || !book.text.contains("回") && !book.text.contains("Chapter"),
                "{name}: {}",
                book.text
            );
        }
    }
}

/// With more than linear time these inputs would take minutes.
fn read_all(name: &str, bytes: &[u8]) -> Book {
    let book = books(name, Cursor::new(bytes), None).next().unwrap().unwrap();
    let chapters = chapters(&book);
    assert!(!chunk(&book, &chapters, &Params::default()).0.is_empty());
    book
}

#[test]
fn pages_with_many_elements_take_linear_time() {
    const MANY: usize = 15_000;
    let of = |part: &dyn Fn(usize) -> String| (0..MANY).map(part).collect::<String>();
    let page = |body: String| format!("<html><body>{body}</body></html>");
    for body in [
        of(&|n| format!("<h2>{n}</h2>")) + "<p>河灯",
        of(&|n| format!("<h2>Chapter {n}</h2><p>{n}</p>")),
        of(&|n| format!("<p id=c{n}>{n}<span class=pagenum>{n}</span>")),
        of(&|_| "<p>a<nav>b</nav>".to_owned()),
        "<div><span>".repeat(MANY * 4) + "河灯",
        "<svg><object><button><rt>".repeat(MANY) + "河灯",
        "<span class=pagenum><div class=pagenum>".repeat(MANY) + "河灯",
        "<ruby>漢<rt>かん".repeat(MANY) + "</ruby>河灯",
        "<a b=\"".repeat(MANY * 10) + "河灯",
        "<a b=\"<a c='\" d='".repeat(MANY * 4) + "河灯",
        "<Dear Peter, ".repeat(MANY * 4) + "河灯",
        "<x".repeat(MANY * 10) + ">河灯",
        of(&|n| format!("<x{n}>")) + &of(&|n| format!("河</x{n}>")),
        of(&|n| format!("&#{n};&{n};&")) + "河灯",
    ] {
        read_all("a.html", page(body).as_bytes());
    }
}

#[test]
fn an_epub_with_many_parts_takes_linear_time() {
    const MANY: usize = 6_000;
    let of = |part: &dyn Fn(usize) -> String| (0..MANY).map(part).collect::<String>();
    let mut files: Vec<(String, Vec<u8>)> =
        epub_files().into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect();
    let items = of(&|n| format!("<item id='i{n}' href='p{n}.xhtml'/>"));
    let spine = of(&|n| format!("<itemref idref='i{n}'/><itemref idref='lost{n}'/>"));
    files[1].1 = format!(
        "<package><metadata><dc:title>Rain</dc:title></metadata><manifest><item id='a' href='a.xhtml'/><item id='x' href='toc.ncx'/>{items}</manifest>\
         <spine toc='x'><itemref idref='a'/>{spine}</spine></package>"
    ).into();
    files[3].1 = format!(
        "<ncx><navMap>{}</navMap></ncx>",
        of(&|n| format!("<navPoint><navLabel><text>第{n}回</text></navLabel><content src='a.xhtml#c{n}'/></navPoint>"))
    )
    .into();
    files[4].1 = format!("<html><body>{}</body></html>", of(&|n| format!("<p id='c{n}'>河灯{n}"))).into();
    files.extend((0..MANY / 2).map(|n| (format!("OEBPS/p{n}.xhtml"), b"<p>x<nav>y</nav>".to_vec())));
    let book = read_all("a.epub", &zipped(&files, true));
    assert_eq!(
        book.boilerplate.iter().filter(|passage| passage.kind.reason().name() == "missing_page").count(),
        MANY * 3 / 2
    );
}
