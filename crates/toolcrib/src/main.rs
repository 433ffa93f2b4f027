//! The command `toolcrib`.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
