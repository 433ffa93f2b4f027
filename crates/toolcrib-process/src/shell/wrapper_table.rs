//! Programs that run other programs, as data.

/// A program whose words end in another command.
pub(super) struct Wrapper {
    pub(super) names: &'static str,
    /// Options that take the next word.
    pub(super) takes: &'static [&'static str],
    /// How many operands come before the command.
    pub(super) operands: usize,
    /// Whether a safe command stays safe inside it.
    pub(super) keeps_safe: bool,
}

pub(super) const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: "command time",
        takes: &["-f", "-o", "--format", "--output"],
        operands: 0,
        keeps_safe: true,
    },
    Wrapper {
        names: "builtin nohup setsid fakeroot unbuffer caffeinate catchsegv torsocks proxychains \
            proxychains4 winpty dbus-run-session coproc noglob nocorrect \
            ccache sccache dotenv",
        takes: &["-a", "-s", "-n", "-f", "-e"],
        operands: 0,
        keeps_safe: false,
    },
    Wrapper { names: "exec", takes: &["-a"], operands: 0, keeps_safe: false },
    Wrapper { names: "nice", takes: &["-n", "--adjustment"], operands: 0, keeps_safe: true },
    Wrapper {
        names: "ionice",
        takes: &["-c", "-n", "-p", "--class", "--classdata"],
        operands: 0,
        keeps_safe: true,
    },
    Wrapper {
        names: "timeout gtimeout",
        takes: &["-s", "-k", "--signal", "--kill-after"],
        operands: 1,
        keeps_safe: true,
    },
    Wrapper {
        names: "stdbuf",
        takes: &["-i", "-o", "-e", "--input", "--output", "--error"],
        operands: 0,
        keeps_safe: true,
    },
    Wrapper { names: "chrt taskset", takes: &["-p", "-T", "-P", "-D"], operands: 1, keeps_safe: false },
    Wrapper {
        names: "strace ltrace perf valgrind heaptrack rr",
        takes: &["-o", "-e", "-p", "-s", "-E", "-u", "-P", "-O", "-I", "-a", "-X"],
        operands: 0,
        keeps_safe: false,
    },
    Wrapper { names: "busybox toybox", takes: &[], operands: 0, keeps_safe: false },
    Wrapper {
        names: "xvfb-run",
        takes: &["-n", "-s", "-f", "-e", "-w", "-p", "--server-num", "--server-args", "--error-file"],
        operands: 0,
        keeps_safe: false,
    },
    Wrapper { names: "rlwrap", takes: &["-b", "-C", "-f", "-H", "-s"], operands: 0, keeps_safe: false },
    Wrapper { names: "linux32 linux64", takes: &[], operands: 0, keeps_safe: false },
    Wrapper {
        names: "sem tsp ts daemonize",
        takes: &["-j", "-a", "-c", "-e", "-o", "-p", "-l", "-u", "-E", "-L", "-D", "-N", "--jobs", "--id"],
        operands: 0,
        keeps_safe: false,
    },
    Wrapper {
        names: "chroot",
        takes: &["-g", "-G", "-u", "-n", "--userspec", "--groups"],
        operands: 1,
        keeps_safe: false,
    },
    Wrapper {
        names: "unshare nsenter",
        takes: &[
            "-t",
            "-S",
            "-G",
            "-R",
            "-w",
            "--target",
            "--setuid",
            "--setgid",
            "--root",
            "--wd",
            "--map-user",
            "--map-group",
            "--map-users",
            "--map-groups",
            "--propagation",
        ],
        operands: 0,
        keeps_safe: false,
    },
    Wrapper {
        names: "systemd-run",
        takes: &[
            "-p",
            "-E",
            "-H",
            "-M",
            "-u",
            "--unit",
            "--property",
            "--setenv",
            "--uid",
            "--gid",
            "--slice",
        ],
        operands: 0,
        keeps_safe: false,
    },
    Wrapper {
        names: "firejail aa-exec",
        takes: &["-p", "--profile", "-n", "--namespace"],
        operands: 0,
        keeps_safe: false,
    },
    Wrapper {
        names: "proot",
        takes: &["-r", "-b", "-q", "-w", "-k", "-i", "-R", "-S", "--rootfs", "--bind", "--cwd", "--qemu"],
        operands: 0,
        keeps_safe: false,
    },
    Wrapper {
        names: "chpst softlimit prlimit numactl cpulimit eatmydata ts-node-dev systemd-inhibit choom \
            uclampset setpriv",
        takes: &[
            "-n",
            "-l",
            "-p",
            "-N",
            "-m",
            "-C",
            "-i",
            "--membind",
            "--cpunodebind",
            "--physcpubind",
            "--interleave",
            "--preferred",
            "--regid",
            "--groups",
            "--bounding-set",
            "--inh-caps",
            "--ambient-caps",
            "--what",
            "--who",
            "--why",
            "--mode",
        ],
        operands: 0,
        keeps_safe: false,
    },
];

/// Wrappers that are a matter of their own, whatever they run, with the reason.
pub(super) const ALARMING: &[(&str, &str)] = &[
    ("changes the machine", "chroot unshare nsenter runcon proot aa-exec setpriv"),
    ("starts something that outlives it", "systemd-run tsp ts daemonize sem start-stop-daemon at batch"),
    ("controls containers or machines, which are not confined", "bwrap firejail"),
];

/// Programs with words of their own before the command, whose place is not worth knowing: wherever a command could begin,
/// it is looked at, and only what is forbidden counts.
pub(super) const ANYWHERE: &str = "setarch perf runcon proot bwrap tmux screen gdb lldb start-stop-daemon dotenv faketime direnv cargo-watch \
    unshare nsenter systemd-run firejail daemonize tsp sem capsh setpriv entr watchexec nodemon aa-exec script \
    expect";

/// How many words of such a program are taken for the beginning of a command.
pub(super) const CANDIDATES: usize = 4;
/// With how many words that is done.
pub(super) const WORDS: usize = 200;

/// Pairs of words that run what follows them in a project's environment.
pub(super) const PROJECT: &[(&str, &str)] = &[
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("rye", "run"),
    ("hatch", "run"),
    ("conda", "run"),
    ("mamba", "run"),
    ("bundle", "exec"),
    ("npm", "exec x"),
    ("pnpm", "exec dlx"),
    ("yarn", "exec dlx"),
    ("direnv", "exec"),
    ("mise", "exec x"),
    ("asdf", "exec"),
    ("rustup", "run"),
    ("opam", "exec"),
    ("stack", "exec"),
    ("cabal", "exec"),
    ("dune", "exec"),
    ("mix", "cmd"),
    ("nix", "develop shell run"),
];

/// Single words that do the same.
pub(super) const PROJECT_ALONE: &str = "npx bunx uvx pipx entr nix-shell cargo-watch watchexec nodemon";
