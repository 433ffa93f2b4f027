//! What the kernel keeps a command from.

use toolcrib_process::Request;

use crate::bench::{World, confined};

#[tokio::test]
async fn nothing_outside_can_be_written() {
    for &level in confined() {
        let world = World::at(level);
        let out = world.top.path().join("out");
        for line in [
            "echo x > ../out/canary",
            "echo x >> ../out/new",
            "ln -s ../out/canary link; echo x > link",
            "rm -rf ../out/canary ../out",
            "mv ../out/canary .",
            "ln ../out/canary hard && echo x > hard",
            "truncate -s 0 ../out/canary",
            "mkdir ../out/d",
            "python3 -c \"open('../out/canary','w')\"",
            "touch /etc/toolcrib-test /usr/bin/toolcrib-test ~/toolcrib-test",
        ] {
            let (_, stdout, stderr) = world.run(line).await;
            assert!(!stderr.is_empty() || line.contains("rm -rf"), "{level}: {line}: {stdout}{stderr}");
            world.canary_is_untouched();
        }
        assert!(out.exists());
        let (code, stdout, stderr) =
            world.run("echo in > file && cat file && echo t > $TMPDIR/t && cat $TMPDIR/t").await;
        assert_eq!((code, stdout.as_str()), (0, "in\nt\n"), "{level}: {stderr}");
    }
}

#[tokio::test]
async fn what_git_and_toolcrib_obey_stays_as_it_is() {
    for &level in confined() {
        let world = World::at(level);
        for line in [
            "echo x > .git/hooks/pre-commit",
            "echo x >> .git/config",
            "echo x > .git/config.worktree",
            "mkdir .toolcrib && echo x > .toolcrib/toolcrib.toml",
            "echo x > .toolcrib/toolcrib.toml",
            "mv .git .git2 && mkdir .git && echo x > .git/config",
            "rm -rf .git",
            "mv .git/hooks .git/h && mkdir .git/hooks && echo x > .git/hooks/pre-commit",
            "ln -sf /etc/passwd .git/config",
        ] {
            let (code, stdout, stderr) = world.run(line).await;
            assert!(code != 0, "{level}: {line}: {stdout}{stderr}");
            assert_eq!(
                std::fs::read_to_string(world.root().join(".git/config")).unwrap(),
                "[core]\n",
                "{level}: {line}"
            );
            assert_eq!(
                std::fs::read_dir(world.root().join(".git/hooks")).unwrap().count(),
                0,
                "{level}: {line}"
            );
            for missing in [".toolcrib", ".git/config.worktree"] {
                assert!(!world.root().join(missing).exists(), "{level}: {line}: {missing}");
            }
        }
        // Where git would stumble over a placeholder, what was made is taken away again.
        world.run("echo ../evil > .git/commondir; ln -s ../evil .git/x").await;
        assert!(!world.root().join(".git/commondir").exists(), "{level}");
        let (code, _, stderr) = world.run("echo x > .git/HEAD && mkdir -p .git/objects").await;
        assert_eq!((code, stderr.as_str()), (0, ""), "{level}");
    }
}

#[tokio::test]
async fn no_network_unless_allowed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || while listener.accept().is_ok() {});
    let line = format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached");
    for &level in confined() {
        let world = World::at(level);
        let (code, stdout, _) = world.run(&line).await;
        assert!(code != 0 && stdout.is_empty(), "{level}");
        let (code, stdout, stderr) = world.finish(Request { network: true, ..world.request(&line) }).await;
        assert_eq!((code, stdout.as_str()), (0, "reached\n"), "{level}: {stderr}");
    }
}

#[tokio::test]
async fn the_process_has_no_powers() {
    for &level in confined() {
        let world = World::at(level);
        let (_, status, _) = world.run("cat /proc/self/status").await;
        let field = |name: &str| {
            status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("").trim().to_owned()
        };
        assert_eq!(field("CapEff:"), "0000000000000000", "{level}");
        assert_eq!(field("CapPrm:"), "0000000000000000", "{level}");
        assert_eq!(field("NoNewPrivs:"), "1", "{level}");
        assert_eq!(field("Seccomp:"), "2", "{level}");
        let (_, limits, _) = world.run("ulimit -c; ulimit -f; ls /proc/self/fd | wc -l").await;
        let mut lines = limits.lines();
        assert_eq!(lines.next(), Some("0"));
        assert_ne!(lines.next(), Some("unlimited"));
        // This very process has a variable that commands do not get.
        let (_, stdout, _) =
            world.run("cat /proc/*/environ /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n'").await;
        assert!(stdout.contains("PATH=") && !stdout.contains("CARGO_MANIFEST_DIR"), "{level}: {stdout}");
        let (_, stdout, stderr) = world.run("tty; unshare -U true; mknod b b 1 1").await;
        assert!(stdout.trim() == "not a tty", "{level}: {stdout} {stderr}");
        assert!(!world.root().join("b").exists());
    }
}

#[tokio::test]
async fn unix_sockets_cannot_be_made() {
    for &level in confined() {
        let world = World::at(level);
        for family in ["AF_UNIX", "AF_PACKET", "AF_VSOCK"] {
            let line =
                format!("python3 -c \"import socket; socket.socket(socket.{family}, socket.SOCK_STREAM)\"");
            for network in [false, true] {
                let (code, _, stderr) = world.finish(Request { network, ..world.request(&line) }).await;
                assert!(code == 1 && stderr.contains("PermissionError"), "{family}: {stderr}");
            }
        }
        let (code, stdout, stderr) =
            world.run("python3 -c \"import socket; socket.socketpair(); print('ok')\"").await;
        assert_eq!((code, stdout.as_str()), (0, "ok\n"), "{stderr}");
    }
}
