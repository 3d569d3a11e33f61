import { isUtf8 } from 'node:buffer';
import { Webhooks } from '@octokit/webhooks';

/** The text of a body whose signature is right; undefined for any other. */
export type VerifySignature = (body: Buffer, signature: string) => Promise<string | undefined>;

/**
 * Verifies a webhook's signature over the raw bytes, in constant time, with each of the secrets: there are two during a
 * rotation.
 */
export function verifySignature(secrets: readonly [string, ...string[]]): VerifySignature {
  const verifiers = secrets.map((secret) => new Webhooks({ secret }));
  return async (body, signature) => {
    // The hash covers the decoded text, which equals the raw bytes only for valid UTF-8.
    if (body.length === 0 || !isUtf8(body)) return undefined;
    const text = body.toString('utf8');
    for (const verifier of verifiers) if (await verifier.verify(text, signature)) return text;
    return undefined;
  };
}
