/** A parsed `Content-Digest`: no known algorithm, a SHA-256, or unreadable. */
export type RequestedDigest = { kind: 'none' } | { kind: 'sha-256'; digest: Buffer } | { kind: 'unreadable' };

/**
 * Parses a `Content-Digest` (RFC 9530): a dictionary of algorithms and byte sequences, as in `sha-256=:<base64>:`. Ignores
 * algorithms other than SHA-256.
 */
export function readContentDigest(header: string | undefined): RequestedDigest {
  if (header === undefined || header.trim() === '') return { kind: 'none' };
  let requested: RequestedDigest = { kind: 'none' };
  for (const member of header.split(',')) {
    const read = /^([a-z*][a-z0-9_.*-]*)=:([A-Za-z0-9+/]*={0,2}):$/.exec(member.trim());
    if (!read) return { kind: 'unreadable' };
    if (read[1] !== 'sha-256') continue;
    const digest = Buffer.from(read[2] ?? '', 'base64');
    if (digest.length !== 32) return { kind: 'unreadable' };
    requested = { kind: 'sha-256', digest };
  }
  return requested;
}
