//! What the kernel keeps from a command (K01 to K14), by system calls and from several languages.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use toolcrib::PolicyMode;
use toolcrib_process::{Commands, Level, Program, Request};

use crate::lab::{Lab, TOOLCRIB, folder, has, levels, python};

/// Says of each thing that is tried either `reached` or the name of the error.
const PRELUDE: &str = "
import ctypes, errno, fcntl, os, resource, socket, stat, sys
libc = ctypes.CDLL(None, use_errno=True)
def checked(r):
    if r < 0: raise OSError(ctypes.get_errno(), '')
    return r
def call(n, *a): return checked(libc.syscall(ctypes.c_long(n), *[ctypes.c_long(x) for x in a]))
def send(kind, to):
    a, b = socket.socketpair(socket.AF_UNIX, kind)
    a.connect(to); a.send(b'x')
def udp(to):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', to))
def tcp(host, port):
    s = socket.socket(socket.AF_INET6 if ':' in host else socket.AF_INET); s.settimeout(3); s.connect((host, port))
def say(f):
    try: f(); print('reached')
    except socket.gaierror: print('GAI')
    except OSError as e: print(errno.errorcode.get(e.errno, e))
";

/// A process of ours that is none of the command's business.
struct Victim(Child);

impl Victim {
    fn new() -> Self {
        Self(Command::new("sleep").arg("100").env("SECRET_TOKEN", crate::world::SECRET).spawn().unwrap())
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Id, what is tried in Python, and what may come of it at `full` and at `landlock`; `-` if that level says in its
/// description that it does not keep it.
type Row = (&'static str, &'static str, &'static str, &'static str);

fn try_all(rows: &[Row], fill: &[(&str, &str)]) {
    let Some(python) = python() else { return };
    for level in levels() {
        let lab = Lab::at(*level);
        // All of them in one process: each is one line of it.
        let mut code = PRELUDE.to_owned();
        for (_, attempt, _, _) in rows {
            let mut attempt = (*attempt).to_owned();
            for (name, value) in fill {
                attempt = attempt.replace(name, value);
            }
            code.push_str(&format!("say(lambda: {attempt})\n"));
        }
        std::fs::write(lab.root().join("tries.py"), code).unwrap();
        let ran = lab.run(rows[0].0, &format!("{} tries.py", python.trim_end_matches('c')));
        let said: Vec<&str> = ran.stdout.lines().collect();
        assert_eq!(said.len(), rows.len(), "{level}: {ran:?}");
        let mut wrong = Vec::new();
        for ((id, attempt, full, landlock), said) in rows.iter().zip(said) {
            let may = if *level == Level::Full { full } else { landlock };
            if *may == "-" {
                eprintln!("{id}: `{level}` does not keep `{attempt}`: {said}");
            } else if !may.split('|').any(|may| may == said) {
                wrong.push(format!("{id} {level}: {attempt}: {said}, not {may}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
#[rustfmt::skip]
fn k01_k02_nothing_outside_is_written() {
    try_all(&[
        ("K01", "open('mine', 'w').write('x')", "reached", "reached"),
        ("K01", "open('../out/canary', 'w')", "EROFS", "EACCES"),
        ("K01", "open('../out/canary', 'a')", "EROFS", "EACCES"),
        ("K01", "open('../out/new', 'x')", "EROFS", "EACCES"),
        ("K01", "os.open('../out', os.O_TMPFILE | os.O_WRONLY)", "EROFS", "EACCES"),
        ("K01", "os.truncate('../out/canary', 0)", "EROFS", "EACCES"),
        ("K01", "os.rename('../out/canary', 'stolen')", "EROFS|EXDEV", "EACCES|EXDEV"),
        ("K01", "os.rename('x', '../out/x')", "EROFS|EXDEV", "EACCES|EXDEV"),
        ("K01", "os.link('../out/canary', 'hard')", "EXDEV|EROFS", "EXDEV|EACCES"),
        ("K01", "os.symlink('/etc', '../out/link')", "EROFS", "EACCES"),
        ("K01", "os.mkdir('../out/dir')", "EROFS", "EACCES"),
        ("K01", "os.mkfifo('../out/fifo')", "EROFS", "EACCES"),
        ("K01", "os.unlink('../out/canary')", "EROFS", "EACCES"),
        ("K01", "os.rmdir('../out/sub')", "EROFS", "EACCES"),
        ("K01", "os.rename('../ws_evil', '../ws_other')", "EROFS", "EACCES"),
        ("K01", "(os.symlink('../out/canary', 'l'), open('l', 'w'))", "EROFS", "EACCES"),
        ("K01", "open('/proc/self/cwd/../out/canary', 'w')", "EROFS", "EACCES"),
        ("K01", "call(425, 8, ctypes.addressof(ctypes.create_string_buffer(256)))", "ENOSYS", "ENOSYS"),
        ("K01", "call(426, 0, 1, 1, 0, 0, 0)", "ENOSYS", "ENOSYS"),
        ("K01", "call(427, 0, 0, 0, 0)", "ENOSYS", "ENOSYS"),
        ("K02", "os.chmod('../out/canary', 0o777)", "EROFS", "-"),
        ("K02", "os.utime('../out/canary', (0, 0))", "EROFS", "-"),
        ("K02", "os.chown('../out/canary', os.getuid(), os.getgid())", "EROFS", "-"),
        ("K02", "os.setxattr('../out/canary', 'user.x', b'1')", "EROFS", "-"),
    ], &[]);
}

#[test]
fn k01_compiled_code_is_kept_in_as_well() {
    if !has("gcc") {
        return;
    }
    let source = "#include <fcntl.h>\n#include <stdio.h>\n#include <errno.h>\n#include <sys/stat.h>\n#include <unistd.h>\n\
        int main(void) { const char *p[] = {\"../out/canary\", \"../out/new\", \"/etc/new.lab\"};\n\
        for (int i = 0; i < 3; i++) { int f = open(p[i], O_WRONLY|O_CREAT|O_TRUNC, 0644);\n\
        if (f >= 0) { write(f, \"x\", 1); puts(\"reached\"); } else printf(\"%d\\n\", errno); }\n\
        int f = creat(\"mine\", 0644); puts(f >= 0 ? \"reached\" : \"refused\"); return 0; }";
    for level in levels() {
        let lab = Lab::at(*level);
        std::fs::write(lab.root().join("t.c"), source).unwrap();
        let ran = lab.run("K01", "gcc -o t t.c 2>/dev/null && ./t");
        let refused = if *level == Level::Full { "30\n30\n30\nreached\n" } else { "13\n13\n13\nreached\n" };
        assert_eq!(ran.stdout, refused, "{level}: {ran:?}");
    }
}

#[test]
#[rustfmt::skip]
fn k04_sockets_lead_nowhere() {
    let place = folder();
    let path = place.path().join("socket");
    let service = UnixDatagram::bind(&path).unwrap();
    service.set_nonblocking(true).unwrap();
    try_all(&[
        ("K04", "socket.socket(socket.AF_UNIX)", "EPERM", "EPERM"),
        ("K04", "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)", "EPERM", "EPERM"),
        ("K04", "socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)", "EPERM", "EPERM"),
        ("K04", "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)", "EPERM", "EPERM"),
        ("K04", "socket.socket(socket.AF_VSOCK)", "EPERM", "EPERM"),
        ("K04", "socket.socket(38, socket.SOCK_SEQPACKET)", "EPERM", "EPERM"),
        ("K04", "socket.socket(31, socket.SOCK_RAW)", "EPERM", "EPERM"),
        ("K04", "socket.socket(15, socket.SOCK_RAW, 2)", "EPERM", "EPERM"),
        ("K04", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", "EPERM", "EPERM"),
        ("K04", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9)", "EPERM", "EPERM"),
        ("K04", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)", "reached", "reached"),
        // A pair needs no socket(), and one of datagrams can be connected to something else afterwards.
        ("K04", "send(socket.SOCK_DGRAM, 'SOCKET')", "EPERM", "EPERM"),
        ("K04", "send(socket.SOCK_RAW, 'SOCKET')", "EPERM", "EPERM"),
        ("K04", "send(socket.SOCK_DGRAM | socket.SOCK_CLOEXEC, 'SOCKET')", "EPERM", "EPERM"),
        ("K04", "send(socket.SOCK_STREAM, 'SOCKET')", "EISCONN|EPROTOTYPE", "EISCONN|EPROTOTYPE"),
        ("K04", "send(socket.SOCK_SEQPACKET, 'SOCKET')", "EISCONN|EPROTOTYPE", "EISCONN|EPROTOTYPE"),
        ("K04", "socket.socketpair()", "reached", "reached"),
    ], &[("SOCKET", path.to_str().unwrap())]);
    let heard = service.recv(&mut [0; 8]).unwrap_err();
    assert_eq!(heard.kind(), ErrorKind::WouldBlock, "the service was spoken to");
}

#[test]
#[rustfmt::skip]
fn k05_no_network_not_even_this_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    let tcp = listener.local_addr().unwrap().port().to_string();
    let udp = datagrams.local_addr().unwrap().port().to_string();
    try_all(&[
        ("K05", "tcp('127.0.0.1', TCP)", "ECONNREFUSED", "EPERM|EACCES"),
        ("K05", "tcp('1.1.1.1', 443)", "ENETUNREACH", "EPERM|EACCES"),
        ("K05", "tcp('2606:4700:4700::1111', 443)", "ENETUNREACH|EADDRNOTAVAIL|EAFNOSUPPORT", "EPERM|EACCES"),
        // It has a loopback of its own, on which nobody listens.
        ("K05", "udp(UDP)", "reached|ECONNREFUSED", "EPERM"),
        ("K05", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('1.1.1.1', 53))", "ENETUNREACH", "EPERM"),
        ("K05", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1).sendto(b'x', ('1.1.1.1', 0))", "ENETUNREACH|EPERM|EACCES", "EPERM"),
        ("K05", "socket.getaddrinfo('example.com', 443)", "GAI", "GAI|EPERM"),
    ], &[("TCP", &tcp), ("UDP", &udp)]);
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "TCP got out");
    assert_eq!(datagrams.recv(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock, "UDP got out");
    // With the network it does get there, or the cases above would show nothing.
    for level in levels() {
        let lab = Lab::at(*level);
        let line = format!("echo x > /dev/udp/127.0.0.1/{udp}");
        let outcome = lab.call("run_command", json!({"command": line, "network": true}));
        assert_eq!(outcome.data["exit_code"], 0, "{level}: {}", outcome.output);
        assert_eq!(datagrams.recv(&mut [0; 8]).unwrap(), 2, "{level}");
    }
}

#[test]
#[rustfmt::skip]
fn k07_other_processes_cannot_be_touched() {
    let mut victim = Victim::new();
    try_all(&[
        ("K07", "checked(libc.ptrace(16, PID, 0, 0))", "EPERM", "EPERM"),
        ("K07", "checked(libc.ptrace(16, os.getppid(), 0, 0))", "EPERM", "EPERM"),
        ("K07", "checked(libc.process_vm_readv(PID, 0, 0, 0, 0, 0))", "EPERM", "EPERM"),
        ("K07", "checked(libc.process_vm_writev(PID, 0, 0, 0, 0, 0))", "EPERM", "EPERM"),
        ("K07", "open('/proc/PID/mem', 'rb')", "ENOENT", "EACCES|EPERM"),
        ("K07", "open('/proc/PID/environ', 'rb').read()", "ENOENT", "EACCES|EPERM"),
        ("K07", "open('/proc/PID/maps', 'rb').read()", "ENOENT", "EACCES|EPERM"),
        ("K07", "os.readlink('/proc/PID/fd/0')", "ENOENT", "EACCES|EPERM"),
        ("K07", "os.listdir('/proc/PID/root/')", "ENOENT", "EACCES|EPERM"),
        ("K07", "os.kill(PID, 9)", "ESRCH", "EPERM"),
        ("K07", "os.kill(PID, 0)", "ESRCH", "EPERM"),
        ("K07", "os.killpg(os.getpgid(PID), 15)", "ESRCH", "EPERM"),
        ("K07", "resource.prlimit(PID, resource.RLIMIT_CPU, (1, 1))", "EPERM", "EPERM"),
        ("K07", "resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))", "reached", "reached"),
        ("K07", "call(438, os.pidfd_open(os.getpid()), 0, 0)", "EPERM", "EPERM"),
        ("K07", "open('/proc/%d/environ' % os.getppid(), 'rb').read()", "reached", "reached|EACCES|EPERM"),
        ("K07", "open('/proc/%d/mem' % os.getppid(), 'wb')", "EROFS|EACCES", "EACCES|EPERM"),
        ("K07", "open('/proc/1/mem', 'rb')", "reached|EACCES|EPERM", "EACCES|EPERM"),
    ], &[("PID", &victim.pid())]);
    assert!(victim.0.try_wait().unwrap().is_none(), "the victim is dead");
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", victim.pid())).unwrap();
    assert!(limits.lines().any(|line| line.starts_with("Max cpu time") && line.contains("unlimited")), "{limits}");
}

#[test]
#[rustfmt::skip]
fn k10_there_are_no_powers_to_use() {
    try_all(&[
        ("K10", "os.mknod('b', stat.S_IFBLK | 0o666, os.makedev(7, 0))", "EPERM", "EPERM|EACCES"),
        ("K10", "os.mknod('c', stat.S_IFCHR | 0o666, os.makedev(1, 1))", "EPERM", "EPERM|EACCES"),
        ("K10", "checked(libc.mount(b'none', b'.', b'tmpfs', 0, 0))", "EPERM", "EPERM"),
        ("K10", "checked(libc.mount(b'..', b'.', 0, 4096, 0))", "EPERM", "EPERM"),
        ("K10", "checked(libc.umount2(b'.', 2))", "EPERM", "EPERM"),
        ("K10", "checked(libc.unshare(0x10000000))", "EPERM", "EPERM"),
        ("K10", "checked(libc.unshare(0x20000))", "EPERM", "EPERM"),
        ("K10", "checked(libc.setns(0, 0))", "EPERM", "EPERM"),
        ("K10", "os.chroot('.')", "EPERM", "EPERM"),
        ("K10", "call(428, -100, 0, 0)", "EPERM", "EPERM"),
        ("K10", "call(429, 0, 0, 0, 0, 0)", "EPERM", "EPERM"),
        ("K10", "call(435, 0, 0)", "ENOSYS", "ENOSYS"),
        ("K10", "os.setuid(12345)", "EPERM", "EPERM"),
        ("K10", "os.setgroups([12345])", "EPERM", "EPERM"),
        ("K10", "socket.sethostname('x')", "EPERM", "EPERM"),
        ("K10", "open('/proc/sys/kernel/core_pattern', 'a')", "EROFS|EACCES", "EACCES"),
        ("K10", "open('/proc/sys/kernel/modprobe', 'a')", "EROFS|EACCES|ENOENT", "EACCES|ENOENT"),
        ("K10", "open('/proc/sysrq-trigger', 'a')", "EROFS|EACCES|ENOENT", "EACCES|ENOENT"),
        ("K10", "open('/sys/kernel/uevent_helper', 'a')", "EROFS|EACCES|ENOENT", "EACCES|ENOENT"),
        ("K10", "open('/sys/fs/cgroup/cgroup.procs', 'a')", "EROFS|EACCES|ENOENT", "EACCES|ENOENT"),
        ("K10", "open('/dev/mem', 'rb')", "ENOENT", "EACCES|ENOENT"),
        ("K10", "open('DISK', 'rb')", "ENOENT", "EACCES|ENOENT"),
        ("K10", "open(os.path.expanduser('~/.aws/new'), 'w')", "EROFS", "EACCES"),
        ("K11", "open('/dev/tty')", "ENXIO", "ENXIO"),
        ("K11", "fcntl.ioctl(0, 0x5412, b'x')", "EPERM", "EPERM"),
    ], &[("DISK", &disk())]);
    for level in levels() {
        let lab = Lab::at(*level);
        let status = lab.run("K10", "cat /proc/self/status").stdout;
        for (field, value) in [("CapEff", "0000000000000000"), ("CapPrm", "0000000000000000"), ("NoNewPrivs", "1"), ("Seccomp", "2")] {
            let line = status.lines().find(|line| line.starts_with(&format!("{field}:"))).unwrap_or_default();
            assert!(line.ends_with(value), "{level}: {line}");
        }
    }
}

/// A disk of this machine.
fn disk() -> String {
    let names = std::fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let mut names: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_by_key(|name| name.starts_with("loop") || name.starts_with("ram"));
    format!("/dev/{}", names.first().map_or("sda", String::as_str))
}

#[test]
fn k11_nobody_elses_terminal() {
    let Some(_) = python() else { return };
    let code = "import os,time\nm,s=os.openpty(); print(os.ttyname(s),flush=True); time.sleep(60)";
    let mut owner = Command::new("python3")
        .args(["-ISc", code])
        .stdout(Stdio::piped())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(owner.stdout.take().unwrap()), &mut line)
        .unwrap();
    let name = line.trim();
    assert!(std::path::Path::new(name).exists(), "{name}");
    let rows: &[Row] = &[
        ("K11", "open('TTY', 'w')", "ENOENT|EACCES", "EACCES"),
        ("K11", "open('TTY', 'r')", "ENOENT", "EACCES"),
        ("K11", "os.openpty()", "reached", "-"),
    ];
    try_all(rows, &[("TTY", name)]);
    let _ = owner.kill();
    let _ = owner.wait();
    // Its own, if it has one, is no way to type for others.
    for level in levels() {
        let lab = Lab::at(*level);
        let line = format!(
            "{} 'import fcntl; fcntl.ioctl(0, 0x5412, b\"x\")'; echo on > /dev/tty",
            python().unwrap()
        );
        let outcome = lab.call("run_command", json!({"command": line, "pty": true}));
        let said = outcome.data["stdout"].as_str().unwrap();
        assert!(said.contains("PermissionError") && said.contains("on"), "{level}: {said}");
    }
}

#[test]
fn k13_a_bubblewrap_that_a_command_could_have_written_is_not_used() {
    for level in levels().iter().filter(|level| **level == Level::Full) {
        let lab = Lab::at(*level);
        let more = folder();
        let config = lab.top().join("home/.config");
        std::fs::create_dir(config.join("toolcrib")).unwrap();
        let settings = format!("[sandbox]\nwritable = [{:?}]\n", more.path());
        std::fs::write(config.join("toolcrib/toolcrib.toml"), settings).unwrap();
        for place in [lab.root(), more.path().to_owned()] {
            let fake = place.join("bwrap");
            std::fs::write(&fake, format!("#!/bin/sh\ntouch {:?}/used\n", more.path())).unwrap();
            std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
            let path = format!("{}:{}", place.display(), std::env::var("PATH").unwrap());
            let mut call = Command::new(TOOLCRIB);
            call.arg("--root").arg(lab.root()).args(["--sandbox", "full", "--json", "call", "run_command"]);
            call.arg(json!({"command": "echo ran; echo x > ../out/canary"}).to_string());
            call.env("PATH", path)
                .env("XDG_CONFIG_HOME", &config)
                .env("XDG_STATE_HOME", lab.top().join("state"));
            let output = call.env("XDG_CACHE_HOME", more.path().join("cache")).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("ran\\n") && said.contains("\"sandbox\":\"full\""), "{place:?}: {said}");
            assert!(!more.path().join("used").exists(), "{place:?}: the planted one ran");
            assert_eq!(std::fs::read(lab.top().join("out/canary")).unwrap(), b"untouched\n");
        }
    }
}

#[test]
fn k14_without_a_sandbox_the_reason_is_given_and_nothing_runs() {
    let place = folder();
    let at = |search: std::path::PathBuf, level, require| {
        let lab = Lab::with(Level::Policy, PolicyMode::Full, |_| {});
        let mut settings = lab.crib.commands().settings().clone();
        settings.bounds.search = vec![search];
        settings.level = level;
        settings.require_sandbox = require;
        settings.remembered = None;
        let engine = Commands::new(settings);
        let request = Request::new(Program::Shell("touch ran".into()), lab.root());
        let error = lab.runtime.block_on(engine.start(request)).err().map(|error| error.to_string());
        (error, lab.root().join("ran").exists())
    };
    let wanted = Some(Level::Full);
    let (error, ran) = at(place.path().join("nowhere"), wanted, false);
    assert!(error.as_ref().is_some_and(|why| why.contains("not installed")) && !ran, "{error:?}");
    for (mode, why) in [(0o4755, "setuid"), (0o757, "others can change it")] {
        let fake = place.path().join("bwrap");
        std::fs::write(&fake, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
        let (error, ran) = at(place.path().into(), wanted, false);
        assert!(error.as_ref().is_some_and(|error| error.contains(why)) && !ran, "{why}: {error:?}");
    }
    // One that lets everything through is found out.
    let fake = place.path().join("bwrap");
    std::fs::write(&fake, "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n").unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (error, ran) = at(place.path().into(), wanted, false);
    assert!(error.is_some() && !ran, "a sandbox that does nothing was believed");
    if !levels().contains(&Level::Landlock) {
        let (error, ran) = at(place.path().join("nowhere"), None, true);
        assert!(error.is_some() && !ran, "{error:?}");
    }
}

#[test]
fn k14_where_user_namespaces_are_forbidden() {
    if !levels().contains(&Level::Full) || !has("bwrap") {
        return;
    }
    let lab = Lab::at(Level::Full);
    let mut call = Command::new("bwrap");
    call.args(["--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-user", "--disable-userns"]);
    call.args(["--cap-drop", "ALL", "--die-with-parent", "--", TOOLCRIB, "--root"]).arg(lab.root());
    call.args(["--sandbox", "full", "call", "run_command", r#"{"command": "ls; touch ran"}"#]);
    let output = call.env("XDG_STATE_HOME", lab.top().join("state")).env("HOME", lab.top()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    if said.contains("--disable-userns") {
        eprintln!("skipped: this bwrap cannot forbid user namespaces");
        return;
    }
    assert!(!output.status.success() && !lab.root().join("ran").exists(), "{said}");
}
