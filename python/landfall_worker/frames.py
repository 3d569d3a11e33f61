"""Frames of the connection to the agent server: a JSON header with attachments of bytes."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

#: The longest frame (bytes).
MOST_BYTES = 1024**3

#: Writes all JSON of the worker; `json.dumps` makes an encoder for each call.
ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_LENGTHS = struct.Struct(">II")
_LENGTH = struct.Struct(">I")
#: The bytes before a frame that say how long it is.
LENGTH_BYTES = _LENGTH.size


class ProtocolError(Exception):
    """The other side has sent what is no frame."""


@dataclass(frozen=True)
class Frame:
    """A header, and its attachments in their order."""

    header: dict[str, Any]
    attachments: Sequence[bytes] = ()


def encode(frame: Frame) -> bytes:
    """The bytes of a frame.

    Raises:
        ValueError: it is longer than the other side takes, or holds a number that JSON lacks.
    """
    header = dict(frame.header)
    if frame.attachments:
        header["sizes"] = [len(each) for each in frame.attachments]
    # Half of a surrogate pair, which an error may quote, is written as JSON escapes it.
    text = ENCODER.encode(header).encode(errors="backslashreplace")
    length = _LENGTH.size + len(text) + sum(len(each) for each in frame.attachments)
    if length > MOST_BYTES:
        raise ValueError(f"A frame of {length} bytes is longer than {MOST_BYTES}.")
    return b"".join((_LENGTHS.pack(length, len(text)), text, *frame.attachments))


def decode(body: bytes) -> Frame:
    """The frame of the bytes that follow its length.

    Raises:
        ProtocolError: they are none.
    """
    if len(body) < _LENGTH.size:
        raise ProtocolError("A frame is shorter than the length of its header.")
    (length,) = _LENGTH.unpack_from(body)
    start = _LENGTH.size + length
    if start > len(body):
        raise ProtocolError("The header of a frame is longer than the frame.")
    try:
        header = json.loads(body[_LENGTH.size : start])
    except (ValueError, RecursionError) as error:
        raise ProtocolError("The header of a frame is no JSON.") from error
    if not isinstance(header, dict):
        raise ProtocolError("The header of a frame is no object.")
    sizes = header.pop("sizes", [])
    if not isinstance(sizes, list) or not all(type(each) is int and each >= 0 for each in sizes):
        raise ProtocolError("The sizes of a frame are no list of lengths.")
    if start + sum(sizes) != len(body):
        raise ProtocolError("The attachments of a frame have other sizes than it says.")
    attachments = []
    for size in sizes:
        attachments.append(body[start : start + size])
        start += size
    return Frame(header, attachments)


def length_of(prefix: bytes | bytearray) -> int:
    """The length of what follows the first 4 bytes of a frame.

    Raises:
        ProtocolError: it is longer than a frame may be.
    """
    (length,) = _LENGTH.unpack(prefix)
    if length > MOST_BYTES:
        raise ProtocolError(f"A frame of {length} bytes is longer than {MOST_BYTES}.")
    return int(length)
