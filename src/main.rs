//! Entry point; calls [`dramaturg::cli::main`].

fn main() -> std::process::ExitCode {
    dramaturg::cli::main()
}
