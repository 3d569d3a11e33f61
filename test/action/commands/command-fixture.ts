import { connectGitHub, type ConnectedGitHub } from '../../../src/action/github-connection.ts';
import { readCommand } from '../../../src/action/commands/given-command.ts';
import { runCommand } from '../../../src/action/commands/run-command.ts';
import type { BoundRun, CommandControl, Performance } from '../../../src/action/commands/performance.ts';
import type { Deployment } from '../../../src/contract/control/deployment.ts';
import type { Revision } from '../../../src/contract/control/revision.ts';
import type { Inputs } from '../../../src/deploy/file/input-table.ts';
import type { Outcome } from '../../../src/deploy/machine/outcome-types.ts';
import { LittleGitHub } from '../../github/little-github.ts';
import { deploymentOf } from './deployment-of.ts';

export const head = 'b'.repeat(40);
export const mainHead = 'a'.repeat(40);
const writtenAt = Date.parse('2026-03-01T12:00:00Z');

/** What a comment has besides its text. */
interface Said {
  login?: string;
  id?: number;
  issue?: object;
  comment?: object;
  sender?: object;
  action?: string;
  eventName?: string;
}

/** How a run of a command is started. */
interface Started {
  rerunBy?: string;
  afterMs?: number;
  only?: string;
}

/** A run that was made: its inputs, and what it was bound to. */
export interface Ran {
  inputs: Inputs;
  bound: Partial<BoundRun>;
  branch: string | undefined;
  file: string;
}

/** A repository with pull request 7 from `next` into `main`, which deploys `support`, and people who comment. */
export class CommandFixture {
  readonly github = new LittleGitHub();
  readonly runs: Ran[] = [];
  readonly warnings: string[] = [];
  readonly promoted: string[] = [];
  readonly deployments: { deployment: Deployment; revisions: Revision[] }[] = [];
  outcome: Outcome = { kind: 'rolled-back', passes: true, reason: 'Revision r3 is live.', changed: true, notes: [] };
  before: (ran: Ran) => void = () => undefined;
  #client: ConnectedGitHub | undefined;
  #events: unknown;

  async start(): Promise<void> {
    const address = await this.github.start();
    this.#client = connectGitHub(address, 'token', { userAgent: 'test', env: {}, retry: { attempts: 1 } });
    this.github.people.set('mona', { permission: 'write', id: 5 });
    this.github.heads.set('heads/main', mainHead);
    this.write('name: support\nsource: github\nrepo-url: https://github.test/acme/agents\nrepo-ref: main');
    this.pull({});
    this.deployments.push(deploymentOf('support', ['r2', 'r1']));
  }

  async stop(): Promise<void> {
    await this.#client?.close();
    await this.github.stop();
  }

  /** The deploy file of the default branch, or of a commit. */
  write(text: string, ref = ''): void {
    this.github.files.set(`${ref}:.github/landfall.yml`, text);
  }

  pull(over: object): void {
    const repo = { id: 4711, html_url: 'https://github.test/acme/agents', default_branch: 'main' };
    const base = { ref: 'main', repo };
    const pull = {
      number: 7,
      state: 'open',
      merged: false,
      locked: false,
      head: { ref: 'next', sha: head, repo },
      base,
    };
    this.github.pulls.set(7, { ...pull, ...over });
  }

  /** The head of the pull request is in a fork. */
  fork(): void {
    this.pull({ head: { ref: 'next', sha: head, repo: { id: 9, html_url: 'https://github.test/eve/agents' } } });
  }

  /** A person comments, and GitHub starts a run. */
  async say(body: string, said: Said & Started = {}): Promise<Outcome | string> {
    const { login = 'mona', id = this.github.nextId(), issue, comment, sender } = said;
    const user = { login, id: 5, type: 'User' };
    const at = new Date(writtenAt).toISOString();
    const times = { created_at: at, updated_at: at };
    const row = {
      id,
      body,
      user,
      ...times,
      issue_url: 'https://api.github.test/repos/acme/agents/issues/7',
      ...comment,
    };
    this.github.comments.push(row);
    const payload = {
      action: said.action ?? 'created',
      issue: { number: 7, pull_request: {}, ...issue },
      comment: { ...row },
      sender: sender ?? user,
    };
    this.#events = { eventName: said.eventName ?? 'issue_comment', payload };
    return this.again(said);
  }

  /** The run of the last comment is started again. */
  async again({ rerunBy, afterMs = 60_000, only }: Started = {}): Promise<Outcome | string> {
    if (!this.#client) throw new Error('not started');
    const client = this.#client;
    const read = readCommand(JSON.parse(JSON.stringify(this.#events)));
    if (read.kind === 'none') return read.why;
    const run: Performance['run'] = async (inputs, bound, { file, branch }) => {
      const ran = { inputs, bound, branch, file: file.text };
      this.before(ran);
      this.runs.push(ran);
      return this.outcome;
    };
    return runCommand({
      given: read.given,
      github: { client, repository: { owner: 'acme', name: 'agents' } },
      path: '.github/landfall.yml',
      only,
      sha: mainHead,
      rerunBy,
      runUrl: 'https://github.test/acme/agents/actions/runs/900',
      now: () => writtenAt + afterMs,
      options: () => ({}),
      connect: async () => ({ ok: true, control: this.#control() }),
      run,
      warn: (message) => this.warnings.push(message),
    });
  }

  /** The comments of the workflow. */
  answers(): string[] {
    return this.github.comments
      .filter(({ user }) => JSON.stringify(user).includes('Bot'))
      .map(({ body }) => String(body));
  }

  /** What the answer says, without its marks, in plain text. */
  said(): string {
    return (this.answers()[0] ?? '')
      .replaceAll(/^<!-- .* -->$/gm, '')
      .replaceAll(/<\/?code>/g, '')
      .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
      .trim();
  }

  reactions(): string[] {
    return [...this.github.reactions].map((each) => each.split(' ')[1] ?? '');
  }

  #control(): CommandControl {
    const find = (id: string) => this.deployments.find(({ deployment }) => deployment.id === id);
    const revisionOf = (id: string, revisionId: string): Revision =>
      find(id)?.revisions.find((each) => each.id === revisionId) ?? unknown(revisionId);
    const decide = async (id: string, revisionId: string, decision: 'promoted' | 'discarded'): Promise<Revision> => {
      const { hold, ...rest } = revisionOf(id, revisionId);
      if (decision === 'promoted') this.promoted.push(revisionId);
      return { ...rest, ...(hold ? { hold: { ...hold, decision } } : {}) };
    };
    return {
      listDeployments: async () => ({ resources: this.deployments.map(({ deployment }) => deployment), offset: 0 }),
      getDeployment: async (id) => find(id)?.deployment ?? unknown(id),
      getRevision: async (id, revisionId) => revisionOf(id, revisionId),
      listRevisions: async (id) => ({ resources: find(id)?.revisions ?? [], offset: 0 }),
      promoteRevision: (id, revisionId) => decide(id, revisionId, 'promoted'),
      discardRevision: (id, revisionId) => decide(id, revisionId, 'discarded'),
    };
  }
}

function unknown(id: string): never {
  throw new Error(`there is no ${id}`);
}
