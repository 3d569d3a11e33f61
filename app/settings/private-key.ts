import { createPrivateKey } from 'node:crypto';

/** The key as PEM, or a problem that does not quote it. */
export type ReadPrivateKey = { ok: true; pem: string } | { ok: false; problem: string };

const framed = /-----BEGIN ((?:RSA )?PRIVATE KEY)-----([^-]*)-----END \1-----/;

/**
 * Reads a private key in every way in which people hand one over: as PEM, with its line breaks written as `\n` or
 * lost, and in base64.
 */
export function readPrivateKey(written: string): ReadPrivateKey {
  const text = (written.includes('-----BEGIN') ? written : fromBase64(written)).replaceAll('\\n', '\n');
  const [, kind, inside] = framed.exec(text) ?? [];
  if (kind === undefined || inside === undefined) {
    return { ok: false, problem: 'is no private key: it holds the whole .pem file, in base64 if you like' };
  }
  const lines = inside.replace(/\s+/g, '').match(/.{1,64}/g) ?? [];
  const pem = [`-----BEGIN ${kind}-----`, ...lines, `-----END ${kind}-----`, ''].join('\n');
  const isRsa = keyType(pem) === 'rsa';
  return isRsa ? { ok: true, pem } : { ok: false, problem: 'is damaged or no RSA key: copy the whole .pem file again' };
}

const fromBase64 = (text: string): string => Buffer.from(text, 'base64').toString('latin1');

function keyType(pem: string): string | undefined {
  try {
    return createPrivateKey(pem).asymmetricKeyType;
  } catch (error) {
    // The parser's message does not help, and may quote the key.
    if (error instanceof Error) return undefined;
    throw error;
  }
}
