import { generateKeyPairSync } from 'node:crypto';

/** A new RSA key as GitHub hands one out. */
export const newPrivateKey = (type: 'pkcs1' | 'pkcs8' = 'pkcs1'): string =>
  generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type, format: 'pem' }).toString();
