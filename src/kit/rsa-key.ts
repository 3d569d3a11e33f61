import { createPrivateKey } from 'node:crypto';

/** The key of a GitHub App as PEM, or why what was written is none: it lacks the frame, or what is in it is no RSA key. */
export type RsaKey = { kind: 'key'; pem: string } | { kind: 'unframed' } | { kind: 'damaged' };

const framed = /-----BEGIN ((?:RSA )?PRIVATE KEY)-----([^-]*)-----END \1-----/;

/** Reads a key as PEM, with its line breaks written out (`\n`, `\r\n`, escaped again) or lost, and in base64. */
export function readRsaKey(written: string): RsaKey {
  const text = written.includes('-----BEGIN') ? written : Buffer.from(written, 'base64').toString('latin1');
  const [, frame, inside] = framed.exec(text.replace(/\\{1,4}[nr]/g, '\n')) ?? [];
  if (frame === undefined || inside === undefined) return { kind: 'unframed' };
  const lines = inside.replace(/\s+/g, '').match(/.{1,64}/g) ?? [];
  const pem = [`-----BEGIN ${frame}-----`, ...lines, `-----END ${frame}-----`, ''].join('\n');
  try {
    return createPrivateKey(pem).asymmetricKeyType === 'rsa' ? { kind: 'key', pem } : { kind: 'damaged' };
  } catch {
    // The parser's message does not help, and may quote the key.
    return { kind: 'damaged' };
  }
}
