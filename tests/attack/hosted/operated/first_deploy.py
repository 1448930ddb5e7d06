"""The first deploy and a restore by the operations page, command by command, on machines that have nothing of ours.

python -m tests.attack.hosted.operated.first_deploy --deploys 1

The machine is this one's system with a layer of its own over it, in a network of its own: what the commands write stays
in the layer. The service and the sign-in provider are on that network, too. Then somebody signs in by https through
nginx, stores their key, and gets a value. It is backed up, and put back on a second such machine: there the old
session is over, and who signs in gets the value by the key that they stored on the first one. It needs Linux, root,
nginx, Redis and the system's own Python with venv.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil

from addin.config.authorities import trusted
from dataservice.server import Store, import_directory, running, write_sample
from tests.addin.backend.sign_in.identity_provider import CLIENT_ID, CLIENT_SECRET, provider
from tests.attack.parts.told import Told, conclude

PROJECT = Path(__file__).resolve().parents[4]
PAGE = PROJECT / "docs" / "operations.md"
HOST = "addin.example.com"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
STOP_S = 30.0
NEW_MOUNTS, NEW_NETWORK = 0x00020000, 0x40000000
REDIS = {"REDIS_FOLDER": "/var/lib/redis", "REDIS_SETTINGS": "/etc/redis/redis.conf", "BACKUP": "/var/backups/addin"}
CERTIFICATE = ["-newkey", "rsa:2048", "-nodes", "-days", "90", "-subj", f"/CN={HOST}"]


@dataclass(frozen=True)
class Machine:
    """A machine: the folder that is its root."""

    root: Path

    def run(self, code: str, **environ: str) -> str:
        """Run commands as root in the checkout; what they print. Raises `AssertionError` for one that fails."""
        command = ["chroot", str(self.root), "bash", "-euo", "pipefail", "-c", f"cd {PROJECT}\n{code}"]
        kept = {name: text for name, text in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
        here = {"PATH": PATH, "HOME": "/root", **kept, **environ}
        done = subprocess.run(command, env=here, capture_output=True, text=True, check=False)
        sys.stdout.write(done.stdout + done.stderr)
        if done.returncode:
            raise AssertionError(f"this failed ({done.returncode}):\n{code}")
        return done.stdout

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        """Write a file of its own."""
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(mode)

    def end(self) -> None:
        """End what was started there."""
        pids = [int(file.read_text(encoding="ascii")) for file in (self.root / "run/services").glob("*.pid")]
        started = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
        for process in started:
            process.terminate()
        psutil.wait_procs(started, timeout=STOP_S)


def blocks() -> dict[str, str]:
    """The commands of the page for a server, by title."""
    told = r'```sh title="On an? (?:empty )?server: ([\w ]+)"\n(.*?)```'
    return dict(re.findall(told, PAGE.read_text("utf-8"), flags=re.DOTALL))


def may_be_made() -> str:
    """Return why no such machine can be made here; empty if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "this needs Linux and root"
    missing = [name for name in ("nginx", "redis-server", "chroot", "curl") if not shutil.which(name, path=PATH)]
    return f"these are not here: {', '.join(missing)}" if missing else ""


@contextmanager
def empty_machine() -> Iterator[Machine]:
    """A machine inside the block; this process is in its network from then on, so it has to be one of its own."""
    _unshare(NEW_MOUNTS)
    _shell("mount --make-rprivate /")
    with TemporaryDirectory(prefix="addin-machine-") as name:
        root = Path(name, "root")
        _shell(f"mount -t tmpfs tmpfs {name} && mkdir {name}/over {name}/work {root}")
        layers = f"lowerdir=/,upperdir={name}/over,workdir={name}/work"
        _shell(f"mount -t overlay overlay -o {layers} {root}")
        _shell(f"mount -t proc proc {root}/proc && mount --rbind /dev {root}/dev && mount -t tmpfs tmpfs {root}/run")
        machine = Machine(root)
        try:
            yield machine
        finally:
            machine.end()
            _shell(f"umount --lazy {root} && umount --lazy {name}")


def _unshare(what: int) -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(what):
        raise OSError(ctypes.get_errno(), "no namespace of its own")


def _shell(code: str) -> None:
    subprocess.run(["bash", "-euc", code], check=True)


def deploy(wheel: Path, folder: Path) -> None:
    """Run the page's commands on two machines. Raises `AssertionError` for what goes wrong."""
    page = blocks()
    write_sample(folder / "data")
    with ExitStack() as stack:
        machine = stack.enter_context(empty_machine())
        _install(machine, wheel, page)
        machine.run("systemd-analyze verify --man=no addin@8765.service")
        another = stack.enter_context(empty_machine())
        _install(another, wheel, page)
        _unshare(NEW_NETWORK)
        _shell("ip link set lo up")
        store = stack.enter_context(Store(folder / "service.db"))
        import_directory(store, folder / "data")
        service = stack.enter_context(running(store))
        identity = stack.enter_context(provider(sub="ada", name="Ada"))
        machine.run("systemctl start redis-server nginx")
        given = {"SERVICE": service.url, "ISSUER": identity.url, "CLIENT_ID": CLIENT_ID, "CLIENT_SECRET": CLIENT_SECRET}
        machine.run(page["settings"], **given)
        machine.run("echo DATA_SERVICE_CA_FILE=/etc/ssl/addin.pem >> /etc/addin/environment")
        session = _start_and_use(machine, page, key=store.create_key("pro"))
        machine.run(page["back up Redis"], **REDIS)
        machine.end()
        shutil.copytree(machine.root / "var/backups/addin", another.root / "var/backups/addin")
        another.run("systemctl start redis-server nginx")
        another.run(page["restore Redis"], **REDIS)
        _start_and_use(another, page, over=session)


def _start_and_use(
    machine: Machine, page: Mapping[str, str], *, key: str = "", over: httpx.Cookies | None = None
) -> httpx.Cookies:
    """Start it by the page, and get a value in a cell."""
    machine.run(page["start"], CURL_CA_BUNDLE="/etc/ssl/addin.pem")
    session = _use(machine.root / "etc/ssl/addin.pem", key, over)
    told = machine.run("addin people list")
    if "Ada" not in told:
        raise AssertionError(f"addin people list: {told}")
    return session


def _install(machine: Machine, wheel: Path, page: Mapping[str, str]) -> None:
    _prepare(machine, wheel)
    machine.run(page["install"])


def _prepare(machine: Machine, wheel: Path) -> None:
    """Put there what the page takes for granted: the checkout with a wheel, programs, a name, a certificate."""
    manager = f"#!/usr/bin/python3\n{(PROJECT / 'tests/attack/parts/service_manager.py').read_text('utf-8')}"
    for name in ("systemctl", "systemd-run"):
        machine.write(f"/usr/local/sbin/{name}", manager, 0o755)
    machine.write("/etc/hosts", f"127.0.0.1 localhost {HOST}\n")
    _shell(f"mount --bind {machine.root}/etc/hosts /etc/hosts")
    machine.write("/etc/nginx/sites-enabled/default", "")
    folder = machine.root / str(PROJECT / "dist").lstrip("/")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(wheel, folder)
    files = "-keyout /etc/ssl/addin.key -out /etc/ssl/addin.pem"
    machine.run(f"openssl req -x509 {' '.join(CERTIFICATE)} -addext subjectAltName=DNS:{HOST} {files} 2>/dev/null")


def _use(authority: Path, key: str, over: httpx.Cookies | None) -> httpx.Cookies:
    """Sign in by https, and get a value by this key, or the stored one; a session that is `over` gets none."""
    with httpx.Client(base_url=f"https://{HOST}", verify=trusted(authority), trust_env=False, timeout=30) as http:
        refused = httpx.post(
            f"https://{HOST}/functions/call",
            json={"calls": [["SIGNAL", "us-cpi"]]},
            cookies=over,
            verify=trusted(authority),
            trust_env=False,
        )
        signed_in = http.get("/sign-in", follow_redirects=True)
        if key:
            signed_in.raise_for_status()
            http.post("/me/key", json={"key": key}, headers={"origin": f"https://{HOST}"}).raise_for_status()
        answer = http.post("/functions/call", json={"calls": [["SIGNAL", "us-cpi"]]}).json()
        metrics, session = http.get("/metrics"), http.cookies
    seen: Mapping[str, object] = {
        "without a session": refused.status_code,
        "signed in": signed_in.status_code,
        "a number": isinstance(answer.get("answers", [{}])[0].get("value"), float),
        "metrics": metrics.status_code,
    }
    sys.stdout.write(f"{seen}\n{str(answer)[:300]}\n")
    if [*seen.values()] != [401, 200, True, 404]:
        raise AssertionError(f"{seen}: {answer}")
    return session


def main() -> None:
    """Run it from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deploys", type=int, default=1)
    parser.parse_args()
    if reason := may_be_made():
        sys.exit(reason)
    wrong = 0
    with TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder]
        subprocess.run(build, cwd=PROJECT, check=True, stdout=subprocess.DEVNULL)
        try:
            deploy(next(Path(folder).glob("*.whl")), Path(folder))
        except AssertionError as error:
            sys.stdout.write(f"{error}\n")
            wrong = 1
    conclude(Told(1, wrong=wrong))


if __name__ == "__main__":
    main()
