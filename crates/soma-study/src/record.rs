//! The lines of a ledger, as a study writes and reads them. `docs/formats.md` shows each with an example.
//!
//! Reading goes field by field over the exact form that writing gives, and falls back on a general JSON reader for any
//! other form of the same record, so that a record written by another version, with more fields or in another order,
//! is the same record.

use std::borrow::Cow;
use std::io::Write;

use serde::Deserialize;
use serde_json::Value;

use crate::point::Origin;
use crate::state::State;

/// What one line says.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Record<'a> {
    /// An attempt was taken. `after`: how far the ledgers that spoke of earlier attempts had been read by then; what
    /// they say about those attempts behind that counts for nothing. `origin`: the sampler that gave the point, and the
    /// trial that it was asked for.
    Take {
        id: Id,
        me: Cow<'a, str>,
        space_version: u32,
        point: Cow<'a, str>,
        origin: Option<(Cow<'a, str>, u64)>,
        after: Vec<(String, u64)>,
    },
    /// Values of a curve, from index `from`.
    Report { id: Id, from: usize },
    /// The last values of a curve, and how the attempt ended.
    End {
        id: Id,
        from: usize,
        state: State,
        score: Option<f64>,
        because: Option<String>,
        took_secs: Option<f64>,
    },
    /// A trial was taken out of the study.
    Discard { trial: u64, because: Option<String> },
    /// Something about the ledger itself, or from a later version: nothing about a trial.
    Other,
}

/// One attempt at one trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Id {
    pub(crate) trial: u64,
    pub(crate) attempt: u32,
}

/// What a take says of the attempt.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taking<'a> {
    pub(crate) id: Id,
    pub(crate) me: &'a str,
    pub(crate) space_version: u32,
    pub(crate) point: &'a str,
    pub(crate) origin: Option<&'a Origin>,
}

/// Writes a take.
pub(crate) fn write_take(out: &mut Vec<u8>, taking: &Taking<'_>, after: &[(&str, u64)]) {
    begin(out, "take", taking.id);
    out.extend_from_slice(b",\"me\":");
    write_text(out, taking.me);
    put(out, format_args!(",\"space\":{},\"point\":", taking.space_version));
    write_text(out, taking.point);
    if let Some(origin) = taking.origin {
        out.extend_from_slice(b",\"by\":");
        write_text(out, &origin.sampler);
        if origin.trial != taking.id.trial {
            put(out, format_args!(",\"asked\":{}", origin.trial));
        }
    }
    for (i, (ledger, bytes)) in after.iter().enumerate() {
        put(out, format_args!("{}\"{ledger}\":{bytes}", if i == 0 { ",\"after\":{" } else { "," }));
    }
    out.extend_from_slice(if after.is_empty() { b"}" } else { b"}}" });
}

/// Writes values of a curve.
pub(crate) fn write_report(out: &mut Vec<u8>, id: Id, from: usize, said: &[f64]) {
    begin(out, "report", id);
    write_said(out, from, said);
    out.push(b'}');
}

/// How an attempt ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending<'a> {
    pub(crate) state: State,
    pub(crate) score: Option<f64>,
    pub(crate) because: Option<&'a str>,
    pub(crate) took_secs: Option<f64>,
}

/// Writes the end of an attempt.
pub(crate) fn write_end(out: &mut Vec<u8>, id: Id, from: usize, said: &[f64], end: &Ending<'_>) {
    begin(out, "end", id);
    write_said(out, from, said);
    put(out, format_args!(",\"state\":\"{}\"", end.state.as_str()));
    if let Some(score) = end.score {
        out.extend_from_slice(b",\"score\":");
        write_real(out, score);
    }
    if let Some(because) = end.because {
        out.extend_from_slice(b",\"because\":");
        write_text(out, because);
    }
    if let Some(took) = end.took_secs {
        out.extend_from_slice(b",\"took_secs\":");
        write_real(out, took);
    }
    out.push(b'}');
}

/// Writes that a trial is taken out.
pub(crate) fn write_discard(out: &mut Vec<u8>, trial: u64, because: Option<&str>) {
    put(out, format_args!("{{\"kind\":\"discard\",\"trial\":{trial}"));
    if let Some(because) = because {
        out.extend_from_slice(b",\"because\":");
        write_text(out, because);
    }
    out.push(b'}');
}

fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("memory takes every byte");
}

fn begin(out: &mut Vec<u8>, kind: &str, id: Id) {
    out.extend_from_slice(b"{\"kind\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"trial\":");
    write_whole(out, id.trial);
    out.extend_from_slice(b",\"attempt\":");
    write_whole(out, id.attempt.into());
}

fn write_whole(out: &mut Vec<u8>, value: u64) {
    serde_json::to_writer(out, &value).expect("memory takes every byte and a number is JSON");
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("memory takes every byte and text is JSON");
}

fn write_said(out: &mut Vec<u8>, from: usize, said: &[f64]) {
    out.extend_from_slice(b",\"from\":");
    write_whole(out, from as u64);
    out.extend_from_slice(b",\"said\":[");
    for (i, value) in said.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        write_real(out, *value);
    }
    out.push(b']');
}

/// Shortest form that reads back bit for bit. JSON has no word for what is not finite: NaN is `null`, and the two
/// infinities are texts.
fn write_real(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        serde_json::to_writer(out, &value).expect("memory takes every byte and a finite number is JSON");
    } else if value.is_nan() {
        out.extend_from_slice(b"null");
    } else {
        out.extend_from_slice(if value > 0.0 { b"\"inf\"" } else { b"\"-inf\"" });
    }
}

/// Reads a line; the values of a curve go to `said`, which is emptied first. None for a line that is no record of ours.
pub(crate) fn read<'a>(line: &'a [u8], said: &mut Vec<f64>) -> Option<Record<'a>> {
    said.clear();
    let mut exact = Exact { rest: line };
    if let Some(record) = exact.record(said) {
        return Some(record);
    }
    said.clear();
    read_any(line, said)
}

/// Takes the exact form apart from the front; None as soon as something differs.
struct Exact<'a> {
    rest: &'a [u8],
}

impl<'a> Exact<'a> {
    fn record(&mut self, said: &mut Vec<f64>) -> Option<Record<'a>> {
        self.expect(b"{\"kind\":\"")?;
        match self.rest.first()? {
            b'r' => {
                self.expect(b"report\"")?;
                let id = self.id()?;
                let from = self.said(said)?;
                self.end()?;
                Some(Record::Report { id, from })
            }
            b'e' => {
                self.expect(b"end\"")?;
                let id = self.id()?;
                let from = self.said(said)?;
                self.expect(b",\"state\":")?;
                let state = self.text()?.parse().ok()?;
                let score = self.optional(b",\"score\":", Self::real)?;
                let because = self.optional(b",\"because\":", Self::text)?.map(str::to_owned);
                let took_secs = self.optional(b",\"took_secs\":", Self::real)?;
                self.end()?;
                Some(Record::End { id, from, state, score, because, took_secs })
            }
            b't' => {
                self.expect(b"take\"")?;
                let id = self.id()?;
                self.expect(b",\"me\":")?;
                let me = Cow::Borrowed(self.text()?);
                self.expect(b",\"space\":")?;
                let space_version = self.whole()?.try_into().ok()?;
                self.expect(b",\"point\":")?;
                let point = Cow::Borrowed(self.text()?);
                let by = self.optional(b",\"by\":", Self::text)?;
                let asked = self.optional(b",\"asked\":", Self::whole)?.unwrap_or(id.trial);
                self.end()?;
                let origin = by.map(|by| (Cow::Borrowed(by), asked));
                Some(Record::Take { id, me, space_version, point, origin, after: Vec::new() })
            }
            b'a' => {
                self.expect(b"alive\"")?;
                self.end()?;
                Some(Record::Other)
            }
            _ => None,
        }
    }

    fn expect(&mut self, literal: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(literal)?;
        Some(())
    }

    /// Nothing but the checksum may follow.
    fn end(&self) -> Option<()> {
        self.rest.starts_with(b",\"sum\":\"").then_some(())
    }

    fn id(&mut self) -> Option<Id> {
        self.expect(b",\"trial\":")?;
        let trial = self.whole()?;
        self.expect(b",\"attempt\":")?;
        Some(Id { trial, attempt: self.whole()?.try_into().ok()? })
    }

    fn whole(&mut self) -> Option<u64> {
        let mut value: u64 = 0;
        let mut digits = 0;
        while let Some(digit) = self.rest.get(digits).filter(|byte| byte.is_ascii_digit()) {
            value = value.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            digits += 1;
        }
        self.rest = &self.rest[digits..];
        (digits > 0).then_some(value)
    }

    fn real(&mut self) -> Option<f64> {
        let digits = self
            .rest
            .iter()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        let (number, rest) = self.rest.split_at(digits.count());
        let value: f64 = std::str::from_utf8(number).ok()?.parse().ok()?;
        self.rest = rest;
        value.is_finite().then_some(value)
    }

    /// A text without escapes.
    fn text(&mut self) -> Option<&'a str> {
        self.expect(b"\"")?;
        let end = self.rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = rest;
        self.expect(b"\"")?;
        std::str::from_utf8(text).ok()
    }

    #[expect(clippy::option_option, reason = "not there is no failure, and a failure is not nothing")]
    fn optional<T>(&mut self, name: &[u8], read: impl FnOnce(&mut Self) -> Option<T>) -> Option<Option<T>> {
        if self.expect(name).is_some() { read(self).map(Some) } else { Some(None) }
    }

    fn said(&mut self, said: &mut Vec<f64>) -> Option<usize> {
        self.expect(b",\"from\":")?;
        let from = self.whole()?.try_into().ok()?;
        self.expect(b",\"said\":[")?;
        while self.expect(b"]").is_none() {
            if !said.is_empty() {
                self.expect(b",")?;
            }
            said.push(self.real()?);
        }
        Some(from)
    }
}

/// Every field of every record.
#[derive(Deserialize)]
struct Any {
    kind: String,
    trial: Option<u64>,
    #[serde(default)]
    attempt: u32,
    me: Option<String>,
    space: Option<u32>,
    point: Option<String>,
    by: Option<String>,
    asked: Option<u64>,
    #[serde(default)]
    after: serde_json::Map<String, Value>,
    #[serde(default)]
    from: usize,
    #[serde(default)]
    said: Vec<Value>,
    state: Option<String>,
    score: Option<Value>,
    because: Option<String>,
    took_secs: Option<f64>,
}

fn read_any<'a>(line: &[u8], said: &mut Vec<f64>) -> Option<Record<'a>> {
    let any: Any = serde_json::from_slice(line).ok()?;
    let id = |trial: Option<u64>| Some(Id { trial: trial?, attempt: any.attempt });
    for value in &any.said {
        said.push(real_of(value)?);
    }
    Some(match any.kind.as_str() {
        "take" => Record::Take {
            id: id(any.trial)?,
            me: any.me?.into(),
            space_version: any.space?,
            point: any.point?.into(),
            origin: match any.by {
                Some(by) => Some((by.into(), any.asked.or(any.trial)?)),
                None => None,
            },
            after: any
                .after
                .into_iter()
                .map(|(ledger, bytes)| Some((ledger, bytes.as_u64()?)))
                .collect::<Option<_>>()?,
        },
        "report" => Record::Report { id: id(any.trial)?, from: any.from },
        "end" => Record::End {
            id: id(any.trial)?,
            from: any.from,
            state: any.state?.parse().ok().filter(|state: &State| state.is_finished())?,
            score: any.score.as_ref().and_then(real_of),
            because: any.because,
            took_secs: any.took_secs,
        },
        "discard" => Record::Discard { trial: any.trial?, because: any.because },
        _ => Record::Other,
    })
}

fn real_of(value: &Value) -> Option<f64> {
    match value {
        Value::Null => Some(f64::NAN),
        Value::Number(number) => number.as_f64(),
        Value::String(text) if text == "inf" => Some(f64::INFINITY),
        Value::String(text) if text == "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: Id = Id { trial: 7, attempt: 1 };

    fn sealed(mut body: Vec<u8>) -> Vec<u8> {
        assert_eq!(body.pop(), Some(b'}'));
        body.extend(b",\"sum\":\"00000000\"}");
        body
    }

    fn bits(said: &[f64]) -> Vec<u64> {
        said.iter().map(|value| value.to_bits()).collect()
    }

    #[test]
    fn curves_read_back_bit_for_bit_and_what_is_not_finite_too() {
        let curves: [&[f64]; 5] = [
            &[],
            &[0.5, -0.0, 5e-324, 1.797_693_134_862_315_7e308, 1e21, 0.1 + 0.2],
            &[f64::NAN, 1.0],
            &[f64::INFINITY, f64::NEG_INFINITY],
            &[3.0],
        ];
        for curve in curves {
            let (mut line, mut said) = (Vec::new(), Vec::new());
            write_report(&mut line, ID, 3, curve);
            let line = sealed(line);
            assert_eq!(read(&line, &mut said), Some(Record::Report { id: ID, from: 3 }));
            assert_eq!(bits(&said), bits(curve));
            let (mut again, mut body) = (Vec::new(), line.clone());
            // The general reader agrees with the exact one.
            assert_eq!(read_any(&body, &mut again), Some(Record::Report { id: ID, from: 3 }));
            assert_eq!(bits(&again), bits(curve));
            body.insert(1, b' ');
            assert_eq!(read(&body, &mut again), Some(Record::Report { id: ID, from: 3 }));
        }
    }

    #[test]
    fn takes_and_ends_read_back_whatever_their_texts_hold() {
        for text in ["plain", "", "a\"b\\c\nd", "é\u{1f600}\u{0}", ",\"sum\":\""] {
            let (mut line, mut said) = (Vec::new(), Vec::new());
            let after = [("ab", 12), ("cd", 0)];
            let origins =
                [None, Some(7), Some(8)].map(|trial| Some(Origin { sampler: text.into(), trial: trial? }));
            for (after, origin) in
                [&after[..], &[]].into_iter().flat_map(|one| origins.iter().map(move |origin| (one, origin)))
            {
                line.clear();
                let origin = origin.as_ref();
                write_take(
                    &mut line,
                    &Taking { id: ID, me: text, space_version: 2, point: text, origin },
                    after,
                );
                let take = Record::Take {
                    id: ID,
                    me: text.into(),
                    space_version: 2,
                    point: text.into(),
                    origin: origin.map(|origin| (text.into(), origin.trial)),
                    after: after.iter().map(|(ledger, bytes)| ((*ledger).to_owned(), *bytes)).collect(),
                };
                assert_eq!(read(&sealed(line.clone()), &mut said), Some(take));
            }
            for (score, because) in [(None, None), (Some(0.25), Some(text))] {
                let end = Ending { state: State::Pruned, score, because, took_secs: score };
                line.clear();
                write_end(&mut line, ID, 0, &[1.0], &end);
                let because = because.map(str::to_owned);
                let record =
                    Record::End { id: ID, from: 0, state: State::Pruned, score, because, took_secs: score };
                assert_eq!(read(&sealed(line.clone()), &mut said), Some(record));
                assert_eq!(said, [1.0]);
            }
            line.clear();
            write_discard(&mut line, 7, Some(text));
            let record = Record::Discard { trial: 7, because: Some(text.to_owned()) };
            assert_eq!(read(&sealed(line), &mut said), Some(record));
        }
    }

    #[test]
    fn what_a_later_version_adds_is_passed_over() {
        let mut said = Vec::new();
        let line = br#"{"kind":"report","trial":7,"attempt":1,"from":0,"said":[1],"unit":"nats","sum":"0"}"#;
        assert_eq!(read(line, &mut said), Some(Record::Report { id: ID, from: 0 }));
        assert_eq!(said, [1.0]);
        assert_eq!(read(br#"{"kind":"novelty","sum":"0"}"#, &mut said), Some(Record::Other));
        assert_eq!(read(br#"{"kind":"report","sum":"0"}"#, &mut said), None);
        assert_eq!(read(b"nonsense", &mut said), None);
    }
}
