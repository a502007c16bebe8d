//! `soma export`: the trials of a study for other tools, every digit and every type kept.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use arrow_ipc::writer::FileWriter;
use arrow_schema::ArrowError;
use soma_study::{Scalar, Space, Trial, Trials};

use crate::args::{self, Format};
use crate::column::{Column, value};
use crate::escape;
use crate::failure::Failure;
use crate::number;
use crate::output::{Output, Words, document};
use crate::row::Row;
use crate::target;

pub fn run(arguments: &args::Export, output: &mut Output, words: &Words) -> Result<(), Failure> {
    let is_stdout = arguments.output.as_os_str() == "-";
    let format = match arguments.format {
        _ if arguments.json => Format::Jsonl,
        Some(format) => format,
        None => by_ending(&arguments.output)?,
    };
    if is_stdout && format == Format::Arrow && output.is_terminal() {
        return Err(Failure::hinted(
            "an Arrow file is no text, and stdout is a terminal",
            "give `--output FILE`, or send stdout to a file or a pipe",
        ));
    }
    let study = target::open(&arguments.target)?;
    let space = study.space_left()?;
    let trials = study.trials()?;
    if is_stdout && format == Format::Csv && output.is_terminal() {
        csv(&space, &trials, &mut escape::Shown(&mut *output))?;
    } else if is_stdout {
        write(format, &space, &trials, output)?;
    } else {
        let name = arguments.output.to_string_lossy().into_owned();
        into_file(&arguments.output, |file| write(format, &space, &trials, file)).map_err(|failure| {
            match failure {
                Failure::Output(error) => Failure::file("write", &name, &error),
                other => other,
            }
        })?;
    }
    study.say_damage(output, words)
}

/// The form that the name of a file asks for.
fn by_ending(output: &Path) -> Result<Format, Failure> {
    match output.extension().and_then(|ending| ending.to_str()) {
        None | Some("csv") => Ok(Format::Csv),
        Some("jsonl" | "ndjson") => Ok(Format::Jsonl),
        Some("arrow" | "ipc" | "feather") => Ok(Format::Arrow),
        Some("parquet") => Err(Failure::hinted(
            "Parquet is not written here, expected `csv`, `jsonl` or `arrow`",
            "export to Arrow; `polars.read_ipc(FILE).write_parquet(...)` makes Parquet of it",
        )),
        Some(other) => Err(Failure::hinted(
            format!(
                "`.{}` is the ending of no form, expected `.csv`, `.jsonl` or `.arrow`",
                escape::name(other)
            ),
            "say which with `--format`",
        )),
    }
}

fn write(format: Format, space: &Space, trials: &Trials, into: &mut dyn Write) -> Result<(), Failure> {
    match format {
        Format::Csv => Ok(csv(space, trials, into)?),
        Format::Jsonl => trials.iter().try_for_each(|trial| document(&mut *into, "export", &Row(trial))),
        Format::Arrow => arrow(trials, into),
    }
}

/// Comma-separated values with a header, quoted as RFC 4180 has it. Nothing is empty, and an empty text is `""`.
fn csv(space: &Space, trials: &Trials, into: &mut dyn Write) -> io::Result<()> {
    let columns = columns(space);
    let separator = |at: usize| if at == 0 { "" } else { "," };
    for (at, column) in columns.iter().enumerate() {
        into.write_all(separator(at).as_bytes())?;
        quoted(&column.name(space), into)?;
    }
    into.write_all(b"\n")?;
    for trial in trials {
        for (at, column) in columns.iter().enumerate() {
            into.write_all(separator(at).as_bytes())?;
            cell(*column, trial, into)?;
        }
        into.write_all(b"\n")?;
    }
    Ok(())
}

/// All of a trial, in the order of its row; the point is a column per dimension.
fn columns(space: &Space) -> Vec<Column> {
    let dimensions = (0..space.dimensions().len()).map(Column::Dimension);
    let before = [Column::Trial, Column::Attempt, Column::State];
    let after = [
        Column::Score,
        Column::Who,
        Column::Goal,
        Column::Because,
        Column::TookSecs,
        Column::Reports,
        Column::SpaceVersion,
        Column::IsDiscarded,
    ];
    before.into_iter().chain(dimensions).chain(after).collect()
}

fn cell(column: Column, trial: &Trial, into: &mut dyn Write) -> io::Result<()> {
    let float = |value: f64| number::exact(value);
    match column {
        Column::Trial => write!(into, "{}", trial.trial),
        Column::Attempt => write!(into, "{}", trial.attempt),
        Column::State => into.write_all(trial.state.as_str().as_bytes()),
        Column::Score => write!(into, "{}", trial.score.map(float).unwrap_or_default()),
        Column::Who => quoted(&trial.who, into),
        Column::Goal => write!(into, "{}", trial.goal.map_or("", soma_study::Goal::as_str)),
        Column::Because => trial.because.as_deref().map_or(Ok(()), |because| quoted(because, into)),
        Column::TookSecs => write!(into, "{}", trial.took_secs.map(float).unwrap_or_default()),
        Column::Reports => write!(into, "{}", trial.reports),
        Column::SpaceVersion => write!(into, "{}", trial.space_version),
        Column::IsDiscarded => write!(into, "{}", trial.is_discarded),
        Column::Point => trial.point.as_ref().map_or(Ok(()), |point| quoted(&point.to_string(), into)),
        Column::Dimension(at) => match value(trial, at) {
            None | Some(Scalar::Null) => Ok(()),
            Some(Scalar::Bool(value)) => write!(into, "{value}"),
            Some(Scalar::Int(value)) => write!(into, "{value}"),
            Some(Scalar::Float(value)) => into.write_all(float(*value).as_bytes()),
            Some(Scalar::Text(value)) => quoted(value, into),
        },
    }
}

fn quoted(text: &str, into: &mut dyn Write) -> io::Result<()> {
    let is_plain = !text.is_empty() && !text.contains(['"', ',', '\n', '\r']) && text.trim() == text;
    if is_plain { into.write_all(text.as_bytes()) } else { write!(into, "\"{}\"", text.replace('"', "\"\"")) }
}

/// An Arrow IPC file of one batch.
fn arrow(trials: &Trials, into: &mut dyn Write) -> Result<(), Failure> {
    let batch = trials.to_arrow();
    let written = FileWriter::try_new(into, &batch.schema())
        .and_then(|mut writer| writer.write(&batch).and_then(|()| writer.finish()));
    written.map_err(|error| match error {
        // A full disk stays a full disk, and a closed pipe one.
        ArrowError::IoError(_, source) => source.into(),
        other => Failure::Broken { text: format!("could not write Arrow: {other}"), hint: None },
    })
}

/// Fill a file: beside its place, and renamed when it is whole. A pipe or a device is written as it is.
fn into_file(place: &Path, write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>) -> Result<(), Failure> {
    // Through a link to the file itself, so that the link stays.
    let place = fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
    match fs::metadata(&place) {
        Ok(found) if found.is_dir() => return Err(io::Error::from(io::ErrorKind::IsADirectory).into()),
        Ok(found) if !found.is_file() => {
            let mut pipe = BufWriter::new(File::options().write(true).open(&place)?);
            write(&mut pipe)?;
            return Ok(pipe.flush()?);
        }
        _ => {}
    }
    let folder = place
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .map_or(PathBuf::from("."), Path::to_owned);
    let beside = new_file(&folder)?;
    let mut file = BufWriter::new(beside.as_file());
    write(&mut file)?;
    file.flush()?;
    drop(file);
    beside.persist(&place).map_err(|error| error.error)?;
    Ok(())
}

/// A file with a name of its own, which whoever may read other new files may read.
fn new_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    #[cfg(unix)]
    let permissions = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".soma-export-");
    #[cfg(unix)]
    builder.permissions(permissions);
    builder.tempfile_in(folder)
}
