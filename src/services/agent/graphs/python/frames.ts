import { parseExactly } from '../../../../kit/exact-number.ts';
import { isObject } from '../../../../kit/json-object.ts';

/** A JSON header with attachments of bytes (docs/design/python-worker.md#frames). */
export interface Frame {
  header: Record<string, unknown>;
  attachments: readonly Uint8Array[];
}

/** The longest frame (bytes). */
const maxBytes = 2 ** 30;
const lengthBytes = 4;

/** The worker has sent what is no frame. */
export class ProtocolError extends Error {}

/** The bytes of a frame. @throws RangeError if it is longer than the other side takes. */
export function encodeFrame({ header, attachments }: Frame): Buffer {
  const sizes = attachments.map(({ byteLength }) => byteLength);
  const text = Buffer.from(JSON.stringify(sizes.length > 0 ? { ...header, sizes } : header));
  const length = lengthBytes + text.byteLength + sizes.reduce((sum, size) => sum + size, 0);
  if (length > maxBytes) throw new RangeError(`A frame of ${length} bytes is longer than ${maxBytes}.`);
  const lengths = Buffer.alloc(2 * lengthBytes);
  lengths.writeUInt32BE(length, 0);
  lengths.writeUInt32BE(text.byteLength, lengthBytes);
  return Buffer.concat([lengths, text, ...attachments]);
}

/** Finds the frames in what a socket brings, however that is cut into pieces. */
export class FrameReader {
  #pieces: Buffer[] = [];
  #bytes = 0;
  /** Bytes that the next step needs: a length, or the frame behind it. */
  #needed = lengthBytes;
  #isLength = true;

  /** The frames that a piece completes. @throws ProtocolError */
  push(piece: Buffer): Frame[] {
    this.#pieces.push(piece);
    this.#bytes += piece.byteLength;
    const frames: Frame[] = [];
    while (this.#bytes >= this.#needed) {
      const taken = this.#take(this.#needed);
      if (!this.#isLength) frames.push(decodeFrame(taken));
      this.#needed = this.#isLength ? lengthIn(taken) : lengthBytes;
      this.#isLength = !this.#isLength;
    }
    return frames;
  }

  #take(length: number): Buffer {
    const all = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces, this.#bytes);
    if (all === undefined) throw new ProtocolError('A frame is empty.');
    const rest = all.subarray(length);
    this.#pieces = rest.byteLength > 0 ? [rest] : [];
    this.#bytes = rest.byteLength;
    return all.subarray(0, length);
  }
}

function lengthIn(prefix: Buffer): number {
  const length = prefix.readUInt32BE(0);
  if (length > maxBytes) throw new ProtocolError(`A frame of ${length} bytes is longer than ${maxBytes}.`);
  if (length < lengthBytes) throw new ProtocolError('A frame is shorter than the length of its header.');
  return length;
}

function decodeFrame(body: Buffer): Frame {
  let start = lengthBytes + body.readUInt32BE(0);
  if (start > body.byteLength) throw new ProtocolError('The header of a frame is longer than the frame.');
  const { sizes = [], ...header } = headerIn(body.toString('utf8', lengthBytes, start));
  if (!Array.isArray(sizes)) throw new ProtocolError('The sizes of a frame are no list.');
  const attachments = sizes.map((size: unknown) => {
    if (typeof size !== 'number' || !Number.isInteger(size) || size < 0 || start + size > body.byteLength)
      throw new ProtocolError('The attachments of a frame have other sizes than it says.');
    start += size;
    return body.subarray(start - size, start);
  });
  if (start !== body.byteLength) throw new ProtocolError('A frame has more bytes than its attachments.');
  return { header, attachments };
}

function headerIn(text: string): Record<string, unknown> {
  let header: unknown;
  try {
    header = parseExactly(text);
  } catch (error) {
    throw new ProtocolError('The header of a frame is no JSON.', { cause: error });
  }
  if (!isObject(header)) throw new ProtocolError('The header of a frame is no object.');
  return { ...header };
}
