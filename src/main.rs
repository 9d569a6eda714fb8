//! Calls [`dramaturg::cli::main`], nothing else.

fn main() -> std::process::ExitCode {
    dramaturg::cli::main()
}
