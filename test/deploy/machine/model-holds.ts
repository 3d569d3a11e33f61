import type { HoldDecision, Revision } from '../../../src/contract/control/revision.ts';
import { ServiceError } from '../../../src/contract/service-error.ts';

/** Where a held revision of the model answers. */
export const heldAddress = (revisionId: string): string => `https://held.test/${revisionId}`;

/** The holds of a control service in memory: a revision that would go live waits for a decision, or for its end. */
export class ModelHolds {
  readonly #seconds = new Map<string, number>();

  request(revision: Revision, seconds: number): void {
    this.#seconds.set(revision.id, seconds);
    revision.hold = { address: heldAddress(revision.id), ends_at: null, decision: null };
  }

  /** Keeps a held revision from going live at `healthyAt`. Returns whether it does, or has ended it. */
  keep(revision: Revision, next: string, healthyAt: number, now: number): boolean {
    const { hold } = revision;
    if (!hold || hold.decision === 'promoted') return false;
    if (hold.decision === 'discarded' || revision.status === 'INTERRUPTED') return true;
    if (next !== 'DEPLOYED') return false;
    const endsAt = healthyAt + (this.#seconds.get(revision.id) ?? 0) * 1_000;
    revision.hold = { ...hold, ends_at: new Date(endsAt).toISOString() };
    revision.status = 'DEPLOYING';
    if (now >= endsAt) this.#end(revision, 'It was held and not promoted, so it was discarded.');
    return true;
  }

  /** As the service judges it: repeated, refused with a 409, or recorded. */
  decide(revision: Revision, decision: HoldDecision, why?: string): void {
    const { hold } = revision;
    if (hold?.decision === decision) return;
    if (!hold || hold.decision !== null || hold.ends_at === null || revision.status === 'INTERRUPTED')
      throw new ServiceError({
        kind: 'conflict',
        operation: 'decide',
        method: 'POST',
        address: 'https://control.test/v2',
        status: 409,
        effect: 'none',
      });
    if (decision === 'discarded') this.#end(revision, `It was discarded before it got traffic: ${why}`);
    else revision.hold = { ...hold, decision };
  }

  #end(revision: Revision, message: string): void {
    if (revision.hold) revision.hold = { ...revision.hold, decision: 'discarded' };
    revision.status = 'INTERRUPTED';
    revision.status_message = message;
  }
}
