import type { PullRequestState } from '../../../app/github/github-api.ts';
import { branchOf, ownUrl, type Fate, type ModelGit } from './model-git.ts';
import type { ModelHub } from './model-hub.ts';
import { branch } from './terms.ts';

const forkUrl = 'https://github.com/mallory/agents';

/** A pull request of the model, and what happened to it. */
export interface ModelPull {
  state: PullRequestState;
  /** The commits that it had, oldest first. */
  pushed: string[];
  /** When it was closed for good, and for a time (ms since the epoch). */
  closedAt: number;
  closed: { from: number; until: number }[];
  changedAt: number;
  /** The commits whose preview people with write access requested by their names. */
  approved: Set<string>;
  /** How often a preview was requested, by whomever. */
  requested: number;
}

/** What happens to an open or a closed pull request. */
export type PullChange = 'push' | 'close' | 'reopen' | 'label' | 'unlabel' | 'merge';

/** The action of the event by which GitHub tells of a change. */
const actions: Record<PullChange, string> = {
  push: 'synchronize',
  close: 'closed',
  reopen: 'reopened',
  label: 'labeled',
  unlabel: 'unlabeled',
  merge: 'closed',
};

/** The pull requests of the one repository, by their numbers. */
export class ModelPulls {
  readonly #hub: ModelHub;
  readonly #git: ModelGit;
  readonly #now: () => number;
  readonly #pulls = new Map<number, ModelPull>();

  constructor(hub: ModelHub, git: ModelGit, now: () => number) {
    this.#hub = hub;
    this.#git = git;
    this.#now = now;
  }

  get(number: number): ModelPull | undefined {
    return this.#pulls.get(number);
  }

  [Symbol.iterator](): Iterator<[number, ModelPull]> {
    return this.#pulls[Symbol.iterator]();
  }

  /** Someone opens a pull request. */
  open(number: number, isFork: boolean, named?: string): ModelPull {
    const headRef = `branch-${number}`;
    const headUrl = isFork ? forkUrl : ownUrl;
    const at = branchOf(headUrl, headRef);
    const base = this.#git.branches.get(branch);
    if (base !== undefined) this.#git.point(at, base);
    const headSha = this.#commit(at, 'good', named);
    const state: PullRequestState = {
      headSha,
      baseBranch: branch,
      isOpen: true,
      isMerged: false,
      labels: [],
      headRef,
      isFork,
      repositoryUrl: ownUrl,
      headUrl,
      ...(isFork ? {} : { headBranch: headRef }),
    };
    this.#hub.pulls.set(number, state);
    const changedAt = this.#now();
    const pull = {
      state,
      pushed: [headSha],
      closedAt: Infinity,
      closed: [],
      changedAt,
      approved: new Set<string>(),
      requested: 0,
    };
    this.#pulls.set(number, pull);
    return pull;
  }

  /** @returns the action of its event; undefined where nothing changes. */
  change(number: number, how: PullChange, fate: Fate = 'good', named?: string): string | undefined {
    const pull = this.#pulls.get(number);
    if (!pull) return undefined;
    const { state } = pull;
    if (how === 'push') {
      state.headSha = this.#commit(branchOf(state.headUrl ?? '', state.headRef), fate, named);
      pull.pushed.push(state.headSha);
    } else if (how === 'label' || how === 'unlabel') state.labels = how === 'label' ? ['preview'] : [];
    else {
      const opens = how === 'reopen';
      if (state.isOpen === opens || (opens && state.isMerged)) return undefined;
      state.isOpen = opens;
      state.isMerged = how === 'merge';
      if (opens) pull.closed.push({ from: pull.closedAt, until: this.#now() });
      pull.closedAt = opens ? Infinity : this.#now();
    }
    pull.changedAt = this.#now();
    return actions[how];
  }

  #commit(at: string, fate: Fate, named: string | undefined): string {
    return this.#git.commit(at, { message: 'Try it', paths: ['agent.py'], fate }, named);
  }
}
