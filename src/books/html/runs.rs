//! Finds runs of words that can be copied into the text unchanged.

/// What a byte may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Byte {
    Word,
    /// A control character, or white space other than a plain space.
    Other,
    /// A character that may be either.
    Wide,
}

const BYTES: [Byte; 256] = {
    let mut bytes = [Byte::Word; 256];
    let mut at = 0;
    while at < 0x20 {
        bytes[at] = Byte::Other;
        at += 1;
    }
    bytes[0x7f] = Byte::Other;
    // The first bytes of C1 controls, no-break spaces, soft hyphens, zero-width spaces and byte order marks.
    bytes[0xc2] = Byte::Wide;
    bytes[0xe2] = Byte::Wide;
    bytes[0xef] = Byte::Wide;
    bytes
};

/// Returns the length of the prefix of words separated by single spaces.
pub(super) fn run_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut before) = (0, b' ');
    while let Some(byte) = bytes.get(at).copied() {
        let ends = match BYTES[usize::from(byte)] {
            Byte::Word => byte == b' ' && before == b' ',
            Byte::Other => true,
            Byte::Wide => match (byte, &bytes[at + 1..]) {
                (0xc2, [next, ..]) => *next <= 0xa0 || *next == 0xad,
                (0xe2, [0x80, 0x8b, ..]) | (0xef, [0xbb, 0xbf, ..]) => true,
                _ => false,
            },
        };
        if ends {
            break;
        }
        before = byte;
        at += 1;
    }
    // A space at the end becomes a gap.
    at - usize::from(at > 0 && before == b' ')
}
