import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/**
 * What Postgres keeps of a password (RFC 5803). Setting a role's password in this form keeps the password itself
 * out of statements, and so out of the server's log and its list of activity.
 *
 * @param password printable ASCII, for which no normalisation is needed.
 * @throws Error for other characters.
 */
export function scramVerifier(password: string, salt = randomBytes(16), iterations = 4096): string {
  if (!/^[\x20-\x7e]+$/.test(password)) throw new Error("A role's password must be of printable ASCII characters.");
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyed = (word: string) => createHmac('sha256', salted).update(word).digest();
  const storedKey = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const serverKey = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${storedKey}:${serverKey}`;
}
