"""The command line of a sandbox, and whether this machine can run one.

Inside there are: the system's and Python's own files and installed packages, read only;
`attention_lab` without its checks; `classroom.grading.sandbox`; a small writable folder and a small
`/dev/shm`. No notebook, no gradebook, no network, no home, no environment, no other process.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path

from classroom.grading import seccomp
from classroom.grading.folders import Folders
from classroom.grading.limits import Limits

HERE = Path(__file__).parent
STAND_IN = HERE / "stand_in.py"
INSIDE = HERE / "sandbox"
INSIDE_NAME = "grading_sandbox"  # what INSIDE is called where it runs
TRIAL_SECONDS = 20
COURSE = Path("/course")
LAB = COURSE / "attention_lab"
WORK = Path("/scratch")
SYSTEM = (
    "/bin", "/lib", "/lib32", "/lib64", "/sbin",
    "/usr/bin", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/libexec", "/usr/sbin", "/usr/share",
    "/usr/local/bin", "/usr/local/lib", "/usr/local/lib64", "/usr/local/share/fonts",
)  # fmt: skip
OF_PYTHON = ("bin", "lib", "lib64", "pyvenv.cfg", "share/zoneinfo")  # in the folder of one
LARGE_PAGES = "/sys/kernel/mm/transparent_hugepage"  # which glibc reads before it asks for them
SETTINGS = (
    "/etc/alternatives", "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime", LARGE_PAGES
)  # fmt: skip
ENVIRONMENT = {
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # large pages: fewer faults
    "HOME": "/scratch/home",
    "LANG": "C.UTF-8",
    "LOGNAME": "learner",
    "MPLBACKEND": "agg",
    "MPLCONFIGDIR": "/scratch/home",
    "NBGRADER_EXECUTION": "autograde",
    "OMP_NUM_THREADS": "1",
    "PATH": "/usr/bin:/bin",
    "PIP_NO_INDEX": "1",  # there is no network: let it say so at once
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "TMPDIR": "/scratch",
    "TORCHDYNAMO_DISABLE": "1",
    "TORCH_COMPILE_DISABLE": "1",
    "USER": "learner",
}

ADVICE = """\
No sandbox on this machine, so nothing was run and no grade was recorded.
  {reason}
What helps:
  Debian, Ubuntu   sudo apt-get install bubblewrap     (version 0.8 or newer)
  Ubuntu 24.04     besides, an AppArmor profile that allows user namespaces for bwrap
  Fedora           sudo dnf install bubblewrap
  macOS, Windows   grade in a Linux container or virtual machine
  a container      allow user namespaces: docker run --security-opt seccomp=unconfined
docs/security.md says more. To grade without a sandbox, on a machine and an account that you could
afford to lose, set  c.Grading.isolation = "none"  in nbgrader_config.py."""


class NoSandbox(Exception):
    """No sandbox can be started on this machine; the message says what to do."""


def require(hidden: tuple[str, ...] = ()):
    """Start and end an empty sandbox that does not see what is `hidden`. Raises NoSandbox if that
    fails."""
    if shutil.which("bwrap") is None:
        raise NoSandbox(ADVICE.format(reason="The program bwrap is not installed."))
    try:
        tried = _try_out(["/usr/bin/env", "cat"], hidden)
    except seccomp.UnknownMachine as error:
        raise NoSandbox(ADVICE.format(reason=error)) from None
    except subprocess.TimeoutExpired:
        raise NoSandbox(
            ADVICE.format(reason=f"bwrap did not answer for {TRIAL_SECONDS} seconds.")
        ) from None
    if tried.returncode != 0:
        reason = f"bwrap cannot start one: {tried.stderr.strip()}"
        raise NoSandbox(ADVICE.format(reason=reason))


def _try_out(command, hidden=()):
    """Run `command`, which waits for the end of its input, in a sandbox that gets new folders."""
    info, theirs = os.pipe()
    with open(info, encoding="utf-8") as told, open(seccomp.open_filter(), "rb") as call_filter:
        inherited = call_filter.fileno(), theirs
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [*command_line(Limits(hidden=hidden), *inherited), *command],
            pass_fds=inherited, stdin=pipe, stdout=pipe, stderr=pipe, text=True,
        ) as trial:  # fmt: skip
            os.close(theirs)
            said = _with_new_folders(told.read()) if _is_there(trial) else ""
            _, errors = trial.communicate(timeout=TRIAL_SECONDS)
    return subprocess.CompletedProcess(command, trial.returncode or bool(said), "", errors or said)


def _is_there(trial):
    """Whether it says again what it is told."""
    with suppress(BrokenPipeError):
        trial.stdin.write("\n")
        trial.stdin.flush()
    return bool(trial.stdout.readline())


def _with_new_folders(info):
    """What went wrong with it, or nothing."""
    folders = Folders(json.loads(info)["child-pid"], Limits())
    try:
        folders.renew()
    except OSError as error:
        return f"its folders cannot be renewed ({error})"
    finally:
        folders.close()
    return ""


def command_line(limits: Limits, call_filter: int, info: int | None = None) -> list[str]:
    """The command that runs what follows it in a sandbox.

    call_filter: a file descriptor with the filter of system calls. info: one for bubblewrap to
    write the first process's id to.
    """
    return [
        "bwrap",
        *_isolation(),
        *("--seccomp", str(call_filter)),
        *(("--info-fd", str(info)) if info is not None else ()),
        *_files(limits.hidden),
        *_writable(limits),
        *_environment(),
        "--remount-ro", "/dev",
        "--remount-ro", "/proc",
        "--remount-ro", "/",
        "--chdir", str(WORK),
        "--",
    ]  # fmt: skip


def host_command(descriptor: int, limits: Limits, work: Path = WORK) -> list[str]:
    """The command of the sandbox's first process, which is told its socket's `descriptor`."""
    told = limits.as_dict() | {"hidden": ()}  # submissions can read this command
    words = (str(descriptor), str(work), json.dumps(told))
    return [sys.executable, "-P", "-m", INSIDE_NAME, *words]


def _isolation():
    return [
        "--unshare-all", "--unshare-user", "--disable-userns",
        "--uid", "1000", "--gid", "1000", "--hostname", "sandbox",
        "--cap-drop", "ALL", "--new-session", "--die-with-parent", "--as-pid-1",
    ]  # fmt: skip


def _files(hidden):
    arguments = _readable([*map(Path, SYSTEM), *python_files()], hidden)
    for path in SETTINGS:
        arguments += ["--ro-bind-try", path, path]
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    # Mapped, /dev/zero would be memory that is shared and nobody's.
    arguments += ["--dev-bind", "/dev/full", "/dev/zero"]
    arguments += ["--ro-bind", str(INSIDE), str(COURSE / INSIDE_NAME)]
    arguments += ["--ro-bind", str(lab()), str(LAB), *_masked(LAB / "check")]
    if any(lab().is_relative_to(root) for root in (*python_roots(), *SYSTEM)):
        arguments += _masked(lab() / "check")  # the same package, where it is installed
    return arguments


def _readable(paths, hidden):
    """Mount `paths` without what is `hidden` below them, and what of `paths` lies below that."""
    mounts, covers = {}, []
    for path in filter(Path.exists, paths):
        is_link = path.is_symlink() and str(path) in SYSTEM
        how = ["--symlink", os.readlink(path)] if is_link else ["--ro-bind", str(path)]
        mounts[path] = [*how, str(path)]
        for each in [] if is_link else map(Path.resolve, map(Path, hidden)):
            if each.exists() and each.is_relative_to(path.resolve()):
                inside = path / each.relative_to(path.resolve())
                cover = "--tmpfs" if each.is_dir() else "--ro-bind /dev/null"
                mounts.setdefault(inside, [*cover.split(), str(inside)])
                covers += ["--remount-ro", str(inside)] if each.is_dir() else []
    return [word for path in sorted(mounts) for word in mounts[path]] + covers


def _masked(check):
    """Nothing of `attention_lab.check` but the exception, and a stand-in for the rest."""
    return [
        "--tmpfs", str(check),
        "--ro-bind", str(STAND_IN), str(check / "__init__.py"),
        "--ro-bind", str(lab() / "check" / "mistake.py"), str(check / "mistake.py"),
        "--remount-ro", str(check),
    ]  # fmt: skip


def _writable(limits):
    python_in_tmp = any(root.is_relative_to("/tmp") for root in python_roots())
    return [
        "--size", str(limits.scratch), "--tmpfs", str(WORK),
        "--size", str(limits.scratch), "--tmpfs", "/dev/shm",
        *(() if python_in_tmp else ("--symlink", str(WORK), "/tmp")),
    ]  # fmt: skip


def _environment():
    paths = [str(COURSE), *map(str, site_packages())]
    environment = ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(paths)}
    settings = [("--setenv", name, value) for name, value in environment.items()]
    return ["--clearenv", *(word for setting in settings for word in setting)]


def lab() -> Path:
    """The folder of the package `attention_lab` that this Python imports."""
    spec = importlib.util.find_spec("attention_lab")
    return Path(spec.origin).resolve().parent


def site_packages() -> list[Path]:
    """The folders of installed packages, in the order in which Python looks into them."""
    folders = [Path(entry) for entry in sys.path]
    return [f for f in folders if f.name in ("site-packages", "dist-packages") and f.is_dir()]


def python_files() -> list[Path]:
    """What of those folders this Python needs: a virtual environment may lie in anybody's folder,
    and anybody's folder in one."""
    prefixes = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix)}
    prefixes |= {prefix.resolve() for prefix in prefixes}
    parts = [root / p for root in python_roots() if root in prefixes for p in OF_PYTHON]
    return [*parts, *(root for root in python_roots() if root not in prefixes)]


def python_roots() -> list[Path]:
    """The folders outside /usr that this Python runs from."""
    folders = {sys.prefix, sys.base_prefix, sysconfig.get_path("stdlib")}
    folders = {Path(folder) for folder in folders} | set(site_packages())
    folders |= {folder.resolve() for folder in folders}
    return sorted(folder for folder in folders if not folder.is_relative_to("/usr"))
