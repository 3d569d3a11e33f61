"""The end of the agent server, for tests of the other one."""

import socket

from landfall_worker.frames import Frame, decode, encode, length_of

#: Nothing waits this long, also on a busy machine.
SECONDS = 60


class Server:
    """Does what a test tells it."""

    def __init__(self, end: socket.socket) -> None:
        end.settimeout(SECONDS)
        self.end = end

    def send(self, header, *attachments):
        self.end.sendall(encode(Frame(header, attachments)))

    def ask(self, number, op, args=None, *attachments):
        self.send({"kind": "ask", "id": number, "op": op, "args": args or {}}, *attachments)

    def receive(self) -> Frame:
        return decode(self._exactly(length_of(self._exactly(4))))

    def header(self):
        return self.receive().header

    def _exactly(self, length):
        data = b""
        while len(data) < length:
            piece = self.end.recv(length - len(data))
            assert piece, "The worker has ended the connection."
            data += piece
        return data
