//! The one reader and writer of the text forms of spaces, points, samplers and pruners.
//!
//! ```text
//! space      = "Space(" [ dimension { "," dimension } ] ")"        the frame may be left out when reading
//! dimension  = word "=" domain [ " when " word "=" scalar { "|" scalar } ]
//! domain     = ( "real" | "logreal" ) "(" real "," real [ ",step=" real ] ")"
//!            | ( "int" | "logint" ) "(" int "," int [ ",step=" int ] ")"
//!            | "choice" "(" scalar { "|" scalar } ")"
//! point      = [ word "=" value { "," word "=" value } ]
//! value      = real | int | scalar                                 as the dimension says
//! scalar     = "none" | "true" | "false" | int | float | word      a float has a `.` or an `e`
//! word       = bare | quoted
//! ```
//!
//! A word is bare unless it could be read as something else: empty, a number or a reserved word in any case, or
//! with white space, a control character or one of `,=|()"'\` in it. A quoted word escapes `\"`, `\\`, `\n`,
//! `\r`, `\t` and other control characters as `\u{hex}`. Floats are written in the shortest form that reads back to
//! the same bits, so writing and reading lose nothing.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::dimension::{Dimension, Domain};
use crate::error::SpaceError;
use crate::scalar::Scalar;
use crate::space::{Space, condition};

/// Words that stand for something else when they are bare, in any case and with any sign.
const RESERVED: [&str; 8] = ["none", "null", "true", "false", "nan", "inf", "infinity", "nil"];

/// Writes a real whose place says that it is one: `1`, `0.1`, `1e-7`.
pub(crate) fn write_real(out: &mut impl Write, value: f64) -> fmt::Result {
    let mut text = Digits::default();
    write!(text, "{value:?}")?;
    out.write_str(text.as_str().strip_suffix(".0").unwrap_or(text.as_str()))
}

/// The digits of one float, on the stack.
#[derive(Default)]
struct Digits {
    bytes: [u8; 32],
    len: usize,
}

impl Digits {
    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl Write for Digits {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// The text of a real, for messages.
pub(crate) fn real(value: f64) -> String {
    let mut text = String::new();
    write_real(&mut text, value).expect("a String takes everything");
    text
}

/// Writes a scalar with its type: a float keeps its `.0`, a word is quoted where it must be.
pub(crate) fn write_scalar(out: &mut impl Write, value: &Scalar) -> fmt::Result {
    match value {
        Scalar::Null => out.write_str("none"),
        Scalar::Bool(value) => write!(out, "{value}"),
        Scalar::Int(value) => write!(out, "{value}"),
        Scalar::Float(value) => write!(out, "{value:?}"),
        Scalar::Text(value) => write_word(out, value),
    }
}

/// Writes scalars with `|` between them.
pub(crate) fn write_scalars(out: &mut impl Write, values: &[Scalar]) -> fmt::Result {
    for (i, value) in values.iter().enumerate() {
        if i > 0 {
            out.write_char('|')?;
        }
        write_scalar(out, value)?;
    }
    Ok(())
}

/// Writes a name or an option that is text.
pub(crate) fn write_word(out: &mut impl Write, word: &str) -> fmt::Result {
    if is_bare(word) {
        return out.write_str(word);
    }
    out.write_char('"')?;
    for c in word.chars() {
        match c {
            '"' => out.write_str("\\\"")?,
            '\\' => out.write_str("\\\\")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            '\t' => out.write_str("\\t")?,
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                write!(out, "\\u{{{:x}}}", u32::from(c))?;
            }
            c => out.write_char(c)?,
        }
    }
    out.write_char('"')
}

fn is_bare(word: &str) -> bool {
    !word.is_empty() && word.chars().all(is_bare_char) && !looks_like_number(word) && !is_reserved(word)
}

fn is_bare_char(c: char) -> bool {
    if c.is_ascii_alphanumeric() || c == '_' {
        return true;
    }
    !c.is_whitespace() && !c.is_control() && !matches!(c, ',' | '=' | '|' | '(' | ')' | '"' | '\'' | '\\')
}

fn looks_like_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-', '.']);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

fn is_reserved(word: &str) -> bool {
    let word = word.trim_start_matches(['+', '-']);
    RESERVED.iter().any(|one| one.eq_ignore_ascii_case(word))
}

/// A place in a text: what an error shows, with a mark under it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    line: String,
    mark: usize,
    character: usize,
}

impl Excerpt {
    /// Characters shown on either side of the place.
    const REACH: usize = 40;

    fn new(text: &str, byte: usize) -> Self {
        let before = text[..byte].chars().count();
        let skipped = before.saturating_sub(Self::REACH);
        let mut line = String::new();
        if skipped > 0 {
            line.push_str("...");
        }
        let mark = line.chars().count() + before - skipped;
        // A control character would move the mark or the terminal's cursor.
        line.extend(
            text.chars()
                .skip(skipped)
                .take(before - skipped + Self::REACH)
                .map(|c| if c.is_control() { ' ' } else { c }),
        );
        if text[byte..].chars().count() > Self::REACH {
            line.push_str("...");
        }
        Self { line, mark, character: before + 1 }
    }

    /// The place, counted in characters from 1.
    pub fn character(&self) -> usize {
        self.character
    }
}

/// Two lines, indented by four: the text and a `^` under the place.
impl fmt::Display for Excerpt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "    {}\n    {:mark$}^", self.line, "", mark = self.mark)
    }
}

/// A piece of text that stands for one value or name.
pub(crate) enum Token<'a> {
    Bare(&'a str),
    Quoted(String),
}

/// Walks over a text form and says where it stopped making sense.
pub(crate) struct Reader<'a> {
    what: &'static str,
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// Starts at the beginning of `text`; `what` names it in errors.
    pub(crate) fn new(what: &'static str, text: &'a str) -> Self {
        Self { what, text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Where the reader stands, in bytes.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// Whether nothing but white space is left.
    pub(crate) fn is_done(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty()
    }

    pub(crate) fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    /// Takes `literal` if it comes next, white space before it skipped.
    pub(crate) fn eat(&mut self, literal: &str) -> bool {
        if !self.rest().starts_with(literal) {
            self.skip_space();
        }
        let found = self.rest().starts_with(literal);
        if found {
            self.at += literal.len();
        }
        found
    }

    pub(crate) fn expect(&mut self, literal: &str) -> Result<(), SpaceError> {
        if self.eat(literal) { Ok(()) } else { Err(self.error(self.at, format!("`{literal}`"))) }
    }

    /// Nothing may follow.
    pub(crate) fn expect_end(&mut self) -> Result<(), SpaceError> {
        if self.is_done() { Ok(()) } else { Err(self.error(self.at, "the end".into())) }
    }

    /// The error that names what could stand at byte `at`.
    pub(crate) fn error(&self, at: usize, expected: String) -> SpaceError {
        let rest = &self.text[at..];
        let found = match rest.chars().next() {
            None => "the end".to_owned(),
            Some(c) if is_bare_char(c) => {
                format!("`{}`", rest.chars().take(24).take_while(|c| is_bare_char(*c)).collect::<String>())
            }
            Some(c) => format!("`{}`", c.escape_debug()),
        };
        self.error_found(at, expected, found)
    }

    fn error_found(&self, at: usize, expected: String, found: String) -> SpaceError {
        SpaceError::Text { what: self.what, expected, found, excerpt: Excerpt::new(self.text, at) }
    }

    /// The next bare run or quoted word.
    pub(crate) fn token(&mut self, expected: &str) -> Result<Token<'a>, SpaceError> {
        self.skip_space();
        if self.rest().starts_with('"') {
            return self.quoted().map(Token::Quoted);
        }
        let rest = self.rest();
        let len = rest.find(|c| !is_bare_char(c)).unwrap_or(rest.len());
        if len == 0 {
            return Err(self.error(self.at, expected.to_owned()));
        }
        self.at += len;
        Ok(Token::Bare(&rest[..len]))
    }

    fn quoted(&mut self) -> Result<String, SpaceError> {
        let start = self.at;
        let mut word = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += i + 1;
                    return Ok(word);
                }
                '\\' => {
                    let place = start + i;
                    let escape = "an escape: \\\" \\\\ \\n \\r \\t or \\u{hex}";
                    match chars.next().map(|(_, c)| c) {
                        Some(c @ ('"' | '\\')) => word.push(c),
                        Some('n') => word.push('\n'),
                        Some('r') => word.push('\r'),
                        Some('t') => word.push('\t'),
                        Some('u') => {
                            let hex: String =
                                chars.by_ref().map(|(_, c)| c).take_while(|c| *c != '}').collect();
                            let c = hex
                                .strip_prefix('{')
                                .filter(|hex| hex.len() <= 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
                                .and_then(|hex| u32::from_str_radix(hex, 16).ok())
                                .and_then(char::from_u32)
                                .ok_or_else(|| self.error(place, escape.into()))?;
                            word.push(c);
                        }
                        _ => return Err(self.error(place, escape.into())),
                    }
                }
                c => word.push(c),
            }
        }
        Err(self.error_found(
            start,
            "`\"` at the end of the word".into(),
            "a quote that is not closed".into(),
        ))
    }

    /// A name.
    pub(crate) fn word(&mut self, expected: &str) -> Result<Cow<'a, str>, SpaceError> {
        self.skip_space();
        let start = self.at;
        match self.token(expected)? {
            Token::Quoted(word) => Ok(Cow::Owned(word)),
            Token::Bare(word) if is_reserved(word) || looks_like_number(word) => {
                Err(self.error(start, format!("{expected} in quotes, as it could be read as something else")))
            }
            Token::Bare(word) => Ok(Cow::Borrowed(word)),
        }
    }

    /// A finite real.
    pub(crate) fn real(&mut self) -> Result<f64, SpaceError> {
        self.skip_space();
        let start = self.at;
        match self.token("a number")? {
            Token::Bare(word) if looks_like_number(word) => word
                .parse()
                .ok()
                .filter(|v: &f64| v.is_finite())
                .ok_or_else(|| self.error(start, "a number".into())),
            _ => Err(self.error(start, "a number".into())),
        }
    }

    /// A whole number of 64 bits, signed.
    pub(crate) fn int(&mut self) -> Result<i64, SpaceError> {
        self.skip_space();
        let start = self.at;
        let expected = "a whole number from -2^63 to 2^63-1";
        self.raw(expected)?.parse().map_err(|_| self.error(start, expected.to_owned()))
    }

    /// A bare word as it stands.
    pub(crate) fn raw(&mut self, expected: &str) -> Result<&'a str, SpaceError> {
        self.skip_space();
        let start = self.at;
        match self.token(expected)? {
            Token::Bare(word) => Ok(word),
            Token::Quoted(_) => Err(self.error(start, expected.to_owned())),
        }
    }

    /// A scalar with its type.
    pub(crate) fn scalar(&mut self) -> Result<Scalar, SpaceError> {
        self.skip_space();
        let start = self.at;
        let word = match self.token("a value")? {
            Token::Quoted(word) => return Ok(Scalar::Text(word)),
            Token::Bare(word) => word,
        };
        let quoted = |what: &str| self.error(start, format!("{what}, or the word in quotes"));
        Ok(match word {
            "none" => Scalar::Null,
            "true" => Scalar::Bool(true),
            "false" => Scalar::Bool(false),
            word if is_reserved(word) => return Err(quoted("`none`, `true`, `false`")),
            word if looks_like_number(word) && word.contains(['.', 'e', 'E']) => word
                .parse()
                .ok()
                .filter(|v: &f64| v.is_finite())
                .map(Scalar::Float)
                .ok_or_else(|| quoted("a finite number"))?,
            word if looks_like_number(word) => {
                word.parse().map(Scalar::Int).map_err(|_| quoted("a whole number from -2^63 to 2^63-1"))?
            }
            word => Scalar::Text(word.to_owned()),
        })
    }

    /// Scalars with `|` between them, at least one.
    pub(crate) fn scalars(&mut self) -> Result<Vec<Scalar>, SpaceError> {
        let mut values = vec![self.scalar()?];
        while self.eat("|") {
            values.push(self.scalar()?);
        }
        Ok(values)
    }
}

/// Writes a space as `Space(lr=logreal(0.0001,0.1),width=int(8,64),opt=choice(adam|sgd))`.
pub(crate) fn write_space(out: &mut impl Write, space: &Space) -> fmt::Result {
    out.write_str("Space(")?;
    for (i, dimension) in space.dimensions().iter().enumerate() {
        if i > 0 {
            out.write_char(',')?;
        }
        write_word(out, &dimension.name)?;
        out.write_char('=')?;
        write_domain(out, &dimension.domain)?;
        if let Some(when) = &dimension.when {
            out.write_str(" when ")?;
            write_word(out, &space.dimensions()[when.parent].name)?;
            out.write_char('=')?;
            write_scalars(out, &when.values)?;
        }
    }
    out.write_char(')')
}

/// Writes a domain as `logreal(0.0001,0.1)`.
pub(crate) fn write_domain(out: &mut impl Write, domain: &Domain) -> fmt::Result {
    match domain {
        Domain::Real { low, high, log, step } => {
            out.write_str(if *log { "logreal(" } else { "real(" })?;
            write_real(out, *low)?;
            out.write_char(',')?;
            write_real(out, *high)?;
            if let Some(step) = step {
                out.write_str(",step=")?;
                write_real(out, *step)?;
            }
        }
        Domain::Int { low, high, log, step } => {
            write!(out, "{}({low},{high}", if *log { "logint" } else { "int" })?;
            if *step != 1 {
                write!(out, ",step={step}")?;
            }
        }
        Domain::Choice { options } => {
            out.write_str("choice(")?;
            write_scalars(out, options)?;
        }
    }
    out.write_char(')')
}

/// Reads what [`write_space`] writes; the frame `Space(...)` may be left out.
pub(crate) fn read_space(text: &str) -> Result<Space, SpaceError> {
    let mut reader = Reader::new("the space", text);
    let framed = reader.eat("Space(");
    let (mut dimensions, mut names) = (Vec::new(), FxHashSet::default());
    let is_end = |reader: &mut Reader<'_>| if framed { reader.eat(")") } else { reader.is_done() };
    if !is_end(&mut reader) {
        loop {
            let dimension = read_dimension(&mut reader)?;
            if !names.insert(Arc::clone(&dimension.name)) {
                return Err(SpaceError::RepeatedName { name: dimension.name.to_string() });
            }
            dimensions.push(dimension);
            if reader.eat("when ") {
                let parent = reader.word("the name of the dimension that it depends on")?;
                reader.expect("=")?;
                condition(&mut dimensions, &parent, reader.scalars()?)?;
            }
            if is_end(&mut reader) {
                break;
            }
            if !reader.eat(",") {
                let end = if framed { "`)`" } else { "the end" };
                return Err(reader.error(reader.at(), format!("`,`, ` when ` or {end}")));
            }
        }
    }
    reader.expect_end()?;
    Ok(Space::from_dimensions(dimensions))
}

fn read_dimension(reader: &mut Reader<'_>) -> Result<Dimension, SpaceError> {
    let name = reader.word("the name of a dimension")?;
    reader.expect("=")?;
    reader.skip_space();
    let start = reader.at();
    let kinds = "`real`, `logreal`, `int`, `logint` or `choice`";
    let domain = match reader.token(kinds)? {
        Token::Bare(kind @ ("real" | "logreal")) => {
            reader.expect("(")?;
            let low = reader.real()?;
            reader.expect(",")?;
            let high = reader.real()?;
            let step = if read_step(reader)? { Some(reader.real()?) } else { None };
            Domain::Real { low, high, log: kind == "logreal", step }
        }
        Token::Bare(kind @ ("int" | "logint")) => {
            reader.expect("(")?;
            let low = reader.int()?;
            reader.expect(",")?;
            let high = reader.int()?;
            let step = if read_step(reader)? { reader.int()? } else { 1 };
            Domain::Int { low, high, log: kind == "logint", step }
        }
        Token::Bare("choice") => {
            reader.expect("(")?;
            Domain::Choice { options: reader.scalars()?.into() }
        }
        _ => return Err(reader.error(start, kinds.to_owned())),
    };
    reader.expect(")")?;
    Dimension::new(&name, domain)
}

fn read_step(reader: &mut Reader<'_>) -> Result<bool, SpaceError> {
    if !reader.eat(",") {
        return Ok(false);
    }
    reader.expect("step")?;
    reader.expect("=")?;
    Ok(true)
}
