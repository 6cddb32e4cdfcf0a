import subprocess
import sys

import pytest

NOBODY = 65534

PROGRAM = f"""
import ctypes, os, subprocess
from planlog.features.shell.privacy import hide_from_commands
if os.getuid() == 0:
    os.setuid({NOBODY})
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as it is for whoever was started by that user
def a_command_reads():
    done = subprocess.run(["grep", "-c", "the-key", f"/proc/{{os.getpid()}}/environ"], capture_output=True, text=True)
    return done.stdout.strip() == "1"
print(a_command_reads())
hide_from_commands()
print(a_command_reads())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="opt-in: there is no /proc elsewhere")
def test_a_command_cannot_read_the_environment_of_the_program_that_runs_it() -> None:
    env = {"ANTHROPIC_API_KEY": "the-key", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "True\nFalse\n"
