"""A command that is told to end by SIGTERM cleans up as after Ctrl-C."""

import signal

import pytest

from addin.cli.stopping import ended_like_ctrl_c


@pytest.mark.parametrize("ctrl_c", [signal.default_int_handler, signal.SIG_IGN])
def test_sigterm_ends_a_command_as_ctrl_c_does_also_in_the_background_of_a_script(ctrl_c):
    before = signal.signal(signal.SIGINT, ctrl_c), signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(KeyboardInterrupt), ended_like_ctrl_c():
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is before[1]
    finally:
        signal.signal(signal.SIGINT, before[0])
