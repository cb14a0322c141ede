"""A program that stands in for ssh: hosts are this machine or namespaces of it.

As with ssh, the remote command has a shell, pipes and a session of its own, and little of the environment; it goes on if ssh is
killed, but its stdin then ends.
"""
import json
import os
from pathlib import Path

TEXT = '''#!/usr/bin/python3
import json, os, subprocess, sys, threading
words, job = sys.argv[1:], json.loads({job!r})
while words[0].startswith("-"):
    del words[: 2 if words[0] == "-o" else 1]
host, command = words[0], " ".join(words[1:])
if host in job["gone"]:
    sys.exit(print(f"ssh: connect to host {{host}} port 22: No route to host", file=sys.stderr) or 255)
with open(job["said"], "a") as f:
    f.write(f"{{host}} {{' '.join(sys.argv[1:])}}\\n")
env = {{k: v for k, v in os.environ.items() if k in ("PATH", "HOME") or k.startswith("CUDART_")}}
shell = [*job["on"].get(host, []), "sh", "-c", command]
remote = subprocess.Popen(shell, stdin=subprocess.PIPE, start_new_session=True, env=env, cwd="/")

def feed():
    while data := os.read(0, 4096):
        remote.stdin.write(data)
        remote.stdin.flush()
    remote.stdin.close()

threading.Thread(target=feed, daemon=True).start()
status = remote.wait()
os._exit(status if status >= 0 else 255)
'''


class Ssh:
    """Puts ssh into a folder of its own. `on`: the words before a command on a host; `gone`: hosts that don't answer."""

    def __init__(self, folder, on=(), gone=()):
        folder.mkdir()
        self.said, path = folder / "said", folder / "ssh"
        job = {"on": dict(on), "gone": list(gone), "said": str(self.said)}
        path.write_text(TEXT.format(job=json.dumps(job)))
        path.chmod(0o755)
        self.folder = folder

    def env(self, **more):
        """The environment in which it is found."""
        own = {k: v for k, v in os.environ.items() if k != "SHARDCC_SECRET"}
        return {**own, "PATH": f"{self.folder}:{os.environ['PATH']}", **more}

    def hosts(self, *lines):
        """A file of hosts."""
        path = self.folder / f"hosts{len(list(self.folder.iterdir()))}"
        path.write_text("".join(f"{line}\n" for line in lines))
        return path


def is_run(pid, program):
    """Does the process run the program? Zombies don't."""
    try:
        return os.readlink(f"/proc/{pid}/exe") == str(program) and ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def processes_of(program):
    """Those that run it."""
    return [int(x.name) for x in Path("/proc").glob("[0-9]*") if is_run(x.name, program)]
