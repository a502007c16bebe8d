"""What every test starts from."""

import signal

# A shell that starts `make test` in the background has it ignore Ctrl-C, and every process it starts would
# inherit that: the tests of Ctrl-C would wait for nothing.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
