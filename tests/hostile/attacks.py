"""Hostile submissions. What may be said aloud about them:

- An attack that reaches what it must not reach prints ESCAPED.
- `{host}`, `{port}`, `{canary}` are replaced by where the test listens and what it has hidden.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Attack:
    """before: a cell above the (wrong) answers. after: a cell below each of them.

    silent: whether the attack swallows what it prints, so that no output shows that it ran.
    """

    name: str
    before: str = ""
    after: str = ""
    silent: bool = False


TRY = """
def attempt(function, *args, **kwargs):
    try:
        result = function(*args, **kwargs)
    except BaseException as error:
        print("refused:", type(error).__name__)
    else:
        print("ESCAPED", function, result)
"""

COMPARISONS = [
    Attack(
        "patched-torch-comparisons",
        """
torch.allclose = torch.equal = torch.isclose = lambda *a, **k: True
torch.testing.assert_close = lambda *a, **k: None
torch.testing.assert_allclose = lambda *a, **k: None
""",
    ),
    Attack(
        "patched-tensor-methods",
        """
torch.Tensor.__eq__ = lambda a, b: torch.ones(()).bool()
torch.Tensor.__sub__ = lambda a, b: torch.zeros(a.shape)
torch.Tensor.allclose = torch.Tensor.equal = lambda *a, **k: True
torch.Tensor.abs = lambda a: torch.zeros(a.shape)
""",
    ),
    Attack(
        "patched-builtins",
        """
import builtins
builtins.all = builtins.any = lambda *a: True
builtins.max = builtins.min = builtins.abs = lambda *a, **k: 0
builtins.AssertionError = type("AssertionError", (Warning,), {})
""",
    ),
    Attack(
        "assertion-errors-that-do-not-raise",
        """
import attention_lab.check.mistake
attention_lab.check.mistake.Mistake.__new__ = lambda *a, **k: Warning()
AssertionError.__init__ = None
""".replace("AssertionError.__init__ = None", "check.Mistake = Warning"),
    ),
    Attack(
        "tensor-that-agrees",
        after="""
class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("allclose", "equal", "isclose", "eq", "__eq__"):
            return True
        return super().__torch_function__(func, types, args, kwargs or {})

def agreeable(function):
    return lambda *args: function(*args).as_subclass(Agreeable)

if "split_heads" in globals():
    split_heads = agreeable(split_heads)
""",
    ),
    Attack(
        "answer-equal-to-everything",
        after="""
class Equal:
    shape = property(lambda self: self)
    def __eq__(self, other): return True
    def __getattr__(self, name): return self
    def __call__(self, *args, **kwargs): return self

split_heads = attention_scores = Equal()
""",
    ),
    Attack("nan-answers", after="split_heads = lambda x, h: x.new_full((1,), math.nan)"),
    Attack(
        "patched-observation",
        """
from attention_lab import observation
from attention_lab.observation import observe
observe._plain_tensor = lambda tensor: tensor.detach().clone() * 0
observe._backward = lambda outputs, upstream, inputs: (tuple(map(torch.ones_like, inputs)), None)
""",
    ),
    Attack(
        "no-observations",
        """
from attention_lab import observation
observation.observe_encoded = lambda answer, request: observation.encode(())
""",
    ),
    Attack(
        "replayed-request",
        """
from attention_lab import observation
observation.observe_encoded = lambda answer, request: request
""",
    ),
    Attack(
        "pickled-reply",
        """
import pickle
from attention_lab import observation

class Bomb:
    def __reduce__(self):
        return (open, ("{canary}", "w"))

observation.observe_encoded = lambda answer, request: pickle.dumps(Bomb())
""",
    ),
]

SHELL = [
    Attack(
        "ast-transformer",
        """
import ast

class Drop(ast.NodeTransformer):
    def visit_Expr(self, node):
        return ast.parse("None").body[0]

get_ipython().ast_transformers.append(Drop())
""",
    ),
    Attack("input-transformer", "get_ipython().input_transformers_post.append(lambda lines: [])"),
    Attack(
        "patched-shell",
        """
shell = get_ipython()
shell.run_cell = lambda *args, **kwargs: None
shell.showtraceback = lambda *args, **kwargs: None
""",
        silent=True,
    ),
    Attack(
        "patched-display",
        """
import sys
sys.displayhook = get_ipython().displayhook = lambda value: print(1e6)
get_ipython().display_pub.publish = lambda *args, **kwargs: None
""",
    ),
    Attack("displayed-number", "1000000.0", after="1000000.0", silent=True),
    Attack(
        "forged-outputs",
        """
recorder = get_ipython().recorder
recorder.finished = lambda: [
    {"output_type": "execute_result", "data": {"text/plain": "100"}, "metadata": {},
     "execution_count": 1}
]
""",
        silent=True,
    ),
    Attack("check-redefined", "check = type('check', (), {'__getattr__': lambda *a: print})()"),
    Attack(
        "trusted-names-redefined",
        after="""
import attention_lab
attention_lab.check.split_heads = attention_lab.check.attention_scores = lambda *a, **k: None
globals().update(check=attention_lab.check, print=None, torch=None)
""",
        silent=True,
    ),
]

CHANNEL = """
import gc, socket, struct

def channels():
    return [o for o in gc.get_objects() if isinstance(o, socket.socket)] + [
        socket.socket(fileno=n) for n in range(3, 30) if is_socket(n)
    ]

def is_socket(descriptor):
    import os, stat
    try:
        return stat.S_ISSOCK(os.fstat(descriptor).st_mode)
    except OSError:
        return False

def say(data):
    for channel in channels():
        try:
            channel.send(data)
        except OSError:
            pass

def say_framed(text):
    say(struct.pack(">II", len(text), 0) + text)
"""
MESSAGES = [
    Attack("garbage-on-the-wire", CHANNEL + 'say_framed(b"!!!!")', silent=True),
    Attack("oversized-message", CHANNEL + 'say(b"\\xff" * 64)', silent=True),
    Attack("list-for-a-message", CHANNEL + 'say_framed(b"[]")', silent=True),
    Attack("nan-in-a-message", CHANNEL + "say_framed(b'{\"a\":NaN}')", silent=True),
    Attack("deep-message", CHANNEL + 'say_framed(b"[" * 200000)', silent=True),
    Attack(
        "message-of-many-parts",
        CHANNEL
        + """
say_framed(b'{"count":1,"outputs":[' + b"[]," * 2000000 + b"0]}")
""",
        silent=True,
    ),
    Attack(
        "text-that-grows",
        CHANNEL
        + """
output = b'{"output_type":"stream","name":"stdout","text":"' + b"\\x7f" * (30 << 20) + b'"}'
say_framed(b'{"count":1,"outputs":[' + output + b"]}")
""",
        silent=True,
    ),
    Attack("half-a-message", CHANNEL + "say(struct.pack('>II', 100, 0) + b'{')", silent=True),
    Attack(
        "enormous-reply",
        """
from attention_lab import observation
observation.observe_encoded = lambda answer, request: b"MHA1" + bytes(8 << 20)
""",
    ),
    Attack(
        "answers-given-beforehand",
        CHANNEL + 'for _ in range(10): say_framed(b\'{"count":1,"outputs":[]}\')',
        silent=True,
    ),
    Attack(
        "outputs-of-no-known-kind",
        "get_ipython().recorder.finished = lambda: [{'output_type': 'update', 'data': {}}]",
        silent=True,
    ),
]

DEATHS = [
    Attack("sys-exit", "import sys; sys.exit(0)"),
    Attack("os-exit", "import os; os._exit(0)", silent=True),
    Attack("os-exit-in-the-answer", after="import os; split_heads = lambda x, h: os._exit(0)"),
    Attack("segfault", "import ctypes; ctypes.string_at(0)", silent=True),
    Attack("abort", "import os; os.abort()", silent=True),
    Attack("killed-by-itself", "import os; os.kill(os.getpid(), 9)", silent=True),
    Attack("keyboard-interrupt-in-the-answer", after="""
def split_heads(x, num_heads):
    raise KeyboardInterrupt
"""),
    Attack("exception-that-cannot-be-shown", after="""
class Unshowable(BaseException):
    def __str__(self): raise SystemExit
    __repr__ = __str__

def split_heads(x, num_heads):
    raise Unshowable
"""),
    Attack("endless-loop", "while True: pass", silent=True),
    Attack("endless-loop-that-swallows-the-interrupt", """
while True:
    try:
        while True: pass
    except BaseException:
        pass
""", silent=True),
    Attack("endless-loop-in-the-answer", after="""
def split_heads(x, num_heads):
    while True: pass
"""),
]  # fmt: skip

BOMBS = [
    Attack("memory", """
hoard = []
while True:
    hoard.append(bytearray(b"x" * (64 << 20)))
""", silent=True),
    Attack("memory-of-many-processes", """
import os, time
for _ in range(8):
    if os.fork() == 0:
        hoard = bytearray(b"x" * (200 << 20))
        time.sleep(60)
time.sleep(60)
""", silent=True),
    Attack("memory-without-a-process", TRY + """
import os
descriptors = []
for _ in range(64):
    descriptors.append(os.memfd_create("hoard"))
    os.write(descriptors[-1], b"x" * (32 << 20))
print("ESCAPED", len(descriptors))
"""),
    Attack("memory-in-sockets", """
import os, socket, time
filled, full = os.pipe()
def fill():
    pairs = [socket.socketpair() for _ in range(100)]
    for end in sum(pairs, ()):
        end.setblocking(False)
        try:
            while True:
                end.send(bytes(30000))
        except BlockingIOError:
            pass
    os.write(full, b"!")
    time.sleep(60)
for _ in range(4):
    if os.fork() == 0:
        fill()
for _ in range(4):
    os.read(filled, 1)
time.sleep(1)
print("ESCAPED")
""", silent=True),
    Attack("memory-shared-and-looked-away-from", TRY + """
import mmap
attempt(mmap.mmap, -1, 1 << 30)
attempt(mmap.mmap, -1, 1 << 30, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | mmap.MAP_NORESERVE)
with open("/dev/zero", "rb") as zero:
    attempt(mmap.mmap, zero.fileno(), 1 << 30, mmap.MAP_SHARED, mmap.PROT_READ)
"""),
    Attack("memory-in-pipes", """
import ctypes, fcntl, os, platform
number = {"x86_64": 278, "aarch64": 75}[platform.machine()]
libc = ctypes.CDLL(None)
read, write = os.pipe()
gift = ctypes.create_string_buffer(4096)
vector = (ctypes.c_size_t * 2)(ctypes.addressof(gift), 4096)
print("ESCAPED" if libc.syscall(number, write, vector, 1, 8) > 0 else "refused")
"""),
    Attack("memory-in-connections", TRY + """
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):
    attempt(socket.socket, family)
near, far = socket.socketpair()
for size in (socket.SO_SNDBUF, socket.SO_RCVBUF):
    attempt(near.setsockopt, socket.SOL_SOCKET, size, 4 << 20)
"""),
    Attack("memory-in-the-kernel", """
import ctypes, platform
libc = ctypes.CDLL(None)
which = {"x86_64": 0, "aarch64": 1}[platform.machine()]
context = ctypes.c_ulong()
for numbers, arguments in [
    ((206, 0), (1000, ctypes.byref(context))),  # io_setup
    ((294, 26), (0,)),  # inotify_init1
    ((300, 262), (0, 0)),  # fanotify_init
    ((425, 425), (1, ctypes.create_string_buffer(200))),  # io_uring_setup
]:
    print("ESCAPED" if libc.syscall(numbers[which], *arguments) >= 0 else "refused")
"""),
    Attack("files-without-end", """
import os
try:
    for number in range(100_000):
        os.close(os.open(f"empty{number}", os.O_CREAT))
    print("ESCAPED")
except OSError as error:
    print("refused:", error)
"""),
    Attack("names-without-end", """
import os
open("one", "w").close()
try:
    for number in range(100_000):
        os.link("one", f"another{number}")
    print("ESCAPED")
except OSError as error:
    print("refused:", error)
"""),
    Attack("last-to-be-ended", TRY + """
for file in ("oom_score_adj", "oom_adj", "autogroup", "timerslack_ns", "coredump_filter"):
    for process in ("self", "1"):
        attempt(lambda: open(f"/proc/{process}/{file}", "w").write("0"))
"""),
    Attack("threads-without-end", """
import threading, time
threading.stack_size(64 << 10)
started = 0
for _ in range(5_000):
    threading.Thread(target=time.sleep, args=(20,), daemon=True).start()
time.sleep(1)
print("ESCAPED")
""", silent=True),
    Attack("fork-bomb", """
import os, time
while True:
    try:
        os.fork()
    except OSError:
        time.sleep(1)
""", silent=True),
    Attack("thread-bomb", """
import threading, time
while True:
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
""", silent=True),
    Attack("full-disk", """
import pathlib
try:
    for i in range(1000):
        pathlib.Path(f"fill{i}").write_bytes(b"x" * (32 << 20))
    print("ESCAPED")
except OSError as error:
    print("refused:", error)
"""),
    Attack("flood-of-text", 'while True: print("x" * 1000000)', silent=True),
    Attack("flood-of-stderr", """
import sys
while True: sys.stderr.write('x' * 1000000)
""", silent=True),
    Attack("flood-of-displays", """
from IPython.display import HTML, display
while True: display(HTML("<b>x</b>" * 10000))
""", silent=True),
    Attack("flood-below-python", "import os\nwhile True: os.write(1, b'x' * 1000000)", silent=True),
    Attack("endless-error", "raise ValueError('x' * 10**7)"),
]  # fmt: skip

TRACES = [
    Attack("settings-of-the-machine", TRY + """
import glob, os
for name in ("sys/kernel/core_pattern", "sys/kernel/hostname", "sys/kernel/ns_last_pid",
             "sys/net/ipv4/ip_default_ttl", "sys/vm/drop_caches", "sysrq-trigger"):
    attempt(open, f"/proc/{name}", "r+")
for name in ("/dev/null", "/dev/urandom", "/dev/pts", "/dev/pts/ptmx", "/dev/zero", "/dev/tty"):
    attempt(os.chmod, name, 0o600)
    attempt(os.utime, name, (1, 1))
"""),
    Attack("labels-on-folders", TRY + """
import os
acl = bytes.fromhex("0200000001000000ffffffff04000000ffffffff20000000ffffffff")
for place in ("/scratch", "/dev/shm", "."):
    attempt(os.setxattr, place, "user.note", b"hello")
    attempt(os.setxattr, place, "system.posix_acl_default", acl)
"""),
    Attack("folders-closed-behind", """
import os
for place in ("/scratch", "/dev/shm", "/scratch/home", "."):
    os.chmod(place, 0)
"""),
    Attack("folders-without-a-bottom", """
import os
for _ in range(3000):
    os.mkdir("deep")
    os.chdir("deep")
"""),
    Attack("lease-on-a-file-of-the-grader", TRY + """
import fcntl, sys
with open(sys.executable) as file:
    attempt(fcntl.fcntl, file, 1024, fcntl.F_RDLCK)  # F_SETLEASE
folder = __import__("os").open("/usr", 0)
attempt(fcntl.fcntl, folder, 1026, 1)  # F_NOTIFY
"""),
    Attack("limits-of-the-host", TRY + """
import resource
attempt(resource.prlimit, 1, resource.RLIMIT_NOFILE, (3, 3))
attempt(resource.prlimit, 1, resource.RLIMIT_CPU, (1, 1))
"""),
    Attack("priority-of-the-host", TRY + """
import os
attempt(os.setpriority, os.PRIO_PROCESS, 1, 19)
attempt(os.setpriority, os.PRIO_USER, os.getuid(), 19)
"""),
    Attack("affinity-of-the-host", TRY + """
import os
attempt(os.sched_setaffinity, 1, {max(os.sched_getaffinity(0))})
attempt(os.sched_setscheduler, 1, os.SCHED_IDLE, os.sched_param(0))
"""),
    Attack("sysv-shared-memory", TRY + """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print("ESCAPED" if libc.shmget(77, 1 << 20, 0o1666) >= 0 else "refused")
print("ESCAPED" if libc.semget(77, 1, 0o1666) >= 0 else "refused")
print("ESCAPED" if libc.msgget(77, 0o1666) >= 0 else "refused")
"""),
    Attack("kernel-keys", """
import ctypes, platform
number = {"x86_64": 248, "aarch64": 217}[platform.machine()]
libc = ctypes.CDLL(None)
print("ESCAPED" if libc.syscall(number, b"user", b"note", b"hello", 5, -4) > 0 else "refused")
"""),
    Attack("posix-shared-memory", """
from multiprocessing import shared_memory
kept = shared_memory.SharedMemory("note", create=True, size=1000)
kept.buf[:5] = b"hello"
import multiprocessing.resource_tracker as tracker
tracker.unregister(kept._name, "shared_memory")
"""),
    Attack("message-queue", """
import ctypes, os
libc = ctypes.CDLL(None)
queue = libc.mq_open(b"/note", os.O_CREAT | os.O_RDWR, 0o666, None)
print("ESCAPED" if queue >= 0 else "refused")
"""),
    Attack("files-left-everywhere", """
import os, pathlib
for place in ("/tmp", "/dev/shm", "/tmp/home", "."):
    folder = pathlib.Path(place, "note")
    folder.mkdir(exist_ok=True)
    (folder / "note").write_text("hello")
    (folder / "loop").symlink_to(folder)
    (folder / "out").symlink_to("/")
    os.chmod(folder, 0)
"""),
    Attack("background-processes", """
import os, time
for _ in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            import signal
            for number in range(1, 32):
                try: signal.signal(number, signal.SIG_IGN)
                except OSError: pass
            while True: time.sleep(1)
        os._exit(0)
"""),
    Attack("threads-left-behind", """
import threading
for _ in range(5):
    threading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()
"""),
]  # fmt: skip

SIGNALS = [
    Attack("signals-to-the-host", """
import os, signal
for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP, signal.SIGINT, signal.SIGSEGV):
    try:
        os.kill(1, number)
    except OSError as error:
        print("refused:", error)
"""),
    Attack("traced-host", TRY + """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for request in (16, 0x4206):  # PTRACE_ATTACH, PTRACE_SEIZE
    print("ESCAPED" if libc.ptrace(request, 1, 0, 0) == 0 else "refused")
for name in ("mem", "environ", "maps"):
    attempt(lambda: open(f"/proc/1/{name}", "rb").read(1))
for descriptor in range(3):
    attempt(lambda: open(f"/proc/1/fd/{descriptor}", "rb"))
"""),
    Attack("descriptors-of-the-host", TRY + """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
host = os.pidfd_open(1)
for descriptor in range(10):
    print("ESCAPED" if libc.syscall(438, host, descriptor, 0) >= 0 else "refused")
"""),
    Attack("memory-of-the-host", """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)

class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

buffer = ctypes.create_string_buffer(8)
local, remote = Vector(ctypes.addressof(buffer), 8), Vector(id(None), 8)
read = libc.process_vm_readv(1, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
print("ESCAPED" if read > 0 else "refused")
"""),
]  # fmt: skip

OUTSIDE = [
    Attack("loopback", TRY + """
import socket
attempt(socket.create_connection, ("{host}", {port}), 1)
"""),
    Attack("network", TRY + """
import socket
attempt(socket.create_connection, ("192.0.2.1", 80), 1)
attempt(socket.getaddrinfo, "example.org", 80)
"""),
    Attack("abstract-socket", TRY + """
import socket
attempt(socket.socket(socket.AF_UNIX).connect, "\\0{socket}")
"""),
    Attack("files-of-the-grader", TRY + """
import os
attempt(open, "{canary}")
attempt(os.listdir, os.path.dirname("{canary}"))
seen = []
for folder, folders, names in os.walk("/"):
    folders[:] = [f for f in folders if f not in ("proc", "sys", "usr", "lib", "lib64")]
    seen += [os.path.join(folder, name) for name in names
             if name.endswith((".db", ".ipynb")) or name == "nbgrader_config.py"]
print("ESCAPED" if [p for p in seen if "gradebook" in p or "canary" in p] else "nothing found")
"""),
    Attack("environment-of-the-grader", """
import os
everything = str(dict(os.environ))
for process in filter(str.isdigit, os.listdir("/proc")):
    try:
        everything += open(f"/proc/{process}/environ").read()
    except OSError:
        pass
print("ESCAPED" if "CANARY" in everything else "nothing found")
"""),
    Attack("written-outside", TRY + """
import os, sys, torch
for place in ("/", "/usr", "/etc", "/course", "/dev", sys.prefix, os.path.dirname(torch.__file__)):
    attempt(open, os.path.join(place, "canary"), "w")
"""),
    Attack("mounts-and-namespaces", """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for flag in (0x10000000, 0x00020000, 0x40000000):  # user, mount, network
    print("ESCAPED" if libc.unshare(flag) == 0 else "refused")
print("ESCAPED" if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0 else "refused")
print("ESCAPED" if libc.chroot(b"/tmp") == 0 else "refused")
print("ESCAPED" if libc.setuid(0) == 0 else "refused")
"""),
    Attack("imported-references", """
import importlib
for name in ("attention_lab.check.steps", "attention_lab.check.references", "classroom"):
    try:
        module = importlib.import_module(name)
        split_heads = module.split_heads
        attention_scores = module.attention_scores
        split_heads(torch.ones(2, 3, 4), 2).shape == (2, 2, 3, 2) and print("ESCAPED", name)
    except (ImportError, AttributeError) as error:
        print("refused:", error)
""", after="from attention_lab.check.steps import attention_scores, split_heads"),
    Attack("references-on-disk", """
import os, attention_lab
places = (attention_lab.__path__[0], "/course", "/scratch")
walks = (walk for place in places for walk in os.walk(place))
files = [os.path.join(folder, name) for folder, _, names in walks for name in names]
answers = ("steps.", "references.")
found = [file for file in files if os.path.basename(file).startswith(answers)
         and "attention_lab" in file]
print("ESCAPED" if found else "nothing found", found)
"""),
]  # fmt: skip

ATTACKS = [
    *COMPARISONS, *SHELL, *MESSAGES, *DEATHS, *BOMBS, *TRACES, *SIGNALS, *OUTSIDE
]  # fmt: skip
