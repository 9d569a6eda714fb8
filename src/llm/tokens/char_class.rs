//! Character classes for token estimates, by script.

/// Class of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CharClass {
    Letter,
    Digit,
    Mark,
    Line,
    Blank,
    Han,
    Traditional,
    Other,
}

/// Returns the class of a character.
pub(crate) const fn char_class(c: char) -> CharClass {
    match c {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => CharClass::Letter,
        ' ' | '\t' | '\u{a0}' | '\u{3000}' => CharClass::Blank,
        '\n' | '\r' => CharClass::Line,
        '0'..='9' => CharClass::Digit,
        '\u{4e00}'..='\u{9fff}' if is_traditional(c as u32) => CharClass::Traditional,
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => CharClass::Han,
        '\0'..='\u{bf}'
        | '\u{2010}'..='\u{205e}'
        | '\u{3001}'..='\u{303f}'
        | '\u{ff01}'..='\u{ff0f}'
        | '\u{ff1a}'..='\u{ff20}' => CharClass::Mark,
        _ => CharClass::Other,
    }
}

/// Common characters that differ in the simplified script.
const TRADITIONAL: &str = "\
    來這個裡說兩見爺進門過幾喫書頭還請銀麼問時話們與會當纔親縣聽錢罷將沒為馬兒學樣邊處開寫卻東飯從師無發間別眾帶長張\
    氣莊尋詩陳鄉買孫內鳳禮萬遲點齊聲樓璽謝細轎風總舉認臺賣紅難雲嚴辭應盤湯連腳婦經歲該隨領隻備辦擺極廝許實貴覺燈場黃\
    楊講談筆動臉齋樂鎮傳戲執諸遞華須軒議廳歡貢報趙雖現並給館興曉鬧約讀選對監員滿關數換賢條畢費紙業戶託遠嚇號國驚讓閒\
    盡橋緊養鐵雙燒轉蘭趕樹漸畫參鄰斷餘獻試況訪稱權鹽輝顧贊飛響頓園塊愛熱藥義賞儀揚歸淚龍勸掛帳漢雞亂結絲補頂計丟編紹\
    歎殺題窮諾魚豬罵裝誰終遊討惡靜飲聞瞞訴單運軍貼勞蓋觀廣夢務豈廚則賓願幫語喪圖擔貧離醫彈廟寶輕爐強陰論識詞滾錯體車\
    脫勝設財傷緣陽順絕純寧紀壞劍臨藍變淨雜懷圍聖獨麵寬復誤糧類髮據擾煩夾煙烏懸擠劉錄審賜涼駕歷積虛騎後於裏鐘嗎啊著喚\
    嗎腦電視機網鬆撲撞抬搶擊彎衝頸額頰淺濕濁溫燙繞緩縮織繩續練綠輪軟載逃遲郵釋針鋒鑰閉闊陣際霧靈頁顫飄餓餅駛騷鬥鳥鳴黨";

/// First bytes of the most common block and its neighbors, which contain only Chinese characters of three bytes.
pub(crate) const COMMON: std::ops::RangeInclusive<u8> = 0xe4..=0xe9;

/// The first code point that [`point`] can return for the bytes of [`COMMON`].
const FIRST: u32 = 0x4000;

/// Set of the traditional characters, one bit each.
static IS_TRADITIONAL: [u64; 0x6000 / 64] = {
    let (bytes, mut set, mut at) = (TRADITIONAL.as_bytes(), [0; 0x6000 / 64], 0);
    while at + 2 < bytes.len() {
        let bit = point(bytes[at], bytes[at + 1], bytes[at + 2]) - FIRST;
        set[(bit / 64) as usize] |= 1 << (bit % 64);
        at += 3;
    }
    set
};

/// Decodes a character of three bytes.
pub(crate) const fn point(first: u8, second: u8, third: u8) -> u32 {
    (first as u32 & 0xf) << 12 | (second as u32 & 0x3f) << 6 | third as u32 & 0x3f
}

/// Whether a code point, as decoded by [`point`], is a character that exists only in the traditional script.
pub(crate) const fn is_traditional(point: u32) -> bool {
    let bit = point - FIRST;
    IS_TRADITIONAL[(bit / 64) as usize] >> (bit % 64) & 1 == 1
}
