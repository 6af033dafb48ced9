"""Pass TCP connections on to another address of this machine, and count their bytes.

    relay.py HOST:PORT ADDRESS_FILE COUNT_FILE

Writes its own HOST:PORT to ADDRESS_FILE when it listens, and the bytes passed so far, there
and back, to COUNT_FILE whenever a connection ends. Runs until it is told to stop.
"""

import contextlib
import socket
import sys
import threading
from pathlib import Path


class Relay:
    """A listener on a free loopback port that passes on to ``target`` and counts."""

    def __init__(self, target: str, count_file: Path) -> None:
        host, port = target.rsplit(":", 1)
        self.target = (host, int(port))
        self.count_file = count_file
        self.total = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "{}:{}".format(*self.listener.getsockname())
        self.count_file.write_text("0\n")

    def run(self) -> None:
        """Take connections for ever, each in threads of its own."""
        while True:
            near, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(near,), daemon=True).start()

    def serve(self, near: socket.socket) -> None:
        """Pass one connection on, both ways, until both ends have ended it."""
        with near, socket.create_connection(self.target) as far:
            back = threading.Thread(target=self.copy, args=(far, near))
            back.start()
            self.copy(near, far)
            back.join()
        with self.lock:
            self.count_file.write_text(f"{self.total}\n")

    def copy(self, source: socket.socket, sink: socket.socket) -> None:
        """Copy one direction until ``source`` ends."""
        try:
            while chunk := source.recv(1 << 18):
                with self.lock:
                    self.total += len(chunk)
                sink.sendall(chunk)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            # One end is gone: wake the thread of the other direction too.
            for end in (source, sink):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)


def main() -> None:
    """Listen, say where, and pass on."""
    target, address_file, count_file = sys.argv[1:]
    relay = Relay(target, Path(count_file))
    Path(address_file).write_text(relay.address + "\n")
    relay.run()


if __name__ == "__main__":
    main()
