import { createHmac, timingSafeEqual } from 'node:crypto';
import type { TracingTarget } from '../compute/compute.ts';

/** The tokens with which agents report their runs, each valid for one tracing project. */
export type Tracing = ReturnType<typeof createTracing>;

/**
 * Makes tokens from a key of this installation: derived, not kept, so that nothing in the database opens a project.
 * @param key a secret of at least 32 bytes that outlives restarts.
 */
export function createTracing(key: Buffer) {
  const hash = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  const tokenOf = (projectId: string): string => `lft_${hash(`runs of ${projectId}`).toString('base64url')}`;
  return {
    /** The token of a project: a secret, the same at every start, so that running agents can still report. */
    tokenOf,
    /** Whether it is the token of this project; takes the same time wherever it differs: hashes have one length. */
    isTokenOf: (projectId: string, token: string): boolean =>
      timingSafeEqual(hash(`token ${token}`), hash(`token ${tokenOf(projectId)}`)),
  };
}

/** Where an agent reports its runs. @param baseUrl the service's address as the agent reaches it. */
export const tracingTarget = (
  tracing: Pick<Tracing, 'tokenOf'>,
  baseUrl: string,
  projectId: string,
): TracingTarget => ({ url: `${baseUrl}/v1/projects/${projectId}/runs`, token: tracing.tokenOf(projectId) });
