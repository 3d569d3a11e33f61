/** The most bytes in which a server says the id of its process: greetings and settings come before it. */
const greetingBytes = 65_536;

const byte = (letter: string): number => letter.charCodeAt(0);

/**
 * Returns a function that reads the first bytes of a Postgres server, chunk by chunk, up to its BackendKeyData message.
 * It returns the process id, `unknown` while the message has not arrived, and undefined when it does not come.
 *
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export function backendPidReader(): (chunk: Buffer) => number | 'unknown' | undefined {
  let rest = Buffer.alloc(0);
  let hasStarted = false;
  let total = 0;
  return (chunk) => {
    total += chunk.length;
    if (total > greetingBytes) return undefined;
    rest = Buffer.concat([rest, chunk]);
    // The refusal of TLS or GSS encryption is one byte without a length, before the first message.
    if (!hasStarted) while (rest[0] === byte('N')) rest = rest.subarray(1);
    while (rest.length >= 5) {
      hasStarted = true;
      const type = rest[0];
      const end = 1 + rest.readUInt32BE(1);
      if (type === byte('Z') || type === byte('E')) return undefined;
      if (type === byte('K') && rest.length >= 9) return rest.readInt32BE(5);
      if (rest.length < end || end < 5) return 'unknown';
      rest = rest.subarray(end);
    }
    return 'unknown';
  };
}
