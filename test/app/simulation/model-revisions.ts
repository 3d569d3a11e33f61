import type { HoldDecision } from '../../../src/contract/control/revision.ts';
import type { Timer } from './timer.ts';
import { branchOf, type ModelGit } from './model-git.ts';

/** Who had a revision made: the App for one of its intents, a workflow's Action, or the service at a push. */
export interface Maker {
  who: 'app' | 'action' | 'service' | 'setup';
  /** The idempotency key of the request, whether or not the service honours it. */
  key?: string | undefined;
}

/** The hold of a revision; `endsAt` is set while it is held, `decidedBy` once it is decided about. */
export interface ModelHold {
  seconds: number;
  endsAt?: number;
  decision?: HoldDecision;
  decidedBy?: Maker['who'] | 'person' | 'end';
  /** How often the App sent a decision that had taken effect before. */
  repeated: number;
}

/** A revision of the model. `build` is the revision whose build it reuses, if it builds none. */
export interface ModelRevision {
  id: string;
  madeBy: Maker;
  madeAt: number;
  status: string;
  /** The repository that it is built from, and the name of the branch there in the model. */
  repoUrl: string;
  branch: string;
  commit: string | undefined;
  message: string | undefined;
  hold: ModelHold | undefined;
  again: ModelRevision | undefined;
  /** The revision of another deployment whose build is deployed. */
  copied: ModelRevision | undefined;
  /** The commit that is built, whatever the head is. */
  pinned: string | undefined;
}

/** What the next revision is built from. */
export interface ModelSource {
  repoUrl: string;
  repoRef: string;
}

/** A moment at which a revision began to serve, and what served before. */
export interface Switch {
  at: number;
  revision: ModelRevision;
  former: ModelRevision | undefined;
}

/**
 * The revisions of one deployment. One is built at a time; of those that wait the newest starts and the older ones are
 * skipped, naming their successor. A revision of a ref has the ref's head at the moment when its build starts.
 */
export class ModelRevisions {
  readonly id: string;
  source: ModelSource;
  /** Oldest first. */
  readonly all: ModelRevision[] = [];
  readonly switches: Switch[] = [];
  active: ModelRevision | undefined;
  readonly #clock: Timer;
  readonly #git: ModelGit;
  readonly #random: () => number;
  #running: ModelRevision | undefined;
  readonly #interruptedOnce = new Set<string>();

  constructor(id: string, source: ModelSource, clock: Timer, git: ModelGit, random: () => number) {
    this.id = id;
    this.source = source;
    this.#clock = clock;
    this.#git = git;
    this.#random = random;
  }

  get latest(): ModelRevision | undefined {
    return this.all.at(-1);
  }

  get isBusy(): boolean {
    return this.#running !== undefined;
  }

  /** The revision that is held now. */
  get held(): ModelRevision | undefined {
    return this.all.find(({ hold }) => hold?.endsAt !== undefined && !hold.decision);
  }

  /** Makes a revision; `again` names the one whose build is used. */
  make(
    madeBy: Maker,
    again?: ModelRevision,
    holdSeconds?: number,
    { pinned, copied }: { pinned?: string | undefined; copied?: ModelRevision | undefined } = {},
  ): ModelRevision {
    const { repoUrl, repoRef } = this.source;
    const made: ModelRevision = {
      repoUrl,
      branch: branchOf(repoUrl, repoRef),
      id: `${this.id.slice(0, -4)}${(this.all.length + 1).toString(16).padStart(4, '0')}`,
      madeBy,
      madeAt: this.#clock.now(),
      status: 'CREATING',
      commit: (again ?? copied)?.commit,
      message: undefined,
      hold: holdSeconds === undefined ? undefined : { seconds: holdSeconds, repeated: 0 },
      again,
      copied,
      pinned,
    };
    this.all.push(made);
    this.#clock.after(0, () => this.#queue(made));
    return made;
  }

  #queue(made: ModelRevision): void {
    if (made.status !== 'CREATING') return;
    made.status = 'QUEUED';
    this.#pump();
  }

  #pump(): void {
    if (this.#running) return;
    const waiting = this.all.filter(({ status }) => status === 'QUEUED' || status === 'CREATING');
    const newest = waiting.pop();
    if (!newest) return;
    for (const older of waiting) {
      older.status = 'SKIPPED';
      older.message = `revision ${newest.id} replaced it`;
    }
    this.#running = newest;
    const isBuilt = newest.again !== undefined || newest.copied !== undefined;
    newest.status = isBuilt ? 'AWAITING_DEPLOY' : 'AWAITING_BUILD';
    this.#clock.after(500 + this.#random() * 2_000, () => (isBuilt ? this.#deploy(newest) : this.#build(newest)));
  }

  #build(made: ModelRevision): void {
    made.status = 'BUILDING';
    const head = this.#git.head(made.branch);
    if (!head) {
      this.#end(made, 'BUILD_FAILED', `there is no branch ${made.branch}`);
      return;
    }
    const sha = made.pinned ?? head.sha;
    // The commit is known once the checkout is there.
    this.#clock.after(this.#random() * 3_000, () => {
      made.commit = sha;
    });
    this.#clock.after(4_000 + this.#random() * 60_000, () => {
      const fate = this.#git.commits.get(sha)?.fate;
      if (fate === 'build-fails') this.#end(made, 'BUILD_FAILED', 'the install command failed');
      else if (fate === 'interrupted' && !this.#interruptedOnce.has(sha)) {
        this.#interruptedOnce.add(sha);
        this.#end(made, 'INTERRUPTED', 'the machine went away');
      } else this.#deploy(made);
    });
  }

  #deploy(made: ModelRevision): void {
    made.status = 'DEPLOYING';
    this.#clock.after(1_000 + this.#random() * 10_000, () => {
      const fate = this.#git.commits.get(made.commit ?? '')?.fate;
      if (fate === 'deploy-fails') this.#end(made, 'DEPLOY_FAILED', 'the agent left at once');
      else if (made.hold) this.#hold(made, made.hold);
      else this.#switch(made);
    });
  }

  #hold(made: ModelRevision, hold: ModelHold): void {
    // A hold may be nearly over by the time when the App looks.
    const ms = hold.seconds * (this.#random() > 0.9 ? 8 : 1_000);
    hold.endsAt = this.#clock.now() + ms;
    this.#clock.after(ms, () => {
      if (!hold.decision) this.decide(made, 'discarded', 'end');
    });
  }

  /** Decides about a revision that is held. */
  decide(made: ModelRevision, decision: HoldDecision, by: NonNullable<ModelHold['decidedBy']>): void {
    if (!made.hold) throw new Error(`${made.id} is not held`);
    made.hold.decision = decision;
    made.hold.decidedBy = by;
    if (decision === 'discarded') this.#end(made, 'INTERRUPTED', 'it was discarded before it got traffic');
    else this.#clock.after(this.#random() * 3_000, () => this.#switch(made));
  }

  #switch(made: ModelRevision): void {
    made.status = 'DEPLOYED';
    this.#clock.after(this.#random() < 0.3 ? 1_500 : 0, () => this.#serve(made));
  }

  #serve(made: ModelRevision): void {
    this.switches.push({ at: this.#clock.now(), revision: made, former: this.active });
    this.active = made;
    this.#end(made, 'DEPLOYED');
  }

  #end(made: ModelRevision, status: string, message?: string): void {
    made.status = status;
    made.message = message;
    this.#running = undefined;
    this.#pump();
  }
}
