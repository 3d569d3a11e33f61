/** The bytes of a stream; undefined where there are more than `max`: the rest is then not received. */
export async function readBounded(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  max: number,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the stream.
  for await (const chunk of stream) {
    size += chunk.byteLength;
    if (size > max) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
