import * as fc from 'fast-check';
import { GitHubApiError, InstallationPaused } from '../../../app/github/github-api.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';

/** The other side of a process's calls. */
export type Party = 'store' | 'githubApi' | 'control';

/**
 * What goes wrong with a call:
 * - `refused`: a response without effect (503 with nothing carried out, a refused connection)
 * - `lost-before`, `lost-after`: no response, and the request did not, or did, take effect
 * - `broken-before`, `broken-after`: the same with a 502 as the response
 * - `paused`: GitHub rate-limits the installation (other parties: as `refused`)
 */
export const faultKinds = ['refused', 'lost-before', 'lost-after', 'broken-before', 'broken-after', 'paused'] as const;
export type FaultKind = (typeof faultKinds)[number];

/**
 * The `nth` call (from 1) of `party` that may be hit after the fault was laid fails so; `operation` narrows it down.
 */
export interface Fault {
  party: Party;
  operation?: string;
  nth: number;
  kind: FaultKind;
}

/** A fault of any call, whichever operation that is. */
export const anyFault: fc.Arbitrary<Fault> = fc.record({
  party: fc.constantFrom('githubApi', 'control', 'store'),
  nth: fc.integer({ min: 1, max: 12 }),
  kind: fc.constantFrom(...faultKinds),
});

/** Faults that lie in wait. */
export class Faults {
  #waiting: { fault: Fault; left: number }[] = [];

  lay(fault: Fault): void {
    this.#waiting.push({ fault, left: fault.nth });
  }

  /** Everything goes well from now on. */
  clear(): void {
    this.#waiting = [];
  }

  /** What happens to this call. */
  next(party: Party, operation: string): FaultKind | undefined {
    let hit: FaultKind | undefined;
    for (const each of this.#waiting) {
      const { fault } = each;
      if (fault.party !== party || (fault.operation !== undefined && fault.operation !== operation)) continue;
      each.left -= 1;
      if (each.left === 0) hit ??= fault.kind;
    }
    this.#waiting = this.#waiting.filter(({ left }) => left > 0);
    return hit;
  }
}

/** Operations that change something: only their failures can leave open whether they took effect. */
const writes = new Set([
  'createDeployment',
  'deleteDeployment',
  'patchDeployment',
  'redeployRevision',
  'promoteRevision',
  'discardRevision',
  'writeCheck',
  'makeDeployment',
  'writeDeploymentStatus',
  'writeComment',
  'react',
]);

/** The failure as the caller sees it. */
export function failureOf(party: Party, operation: string, kind: FaultKind, now: number): Error {
  const effect = kind === 'refused' || kind === 'paused' || !writes.has(operation) ? 'none' : 'unknown';
  const broken = kind.startsWith('broken');
  if (party === 'store') return new Error(`the database is unavailable (${operation})`);
  if (party === 'githubApi') {
    if (kind === 'paused') return new InstallationPaused(1, now + 60_000, 'a secondary rate limit');
    return new GitHubApiError(`${operation} failed`, broken ? 502 : kind === 'refused' ? 503 : undefined, effect);
  }
  if (broken) return serviceError('busy', operation, { status: 502, effect });
  return serviceError(kind === 'refused' ? 'busy' : 'unreachable', operation, {
    ...(kind === 'refused' ? { status: 429 } : {}),
    effect,
  });
}

/** Whether the request took effect before it failed. */
export const tookEffect = (kind: FaultKind): boolean => kind === 'lost-after' || kind === 'broken-after';
