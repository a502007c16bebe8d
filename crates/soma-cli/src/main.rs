//! The `soma` binary: everything it does is [`soma_cli::run`].

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(soma_cli::run(std::env::args_os()))
}
