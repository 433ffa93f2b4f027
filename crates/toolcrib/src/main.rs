//! The command `toolcrib`.

mod cli;

fn main() -> std::process::ExitCode {
    toolcrib_process::run_supervisor_if_asked();
    toolcrib_process::harden();
    cli::main()
}
