import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Creates the token of a session, or the code of a one-time link: 256 random bits. */
export const makeToken = (): string => randomBytes(32).toString('base64url');

/** Whether a text has the form of a token. */
export const isToken = (text: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(text);

/** The stored hash of a token. With 256 random bits a plain hash can't be reversed. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** The CSRF token of a session. It follows from the session's token, so that nothing of it is stored. */
export const csrfTokenOf = (token: string): string =>
  createHmac('sha256', token).update('csrf token').digest('base64url');

/** Whether a sent CSRF token is the session's, in constant time. */
export const isCsrfTokenOf = (token: string, sent: string): boolean =>
  timingSafeEqual(hashToken(csrfTokenOf(token)), hashToken(sent));
