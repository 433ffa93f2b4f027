//! Which programs are out of the question, which are risky, and which need a closer look at their arguments.

use super::args::{Args, listed};
use super::run::Run;
use super::simple::Io;
use super::word::Word;
use super::{Judgement, code, files, filters, git, network, options};

/// A program with its arguments.
pub(super) struct Cmd<'w> {
    /// The program's name without its directory, in lower case.
    pub(super) name: String,
    pub(super) args: Args<'w>,
    pub(super) io: &'w Io,
}

/// Programs that no rule lifts, with the reason.
const FORBIDDEN: &[(&str, &str)] = &[
    (
        "takes on another user's rights",
        "sudo doas su pkexec runuser gosu su-exec sudoedit visudo vipw vigr gksu gksudo kdesu kdesudo \
        beesu dzdo run0 please sudo-rs calife setuidgid ksu",
    ),
    (
        "writes to a raw device",
        "mkfs mke2fs wipefs blkdiscard mkswap mkdosfs mkntfs sfdisk sgdisk cfdisk parted gdisk \
        pvcreate pvremove vgremove lvremove zpool badblocks sg_format newfs diskutil",
    ),
    ("stops the machine", "shutdown reboot halt poweroff telinit kexec"),
];

/// Programs that are risky whatever their arguments, with the reason.
const RISKY: &[(&str, &str)] = &[
    (
        "controls containers or machines, which are not confined",
        "docker podman kubectl nerdctl lxc lxc-attach lxd incus buildah crictl ctr minikube kind \
        vagrant virsh qemu-system-x86_64 multipass docker-compose podman-compose oc helm skopeo \
        machinectl systemd-nspawn bwrap firejail flatpak snap wsl wsl.exe cmd.exe finch colima",
    ),
    (
        "starts something that outlives it",
        "crontab at batch systemctl service launchctl systemd-run loginctl update-rc.d chkconfig \
        rc-service rc-update anacron fcrontab initctl supervisorctl pm2 atrm schtasks busctl",
    ),
    ("destroys data for good", "shred srm wipe scrub bleachbit debugfs e2fsck fsck xfs_repair tune2fs"),
    ("gives programs more rights", "setcap chattr capsh setfacl chcon semanage setenforce aa-exec chfn chsh"),
    (
        "can run commands of its own",
        "vim vi nvim view vimdiff rvim gvim ex emacs emacsclient nano pico joe micro ed red kak hx \
        helix less more most pg gdb lldb expect dbx mutt lynx w3m links ftp lftp mail mailx telnet \
        irb ranger mc vifm nnn lf fzf tig lazygit gitk dialog screen tmux zellij dtach abduco script \
        scriptreplay aria2c osascript code cscope ctags-exec",
    ),
    (
        "talks to another machine",
        "ssh scp sftp nc ncat netcat nc.openbsd nc.traditional socat rsh rlogin rcp mosh ssh-copy-id \
        autossh sshfs sshpass tftp ngrok cloudflared rclone croc websocat nmap masscan tcpdump \
        tshark ettercap chisel frpc ssh-add ssh-agent ssh-keygen dig nslookup host drill whois \
        sendmail msmtp swaks bore wormhole magic-wormhole iperf iperf3 hping3",
    ),
    (
        "changes the machine",
        "mount umount chroot unshare nsenter losetup modprobe insmod rmmod sysctl iptables ip6tables \
        nft ufw firewall-cmd ip ifconfig route useradd usermod userdel adduser deluser groupadd \
        groupmod passwd chpasswd newgrp sg hostnamectl timedatectl swapon swapoff fdisk dmsetup \
        cryptsetup lvcreate vgcreate mdadm hdparm nvme smartctl efibootmgr grub-install update-grub \
        ldconfig update-alternatives dpkg rpm apt apt-get aptitude yum dnf zypper pacman apk emerge \
        xbps-install port nix-env nix-collect-garbage brew installer dkms depmod kldload pivot_root \
        switch_root defaults csrutil nvram spctl tmutil reg bcdedit format diskpart",
    ),
    ("stops other programs", "pkill killall killall5 skill slay xkill fuser"),
    (
        "uses secrets or accounts",
        "gpg gpg2 gpgsm security pass secret-tool keyctl op bw vault aws gcloud gsutil az doctl \
        heroku flyctl fly vercel netlify wrangler firebase supabase pbpaste xclip xsel wl-paste age \
        sops kinit klist ldapsearch getent lastlog mimikatz linpeas lastpass lpass s3cmd mc-s3",
    ),
    ("reads or writes memory of programs", "gcore ptrace memdump bpftrace bpftool sysdig dtrace"),
    ("opens something on the desktop", "xdg-open open start xdotool gio gdbus dbus-send notify-send wmctrl"),
];

/// Says what is bad about a program.
type Judge = fn(&mut Run<'_>, &Cmd<'_>) -> Judgement;

/// Programs whose arguments tell.
const JUDGES: &[(&str, Judge)] = &[
    ("rm grm rmdir unlink trash trash-put rip rimraf del-cli", files::delete),
    ("mv gmv rename prename", files::rename),
    ("cp gcp install ginstall ln gln ditto link pax cpio", files::copy),
    ("rsync", files::rsync),
    ("tee sponge touch mkdir mkfifo fallocate truncate mknod tree uniq xxd", files::create),
    ("dd dcfldd dc3dd pv", files::dd),
    ("chmod chown chgrp gchmod gchown", files::rights),
    ("find gfind bfs", files::find),
    ("tar gtar bsdtar unzip zip 7z cpio ar gunzip gzip", files::archive),
    (
        "sort gsort rg fd fdfind split man jq yq ag sqlite3 psql mysql cmake go gcc g++ cc clang \
        rustc cargo npm pnpm yarn bun make gmake ninja history hash enable bind complete kill gh \
        glab twine gem pip pip3 openssl terraform tofu pulumi ansible ansible-playbook init fc let \
        printf test [ npx pipx uv poetry watchexec entr nodemon date hostname strace ltrace ulimit \
        nix nix-shell perf",
        options::judge,
    ),
    ("sed gsed", filters::sed),
    ("awk gawk mawk nawk original-awk", filters::awk),
    ("curl wget wget2 http https xh httpie curlie", network::transfer),
    ("git", git::judge),
    ("source .", code::source),
    ("cd chdir pushd popd", files::change_directory),
    (
        "read mapfile readarray getopts set shopt unalias export declare typeset local readonly unset",
        files::set_variables,
    ),
];

/// Programs whose words are no files that they read.
const MENTION_ONLY: &str = "echo printf test [ [[ basename dirname realpath ls mkdir touch which type exit return export \
    stat true false rm chmod cd fd du alias cargo npm seq";

/// Commands of git that show what files hold.
const GIT_SHOWS: &str = "diff show blame annotate grep cat-file log";

/// Programs that read all that is below a directory, with the option without which they do not.
const RECURSIVE: &[(&str, &str)] = &[
    ("grep", "rR"),
    ("egrep", "rR"),
    ("fgrep", "rR"),
    ("rg", ""),
    ("ag", ""),
    ("ack", ""),
    ("tar", ""),
    ("cp", "rRa"),
    ("rsync", ""),
    ("zip", "r"),
];

/// Whether the program reads all that is below the directories that its words name.
pub(super) fn reads_below(name: &str, args: Args<'_>) -> bool {
    let found = RECURSIVE.iter().find(|(program, _)| *program == name);
    found.is_some_and(|(_, letters)| letters.is_empty() || args.short(letters) || args.long("recursive"))
}

/// The program's name without its directory.
pub(super) fn base(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Whether the program reads the files that its words name.
pub(super) fn reads_its_words(name: &str, args: Args<'_>) -> bool {
    !listed(MENTION_ONLY, name) && (name != "git" || args.0.iter().any(|word| listed(GIT_SHOWS, &word.text)))
}

/// Programs whose first operand is a pattern or a script, unless an option gave one.
const PATTERN_FIRST: &str = "grep egrep fgrep rg ag ack jq yq sed gsed awk gawk mawk";

/// The words that name what is read: not what is copied to, nor a pattern.
pub(super) fn read_words(name: &str, args: Args<'_>) -> Vec<Word> {
    let mut words = args.0.to_vec();
    if listed("cp mv install ln rsync tee", name) {
        words.pop();
    }
    let given = args.short("ef") || args.long("regexp") || args.long("file") || args.long("expression");
    if listed(PATTERN_FIRST, name) && !given {
        let first = words.iter().position(|word| !word.is_option());
        first.map(|at| words.remove(at));
    }
    words
}

/// What is bad about a program, as far as its name and arguments tell; safe if nothing is.
pub(super) fn judge(run: &mut Run<'_>, words: &[Word], io: &Io) -> Judgement {
    let Some((program, rest)) = words.split_first() else { return Judgement::Plain };
    let name = base(&program.text).to_ascii_lowercase();
    let reason = |table: &[(&str, &str)]| {
        table.iter().find(|(_, names)| listed(names, &name)).map(|(reason, _)| (*reason).to_owned())
    };
    if let Some(reason) = reason(FORBIDDEN) {
        return Judgement::Forbidden(reason);
    }
    if name.starts_with("mkfs.") || name.starts_with("newfs_") {
        return Judgement::forbidden("writes to a raw device");
    }
    network::note(run, &name, Args(rest));
    let cmd = Cmd { name, args: Args(rest), io };
    let mut worst = Judgement::Safe;
    if let Some((_, judge)) = JUDGES.iter().find(|(names, _)| listed(names, &cmd.name)) {
        worst = worst.worst(judge(run, &cmd));
    }
    if code::is_interpreter(&cmd.name) {
        worst = worst.worst(code::interpreter(run, &cmd));
    }
    if let Some(reason) = risky(&cmd) {
        worst = worst.worst(reason);
    }
    worst
}

fn risky(cmd: &Cmd<'_>) -> Option<Judgement> {
    let (reason, _) = RISKY.iter().find(|(_, names)| listed(names, &cmd.name))?;
    let stops = ["poweroff", "reboot", "halt", "kexec", "shutdown", "rescue", "emergency"];
    if matches!(cmd.name.as_str(), "systemctl" | "loginctl") && cmd.args.any(&stops) {
        return Some(Judgement::forbidden("stops the machine"));
    }
    let device = cmd.args.0.iter().any(|word| word.text.starts_with("/dev/"));
    if device
        && !cmd.args.any(&["/dev/null", "-l", "--list"])
        && !matches!(cmd.name.as_str(), "mount" | "umount" | "less" | "fuser")
    {
        return Some(Judgement::forbidden("writes to a raw device"));
    }
    Some(Judgement::risky(*reason))
}
