import contextlib
import random
import struct

import pytest

from landfall_worker.frames import MOST_BYTES, Frame, ProtocolError, decode, encode, length_of

FRAMES = [
    Frame({"kind": "ask", "id": 1, "args": {"text": "Grüße, 世界"}}),
    Frame({"kind": "done", "id": 2}, [b"one", b"", b"\x07" * 70_000]),
    Frame({}, [b"\x00\xff"]),
]


def read(data: bytes) -> Frame:
    assert length_of(data[:4]) == len(data) - 4
    return decode(data[4:])


@pytest.mark.parametrize("frame", FRAMES)
def test_reads_what_it_writes(frame):
    found = read(encode(frame))
    assert (found.header, list(found.attachments)) == (frame.header, list(frame.attachments))


def test_leaves_the_header_of_the_caller_as_it_is():
    header = {"kind": "done", "id": 1}
    encode(Frame(header, [b"x"]))
    assert header == {"kind": "done", "id": 1}


def test_refuses_a_number_that_json_lacks():
    with pytest.raises(ValueError, match="JSON"):
        encode(Frame({"value": float("nan")}))


class Huge(bytes):
    def __len__(self):
        return MOST_BYTES


def test_refuses_to_write_a_frame_that_is_too_long():
    with pytest.raises(ValueError, match="longer than"):
        encode(Frame({}, [Huge()]))


def test_refuses_a_length_beyond_the_limit():
    with pytest.raises(ProtocolError, match="longer than"):
        length_of(struct.pack(">I", MOST_BYTES + 1))


@pytest.mark.parametrize(
    ("header_length", "rest"),
    [
        pytest.param(100, b'{"id":', id="a header that is longer than its frame"),
        pytest.param(4, b"{id}", id="a header that is no JSON"),
        pytest.param(4, b'"\xff" ', id="a header that is no UTF-8"),
        pytest.param(4, b"null", id="a header that is no object"),
        pytest.param(11, b'{"sizes":1}', id="sizes that are no list"),
        pytest.param(14, b'{"sizes":[-1]}', id="a negative size"),
        pytest.param(16, b'{"sizes":[true]}x', id="a size that is no number"),
        pytest.param(13, b'{"sizes":[9]}', id="a size beyond the frame"),
        pytest.param(2, b"{}abc", id="bytes that no size names"),
    ],
)
def test_refuses(header_length, rest):
    with pytest.raises(ProtocolError):
        decode(struct.pack(">I", header_length) + rest)


def test_refuses_a_body_without_the_length_of_its_header():
    with pytest.raises(ProtocolError):
        decode(b"abc")


def test_ten_thousand_damaged_frames_are_refused_or_read_and_nothing_else():
    chance = random.Random(28)
    body = encode(FRAMES[0])[4:]
    for _ in range(10_000):
        damaged = bytearray(body)
        for _ in range(3):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        with contextlib.suppress(ProtocolError):
            decode(bytes(damaged))
