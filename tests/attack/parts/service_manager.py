"""What stands in for `systemctl` and `systemd-run` on a machine without systemd: starts what units say, as their user.

It takes the user, the environment, the credentials and the folders from the unit; what systemd forbids to a service
beyond that is checked by `systemd-analyze verify` alone. It runs on the system's own Python.
"""

import os
import pwd
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

RUN = Path("/run/services")
OTHERS = {
    "nginx": ["/usr/sbin/nginx", "-g", "daemon off;"],
    "redis-server": ["/usr/bin/redis-server", "/etc/redis/redis.conf", "--daemonize", "no"],
}


class Unit:
    """The lines of a unit's [Service]; a setting may stand there several times."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = [line.partition("=")[::2] for line in lines if "=" in line and not line.startswith("#")]

    def all(self, name: str) -> list[str]:
        """Every value of a setting."""
        return [value.strip() for key, value in self._lines if key.strip() == name]

    def one(self, name: str, otherwise: str = "") -> str:
        """The last value of a setting."""
        return (self.all(name) or [otherwise])[-1]

    def environ(self, credentials: Path) -> dict[str, str]:
        """The environment of its process."""
        found = {"PATH": os.environ["PATH"], "CREDENTIALS_DIRECTORY": str(credentials)}
        for line in self.all("Environment"):
            found.update(part.partition("=")[::2] for part in shlex.split(line))
        for named in self.all("EnvironmentFile"):
            file = Path(named.lstrip("-"))
            if file.exists() or not named.startswith("-"):
                lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
                found.update(line.partition("=")[::2] for line in lines)
        return found

    def start(self, name: str, command: list[str], **options: object) -> "subprocess.Popen[bytes]":
        """Start a command as the unit says."""
        user = pwd.getpwnam(self.one("User"))
        for setting, place in (("StateDirectory", "/var/lib"), ("CacheDirectory", "/var/cache")):
            if self.all(setting):
                _owned(Path(place, self.one(setting)), user, int(self.one(f"{setting}Mode", "0755"), 8))
        credentials = RUN / f"credentials of {name}"
        _owned(credentials, user, 0o700)
        for line in self.all("LoadCredential"):
            given, _, file = line.partition(":")
            (credentials / given).write_bytes(Path(file).read_bytes())
            os.chown(credentials / given, user.pw_uid, user.pw_gid)
        return subprocess.Popen(
            command,
            env=self.environ(credentials),
            user=user.pw_uid,
            group=user.pw_gid,
            extra_groups=[],
            umask=int(self.one("UMask", "0022"), 8),
            cwd="/",
            **options,
        )


def _owned(folder: Path, user: "pwd.struct_passwd", mode: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    os.chown(folder, user.pw_uid, user.pw_gid)
    folder.chmod(mode)


def start(name: str) -> None:
    """Start a service, whose output goes to the journal."""
    base, _, instance = name.partition("@")
    with (RUN / f"{name}.log").open("ab") as log:
        if base in OTHERS:
            process = subprocess.Popen(OTHERS[base], stdout=log, stderr=log, start_new_session=True)
        else:
            file = Path("/etc/systemd/system", f"{base}@.service" if instance else f"{base}.service")
            unit = Unit(file.read_text().replace("%i", instance).splitlines())
            command = shlex.split(unit.one("ExecStart"))
            process = unit.start(name, command, stdout=log, stderr=log, start_new_session=True)
    (RUN / f"{name}.pid").write_text(str(process.pid))


def tell(name: str, number: int) -> None:
    """Send a signal to a service's first process."""
    os.kill(int((RUN / f"{name}.pid").read_text()), number)


def stop(name: str) -> None:
    """End a service, and wait for that."""
    tell(name, signal.SIGTERM)
    pid = (RUN / f"{name}.pid").read_text()
    while Path("/proc", pid).exists() and "Z" not in Path("/proc", pid, "stat").read_text().split()[2]:
        time.sleep(0.05)


def systemctl(what: str, *names: str) -> None:
    """What `systemctl` was asked for."""
    for name in names:
        if what in ("enable", "start") and name != "--now":
            start(name)
        elif what == "reload":
            tell(name, signal.SIGHUP)
        elif what in ("stop", "restart"):
            stop(name)
            if what == "restart":
                start(name)


def systemd_run(*arguments: str) -> int:
    """Run a command with the properties given; its exit code."""
    properties = [each.partition("=")[2] for each in arguments if each.startswith("--property=")]
    first = next(n for n, each in enumerate(arguments) if not each.startswith("--"))
    return Unit(properties).start("run", [*arguments[first:]]).wait()


if __name__ == "__main__":
    RUN.mkdir(exist_ok=True)
    if Path(sys.argv[0]).name == "systemd-run":
        sys.exit(systemd_run(*sys.argv[1:]))
    systemctl(*sys.argv[1:])
