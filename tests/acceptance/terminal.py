"""A terminal for a test: what the program prints is read as it comes, and a person's keys are typed."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from typing import Any

from tests.acceptance.conftest import COMMAND, House

PATIENCE = 20.0


class Terminal:
    """A command on a terminal of `columns` x `rows`, with stdin, stdout and stderr on it, as its foreground job."""

    def __init__(self, house: House, *arguments: str, columns: int = 80, rows: int = 24, **env: str) -> None:
        self.screen = ""
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

        def take_terminal() -> None:
            fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

        options: dict[str, Any] = {"stdin": slave, "stdout": slave, "stderr": slave, "start_new_session": True}
        self.process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=house.folder,
            env={**house.env, "TERM": "xterm-256color", **env},
            preexec_fn=take_terminal,
            **options,
        )
        os.close(slave)

    def wait_for(self, text: str) -> str:
        """Reads until `text` was printed; everything that was printed so far."""
        while text not in self.screen:
            if not self._read():
                raise AssertionError(f"{text!r} was never printed: {self.screen!r}")
        return self.screen

    def read_more(self) -> None:
        """Reads what comes next."""
        self._read()

    def type(self, keys: str) -> None:
        """Types `keys`; "\\x03" is Ctrl-C."""
        os.write(self._master, keys.encode())

    def close(self) -> None:
        """Closes the window: the program's terminal is gone."""
        os.close(self._master)
        self._master = -1

    def finish(self) -> int:
        """Reads to the end; the exit code."""
        while self._master >= 0 and self._read():
            pass
        code = self.process.wait(timeout=PATIENCE)
        if self._master >= 0:
            self.close()
        return code

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], PATIENCE)
        if not ready:
            raise AssertionError(f"nothing more was printed: {self.screen!r}")
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the last process that had it open is gone
            return False
        self.screen += data.decode(errors="replace")
        return bool(data)
