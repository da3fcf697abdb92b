//! The `seatrial` program.

fn main() -> std::process::ExitCode {
    seatrial::cli::run(std::env::args_os())
}
