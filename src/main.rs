//! The `seatrial` program.

/// Rehearsals make and drop millions of small values.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    seatrial::cli::run(std::env::args_os())
}
