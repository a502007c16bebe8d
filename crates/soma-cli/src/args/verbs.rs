//! The arguments of each verb.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use soma_store::Options;
use soma_study::importance::Evaluator;

use super::values::{Attempt, Drawing, Format, Goal, State, evaluator, seconds};

/// A study in a store.
#[derive(Debug, Args)]
pub struct Target {
    /// The store: the folder its workers share
    #[arg(value_name = "STORE")]
    pub store: OsString,

    /// The study; may be left out where the store holds exactly one
    #[arg(value_name = "STUDY")]
    pub study: Option<String>,
}

/// The lease that the workers were given.
#[derive(Debug, Args)]
pub struct Lease {
    /// The lease that the workers were given, in seconds: who is silent for longer counts as gone. No store
    /// records it, so say it where theirs is another one
    #[arg(long, value_name = "SECS", value_parser = seconds, default_value_t = Options::DEFAULT_LEASE.as_secs_f64())]
    lease_secs: f64,
}

impl From<&Lease> for Duration {
    fn from(lease: &Lease) -> Self {
        Self::from_secs_f64(lease.lease_secs)
    }
}

/// Show the studies of a store: how far, how good, who is at work
///
/// With a STUDY, or where there is exactly one, everything about that study. A worker is alive while it
/// gives signs of life, and silent once it has given none for a lease.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  soma inspect runs\n  soma inspect runs widths --json | jq .studies[0].best.score"
)]
pub struct Inspect {
    #[command(flatten)]
    pub target: Target,

    #[command(flatten)]
    pub lease: Lease,

    /// One JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

/// List the trials of a study, every attempt in a row
///
/// Floats are shown in six digits; `soma export` and `--json` print all of them.
#[derive(Debug, Args)]
#[command(
    after_help = "Columns:\n  trial attempt state score point reports took_secs who goal space_version is_discarded because,\n  and every dimension by its name, or `point.NAME` where a column is called like it\n\nExamples:\n  soma trials runs --sort score --limit 10\n  soma trials runs widths --state done,pruned --columns trial,score,lr"
)]
pub struct Trials {
    #[command(flatten)]
    pub target: Target,

    /// Only these states
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STATE")]
    pub state: Vec<State>,

    /// Order by this column, low to high; rows without a value come last
    #[arg(long, value_name = "COLUMN", default_value = "trial")]
    pub sort: String,

    /// Turn the order round; rows without a value still come last
    #[arg(long)]
    pub reverse: bool,

    /// At most this many rows, after ordering
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,

    /// These columns, in this order
    #[arg(long, value_delimiter = ',', value_name = "COLUMN")]
    pub columns: Vec<String>,

    /// One JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Show the best finished trial of a study
///
/// Its score and its point, with every digit. Only trials that ran to their end are ranked: a pruned trial's score was measured after fewer reports.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  soma best runs widths\n  soma best runs --json | jq .best.point")]
pub struct Best {
    #[command(flatten)]
    pub target: Target,

    /// Which end of the score is good, for a study that does not say
    #[arg(long, value_enum, value_name = "GOAL")]
    pub goal: Option<Goal>,

    /// One JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// Show how much each dimension mattered for the score
///
/// The space is read from the store. Only finished trials count.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  soma importance runs widths\n  soma importance runs --evaluator ped_anova"
)]
pub struct Importance {
    #[command(flatten)]
    pub target: Target,

    /// How it is worked out: `spearman` looks at how well the score follows a dimension in rank, `ped_anova` at
    /// what sets the best trials apart
    #[arg(long, value_name = "EVALUATOR", default_value = Evaluator::default().as_str(), value_parser = evaluator())]
    pub evaluator: Evaluator,

    /// Which end of the score is good, for a study that does not say
    #[arg(long, value_enum, value_name = "GOAL")]
    pub goal: Option<Goal>,

    /// One JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Plot the curve of a trial: every value it reported
#[derive(Debug, Args)]
#[command(
    allow_missing_positional = true,
    after_help = "Examples:\n  soma curve runs widths 17\n  soma curve runs 17.1 --json | jq .values"
)]
pub struct Curve {
    #[command(flatten)]
    pub target: Target,

    /// The trial: `17` (its result, else its last attempt) or `17.1` (that attempt)
    #[arg(value_name = "TRIAL")]
    pub trial: Attempt,

    /// The values, one JSON document, instead of a plot
    #[arg(long)]
    pub json: bool,
}

/// Follow a study while its workers run
///
/// On a terminal one picture, drawn anew in place; in a pipe one line per change, and with `--json` one
/// JSON object per line. A study that has not begun is waited for. Ends with Ctrl-C, or when whoever reads it goes
/// away.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  soma watch runs widths\n  soma watch runs | grep --line-buffered failed"
)]
pub struct Watch {
    #[command(flatten)]
    pub target: Target,

    /// Seconds between two looks
    #[arg(long, value_name = "SECS", default_value = "1", value_parser = seconds)]
    pub interval_secs: f64,

    /// End after this many seconds; without it, never
    #[arg(long, value_name = "SECS", value_parser = seconds)]
    pub timeout_secs: Option<f64>,

    #[command(flatten)]
    pub lease: Lease,

    /// One JSON object per change, a line each
    #[arg(long)]
    pub json: bool,
}

/// List the trials whose worker has gone silent
///
/// Claimed, not ended, and no sign of life for a lease: the next attempt at them is free to be taken.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  soma abandoned runs widths\n  soma abandoned runs --lease-secs 30")]
pub struct Abandoned {
    #[command(flatten)]
    pub target: Target,

    #[command(flatten)]
    pub lease: Lease,

    /// One JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Show the space a study searches
///
/// As its takers wrote it down, in the newest version.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  soma space runs widths\n  soma space runs --json | jq -r .text")]
pub struct Space {
    #[command(flatten)]
    pub target: Target,

    /// One JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Write the trials of a study for other tools
///
/// Every attempt is a row and every digit is kept. In csv the point is a column per dimension, in Arrow a
/// struct. Parquet is one line from there,
/// as in `polars.read_ipc("widths.arrow").write_parquet("widths.parquet")`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  soma export runs widths > widths.csv\n  soma export runs --format arrow --output widths.arrow"
)]
pub struct Export {
    #[command(flatten)]
    pub target: Target,

    /// The form; the default follows the ending of `--output`, else csv
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    pub format: Option<Format>,

    /// Where to: a file, written whole or not at all, or `-` for stdout
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,

    /// The same as `--format jsonl`
    #[arg(long)]
    pub json: bool,
}

/// Read every byte of a store and say what is damaged
///
/// Also says where a recorded point is another one than the sampler it names gives for its trial. Exit code 1 where
/// there is any of it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  soma verify runs")]
pub struct Verify {
    /// The store: the folder its workers share
    #[arg(value_name = "STORE")]
    pub store: OsString,

    /// One JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// Gather the files of many short workers in one, so that the study opens faster
///
/// Worth it where hundreds of processes worked on a study (a job array), above all on a file server. Workers may
/// go on meanwhile; what is gathered stays where it was, so losing the seal loses nothing.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  soma seal runs\n  soma seal runs widths")]
pub struct Seal {
    #[command(flatten)]
    pub target: Target,

    /// One JSON document instead of a line
    #[arg(long)]
    pub json: bool,
}

/// Draw a graph from its manifest, as Mermaid or as text
///
/// A manifest is what `Graph.manifest()` answers in Python.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  soma graph network.json\n  soma graph - --format text < network.json")]
pub struct Graph {
    /// The manifest, a JSON file, or `-` for stdin
    #[arg(value_name = "MANIFEST")]
    pub manifest: PathBuf,

    /// The form
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Drawing::Mermaid)]
    pub format: Drawing,

    /// One JSON document: nodes, edges, order
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// Print the completions for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  soma completions bash > ~/.local/share/bash-completion/completions/soma\n  soma completions zsh > ~/.zfunc/_soma\n  soma completions fish > ~/.config/fish/completions/soma.fish"
)]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,

    /// The script as text in one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Print the manual page
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  soma man | man -l -\n  soma man trials | man -l -")]
pub struct Man {
    /// The verb whose page is meant; without it, that of soma
    #[arg(value_name = "VERB")]
    pub verb: Option<String>,

    /// The page as text in one JSON document
    #[arg(long)]
    pub json: bool,
}
