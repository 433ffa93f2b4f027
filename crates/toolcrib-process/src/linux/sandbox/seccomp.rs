//! System calls that a command has no business with, refused in the kernel.
//!
//! Neither bubblewrap nor Landlock stops a process from talking to a Unix socket that lies on the disk (an ssh agent,
//! a container daemon), and that is as good as leaving the sandbox: sockets of that kind cannot be made at all, but in
//! pairs that stay pairs.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen as Len, SeccompCmpOp as Op, SeccompCondition, SeccompFilter,
    SeccompRule,
};

const AF_INET: u64 = 2;
const AF_INET6: u64 = 10;
const AF_NETLINK: u64 = 16;
/// The kind of a socket without its flags.
const KIND: u64 = 0xf;
const SOCK_DGRAM: u64 = 2;
/// For Unix sockets another word for datagrams.
const SOCK_RAW: u64 = 3;
const CLONE_NEW_USER: u64 = 0x1000_0000;
/// Typing into a terminal, and into the console.
const TIOCSTI: u64 = 0x5412;
const TIOCLINUX: u64 = 0x541c;

/// Refused with `EPERM`.
const REFUSED: &[i64] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_quotactl,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
];

/// Refused where a command shares them with everybody else: memory, queues and semaphores that outlive it.
const SHARED: &[i64] = &[libc::SYS_shmget, libc::SYS_shmat, libc::SYS_msgget, libc::SYS_semget];

/// Refused with `ENOSYS`, so that programs take the way for older kernels.
const UNKNOWN: &[i64] =
    &[libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// The filters of a command. `own_spaces`: it has a network and shared memory of its own, in which there is nobody else.
pub(crate) fn filters(network: bool, own_spaces: bool) -> Result<Vec<BpfProgram>, String> {
    let told = |error: seccompiler::BackendError| format!("seccomp: {error}");
    let mut refused: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    if !own_spaces {
        refused.extend(SHARED.iter().map(|call| (*call, Vec::new())));
    }
    refused.insert(libc::SYS_socket, sockets(network || own_spaces).map_err(told)?);
    // A pair of datagram sockets can be connected anew, to a socket on the disk.
    let datagrams = [SOCK_DGRAM, SOCK_RAW].map(|kind| rule(vec![condition(1, Op::MaskedEq(KIND), kind)]));
    refused.insert(libc::SYS_socketpair, datagrams.into_iter().collect::<Result<_, _>>().map_err(told)?);
    // The limits of others: a process without time left is a dead one, and Landlock keeps only signals from them.
    refused.insert(libc::SYS_prlimit64, vec![rule(vec![condition(0, Op::Ne, 0)]).map_err(told)?]);
    let new_user = condition(0, Op::MaskedEq(CLONE_NEW_USER), CLONE_NEW_USER);
    refused.insert(libc::SYS_clone, vec![rule(vec![new_user]).map_err(told)?]);
    let typing = [TIOCSTI, TIOCLINUX].map(|request| rule(vec![condition(1, Op::Eq, request)]));
    refused.insert(libc::SYS_ioctl, typing.into_iter().collect::<Result<_, _>>().map_err(told)?);
    let unknown = UNKNOWN.iter().map(|call| (*call, Vec::new())).collect();
    Ok(vec![compile(refused, libc::EPERM).map_err(told)?, compile(unknown, libc::ENOSYS).map_err(told)?])
}

/// Which sockets are refused: all but those of the internet, and the routing kind of netlink, by which libraries ask
/// for addresses.
fn sockets(internet: bool) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let domain = |op, value| condition(0, op, value);
    let mut rules = vec![
        rule(vec![domain(Op::Ne, AF_INET), domain(Op::Ne, AF_INET6), domain(Op::Ne, AF_NETLINK)])?,
        rule(vec![domain(Op::Eq, AF_NETLINK), condition(2, Op::Ne, 0)])?,
    ];
    if !internet {
        rules.push(rule(vec![domain(Op::Eq, AF_INET)])?);
        rules.push(rule(vec![domain(Op::Eq, AF_INET6)])?);
    }
    Ok(rules)
}

type Condition = Result<SeccompCondition, seccompiler::BackendError>;

fn condition(argument: u8, op: Op, value: u64) -> Condition {
    SeccompCondition::new(argument, Len::Dword, op, value)
}

fn rule(conditions: Vec<Condition>) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

fn compile(
    mut rules: BTreeMap<i64, Vec<SeccompRule>>,
    errno: i32,
) -> Result<BpfProgram, seccompiler::BackendError> {
    // The same calls under the numbers of the x32 ABI, which the same architecture mark covers.
    if cfg!(target_arch = "x86_64") {
        const X32: i64 = 0x4000_0000;
        let again: Vec<_> = rules.iter().map(|(call, rules)| (call | X32, rules.clone())).collect();
        rules.extend(again);
    }
    let errno = SeccompAction::Errno(errno.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, errno, architecture)?.try_into()
}

/// The program as the kernel's structures lie in memory.
pub(crate) fn bytes(program: &BpfProgram) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for step in program {
        bytes.extend(step.code.to_ne_bytes());
        bytes.extend([step.jt, step.jf]);
        bytes.extend(step.k.to_ne_bytes());
    }
    bytes
}
