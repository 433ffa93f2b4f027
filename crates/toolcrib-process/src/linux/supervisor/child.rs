//! From the job to a running command.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{DumpableBehavior, Resource, Rlimit, Signal};

use super::fork;
use super::wire::Job;
use crate::Limits;
use crate::platform::sandbox::{Confinement, landlock, seccomp};

/// Starts the command of a job. An error says what could not be done, in words for the caller.
pub(super) fn start(job: &Job, stdio: [OwnedFd; 3]) -> Result<Child, String> {
    let program = find(job)?;
    let mut keep = Vec::new();
    let mut command = match &job.confinement {
        Confinement::Bubblewrap { bwrap, arguments, network, .. } => {
            let mut command = Command::new(bwrap);
            command.args(arguments);
            for filter in seccomp::filters(*network, true)? {
                let file =
                    in_memory(&seccomp::bytes(&filter)).map_err(|error| format!("seccomp: {error}"))?;
                command.arg("--add-seccomp-fd").arg(file.as_raw_fd().to_string());
                keep.push(file);
            }
            command.arg("--").arg(&program);
            command
        }
        _ => {
            let mut command = Command::new(&program);
            command.current_dir(&job.cwd);
            command
        }
    };
    let [stdin, stdout, stderr] = stdio;
    command
        .args(&job.args)
        .env_clear()
        .envs(job.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout))
        .stderr(Stdio::from(stderr));
    let restrict = Restrict::prepare(&job.confinement)?;
    let spawned = if job.terminal || matches!(restrict, Restrict::Landlock { .. }) {
        let mut setup = Setup {
            parent: rustix::process::getpid(),
            terminal: job.terminal,
            limits: job.limits,
            keep,
            restrict,
        };
        fork::before_exec(&mut command, move || setup.apply());
        command.spawn()
    } else {
        inherit(&mut command, &job.limits, &keep, &restrict)
    };
    let child = spawned.map_err(|error| format!("{}: {}", job.program, reason(&error)))?;
    // When memory runs out, the kernel shall take the command and neither us nor the program.
    let _ = std::fs::write(format!("/proc/{}/oom_score_adj", child.id()), "500");
    Ok(child)
}

/// Starts the command by `posix_spawn`, which costs least: what it must have it inherits from this process, which is
/// there for it alone. Should this process be killed, the one above takes over.
fn inherit(command: &mut Command, limits: &Limits, keep: &[File], restrict: &Restrict) -> io::Result<Child> {
    limit(limits);
    for file in keep {
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?;
    }
    if matches!(restrict, Restrict::Nothing) {
        rustix::thread::set_no_new_privs(true)?;
    }
    command.process_group(0).spawn()
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".into(),
        io::ErrorKind::PermissionDenied => "it may not be executed".into(),
        io::ErrorKind::ArgumentListTooLong => "the command is too long; put it into a script".into(),
        _ => error.to_string(),
    }
}

/// The program by the command's own `PATH`: nothing else would be found inside.
fn find(job: &Job) -> Result<PathBuf, String> {
    let missing = || Err(format!("{}: there is no such program", job.program));
    if !job.cwd.is_dir() {
        return Err(format!("{}: there is no such directory", job.cwd.display()));
    }
    let path = Path::new(&job.program);
    if job.program.contains('/') {
        let whole = job.cwd.join(path);
        return if whole.exists() { Ok(whole) } else { missing() };
    }
    let search = job.env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_str());
    let found = std::env::split_paths(search.unwrap_or("/usr/local/bin:/usr/bin:/bin"))
        .map(|folder| job.cwd.join(folder).join(path))
        .find(|path| rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file());
    found.map_or_else(missing, Ok)
}

/// A file that exists only as a descriptor, which survives `exec`.
fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(rustix::fs::memfd_create("seccomp", rustix::fs::MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// What is restricted in the command's own process. Bubblewrap does its part by itself.
enum Restrict {
    Nothing,
    Bubblewrap,
    Landlock { rules: landlock::Prepared, filters: Vec<seccompiler::BpfProgram>, mounts: landlock::Mounts },
}

impl Restrict {
    fn prepare(confinement: &Confinement) -> Result<Self, String> {
        match confinement {
            Confinement::None => Ok(Self::Nothing),
            Confinement::Bubblewrap { .. } => Ok(Self::Bubblewrap),
            Confinement::Landlock(rules) => Ok(Self::Landlock {
                rules: landlock::prepare(rules)?,
                filters: seccomp::filters(rules.network, false)?,
                mounts: landlock::Mounts::of(rules),
            }),
        }
    }
}

struct Setup {
    parent: rustix::process::Pid,
    terminal: bool,
    limits: Limits,
    keep: Vec<File>,
    restrict: Restrict,
}

impl Setup {
    /// In the order that works: the session, then limits, then privileges, and seccomp last.
    fn apply(&mut self) -> io::Result<()> {
        rustix::process::setsid()?;
        if self.terminal {
            rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
        }
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before it could matter.
        if rustix::process::getppid() != Some(self.parent) {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        // Until now a copy of the supervisor, which nobody may look into; name spaces are set up through /proc.
        rustix::process::set_dumpable_behavior(DumpableBehavior::Dumpable)?;
        limit(&self.limits);
        fork::close_on_exec_from(3)?;
        for file in &self.keep {
            rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?;
        }
        match &mut self.restrict {
            Restrict::Bubblewrap => Ok(()),
            Restrict::Nothing => Ok(rustix::thread::set_no_new_privs(true)?),
            Restrict::Landlock { rules, filters, mounts } => {
                landlock::mount(mounts)?;
                drop_capabilities()?;
                rustix::thread::set_no_new_privs(true)?;
                rules.restrict()?;
                for filter in filters {
                    seccompiler::apply_filter(filter).map_err(io::Error::other)?;
                }
                Ok(())
            }
        }
    }
}

/// Lowers the limits. What cannot be lowered is lower already.
fn limit(limits: &Limits) {
    let lower = |resource, to: Option<u64>| {
        let Some(to) = to else { return };
        let hard = rustix::process::getrlimit(resource).maximum;
        let to = hard.map_or(to, |hard| hard.min(to));
        let _ = rustix::process::setrlimit(resource, Rlimit { current: Some(to), maximum: Some(to) });
    };
    lower(Resource::Core, Some(0));
    lower(Resource::Fsize, limits.file_bytes);
    lower(Resource::Data, limits.memory_bytes);
    lower(Resource::Nofile, limits.open_files);
    lower(Resource::Nproc, limits.processes);
}

fn drop_capabilities() -> io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets};
    for bit in 0..64 {
        let Some(capability) = CapabilitySet::from_bits(1 << bit) else { continue };
        if rustix::thread::capability_is_in_bounding_set(capability).unwrap_or(false) {
            let _ = rustix::thread::remove_capability_from_bounding_set(capability);
        }
    }
    let none = CapabilitySet::empty();
    rustix::thread::set_capabilities(
        None,
        CapabilitySets { effective: none, permitted: none, inheritable: none },
    )?;
    Ok(())
}
