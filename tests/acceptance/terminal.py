"""A terminal for a test: what the program prints is read as it comes, and a person's keys are typed."""

import codecs
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
from typing import Any

from tests.acceptance.conftest import COMMAND, House
from tests.acceptance.grid import Grid

PATIENCE = 20.0


class Terminal:
    """A command on a terminal of `columns` x `rows`, with stdin, stdout and stderr on it, as its foreground job."""

    def __init__(self, house: House, *arguments: str, columns: int = 80, rows: int = 24, **env: str) -> None:
        self.screen = ""
        self.grid = Grid(columns, rows)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._met = 0
        self._master, slave = pty.openpty()
        self.resize(columns, rows)

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

    def expect(self, *texts: str) -> None:
        """Reads until each of `texts` was printed, one after the other, in whatever colours.

        All of it has to come after what was expected before.
        """
        for text in texts:
            while (found := self.grid.printed.find(text, self._met)) < 0:
                if not self._read():
                    raise AssertionError(f"{text!r} was never printed: {self.grid.printed[self._met :]!r}")
            self._met = found + len(text)

    def sees(self, *texts: str) -> None:
        """Reads until each of `texts` stands in the window, all at once. Not for a window that changes its size."""
        while not (self.grid.whole and all(text in self.grid.text() for text in texts)):
            if not self._read():
                raise AssertionError(f"{texts} were never seen:\n{self.grid.text()}")

    def resize(self, columns: int, rows: int) -> None:
        """The window gets another size."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self) -> list[Any]:
        """How the terminal treats what is typed, as `tcgetattr` tells."""
        return termios.tcgetattr(self._master)

    def set_modes(self, modes: list[Any]) -> None:
        """Another program has its own way with the terminal."""
        termios.tcsetattr(self._master, termios.TCSANOW, modes)

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
            raise AssertionError(f"nothing more was printed: {self.grid.text()}")
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the last process that had it open is gone
            return False
        text = self._decoder.decode(data)
        self.screen += text
        self.grid.feed(text)
        return bool(data)
