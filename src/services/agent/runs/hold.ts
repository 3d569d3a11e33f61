import type { Storage } from '../storage/open.ts';

/**
 * Whether the revision of this process is held: built and healthy, but without traffic. Runs that are created at a held
 * process are marked with its revision, so that no process of another revision executes them, and a held process
 * executes no others. Whoever finds marked runs without a process once the hold is over ends them.
 */
export class Hold {
  readonly revisionId: string | null;
  readonly #storage: Storage;
  #until: Date | undefined;

  /** @param until the latest end of the hold; undefined where the revision is not held. */
  constructor(storage: Storage, revisionId: string | null, until?: Date) {
    this.#storage = storage;
    this.revisionId = revisionId;
    this.#until = revisionId === null ? undefined : until;
  }

  get isHeld(): boolean {
    return this.#until !== undefined;
  }

  /** The mark of runs that are created now; null while the revision is not held. */
  get mark(): string | null {
    return this.isHeld ? this.revisionId : null;
  }

  /** Records the hold. For a revision that is not held it releases its marked runs: a kill may have prevented that. */
  async begin(): Promise<void> {
    if (this.revisionId === null) return;
    if (this.#until === undefined) return this.#release();
    await this.#storage.pool.query(
      `with former as (delete from holds where until < clock_timestamp() - interval '1 day' and revision_id <> $1)
       insert into holds (revision_id, until) values ($1, $2) on conflict (revision_id) do update set until = excluded.until`,
      [this.revisionId, this.#until],
    );
  }

  /** Ends the hold for traffic: its runs are like all others from now on. */
  async promote(): Promise<void> {
    this.#until = undefined;
    await this.#release();
  }

  /** Ends the hold for good: another process ends its unfinished runs once this one has exited. */
  async discard(): Promise<void> {
    await this.#storage.pool.query('update holds set until = clock_timestamp() where revision_id = $1', [
      this.revisionId,
    ]);
  }

  async #release(): Promise<void> {
    await this.#storage.pool.query(
      `with hold as (delete from holds where revision_id = $1)
       update runs set held_by = null where held_by = $1 and status in ('pending', 'running')`,
      [this.revisionId],
    );
  }
}
