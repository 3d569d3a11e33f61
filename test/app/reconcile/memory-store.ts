import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CommandOutcome } from '../../../src/deploy/commands/outcomes.ts';
import type { CommandAction, CommandKey, StoredCommand, TakenCommand } from '../../../app/commands/stored-command.ts';
import type { InstallationRepository } from '../../../app/github/github-api.ts';
import { newIntent, type Intent, type IntentFields } from '../../../app/reconcile/intent.ts';
import { type DeployRequest } from '../../../app/reconcile/deploy-request.ts';
import { readIntent, toStored } from '../../../app/reconcile/stored-intent.ts';
import {
  freeLease,
  releaseLease,
  newQueueState,
  acquireLease,
  notifyQueue,
  type QueueState,
  type QueueTransition,
} from '../../../app/reconcile/queue-state.ts';
import type { Report, DesiredReport } from '../../../app/reconcile/report.ts';
import {
  LeaseLost,
  maxBaselines,
  type Baseline,
  type Changes,
  type DeploymentQueue,
  type Lease,
  type WorkStore,
} from '../../../app/reconcile/store.ts';

/** What a memory store is made with. */
export interface MemoryStoreOptions {
  now: () => number;
  /** Sends a job: `id` is a queue's deployment, or the report. `at` is not before now. */
  send?: (name: 'lane' | 'report', id: string, at: number) => void;
  /** A uuid; random ones when absent. */
  newId?: () => string;
}

interface StoredQueue {
  record: QueueState;
  deploymentQueue: DeploymentQueue;
}

const reportKey = (repositoryId: number, headSha: string, name: string): string =>
  JSON.stringify([repositoryId, headSha, name]);

/** The App's work in memory, for tests: each method does all that it does at once. Values are frozen. */
export class MemoryStore implements WorkStore {
  /** Every intent, oldest first. */
  readonly intents = new Map<string, Intent>();
  readonly reports = new Map<string, Report>();
  readonly commands = new Map<string, StoredCommand>();
  /** By their deployment. */
  readonly kept = new Map<string, readonly Baseline[]>();
  readonly #now: () => number;
  readonly #send: NonNullable<MemoryStoreOptions['send']>;
  readonly #newId: () => string;
  readonly #queues = new Map<string, StoredQueue>();
  readonly #causes = new Set<string>();
  readonly #reportIds = new Map<string, string>();
  #seq = 0;

  constructor({ now, send = () => undefined, newId = randomUUID }: MemoryStoreOptions) {
    this.#now = now;
    this.#send = send;
    this.#newId = newId;
  }

  async request(request: DeployRequest): Promise<Intent | undefined> {
    const intent = this.#record(request);
    if (intent) this.#move(request.deploymentId, (record) => notifyQueue(record, this.#now()));
    return intent;
  }

  async wake(deploymentId: string, at?: number): Promise<void> {
    this.#move(deploymentId, (record) => notifyQueue(record, this.#now(), at));
  }

  async takeLease(deploymentId: string, holder: string, leaseMs: number): Promise<Lease | undefined> {
    const got = this.#move(deploymentId, (record) => acquireLease(record, holder, this.#now(), leaseMs));
    if (got.kind !== 'taken') return undefined;
    const lease = { deploymentId, holder, notifiedSeq: this.#kept(deploymentId).record.notifiedSeq };
    return got.nextAt === undefined ? lease : { ...lease, nextAt: got.nextAt };
  }

  async renewLease(lease: Lease, leaseMs: number): Promise<Lease> {
    const kept = this.#holding(lease);
    kept.record = { ...kept.record, leaseUntil: this.#now() + leaseMs };
    return { ...lease, notifiedSeq: kept.record.notifiedSeq };
  }

  async leaveLease(lease: Lease, again: number | undefined): Promise<boolean> {
    return this.#move(lease.deploymentId, (record) => releaseLease(record, lease, this.#now(), again));
  }

  async freeLeases(): Promise<void> {
    for (const [id, { record }] of this.#queues) {
      if (record.holder !== undefined) this.#move(id, (before) => freeLease(before, this.#now()));
    }
  }

  async deploymentQueue(deploymentId: string): Promise<DeploymentQueue> {
    return this.#kept(deploymentId).deploymentQueue;
  }

  async openIntents(deploymentId: string): Promise<Intent[]> {
    return this.#of(deploymentId).filter(({ state }) => state !== 'ended');
  }

  async intent(id: string): Promise<Intent | undefined> {
    return this.intents.get(id);
  }

  async intentsOf(deploymentId: string, commit: string): Promise<Intent[]> {
    return this.#of(deploymentId).filter((intent) => intent.commit === commit);
  }

  async intentsAt(repositoryId: number, commit: string): Promise<Intent[]> {
    return [...this.intents.values()].filter(
      (intent) => intent.repository.repositoryId === repositoryId && intent.commit === commit,
    );
  }

  async lastIntents(deploymentId: string, limit: number): Promise<Intent[]> {
    return this.#of(deploymentId).toReversed().slice(0, limit);
  }

  async lastWithRevision(deploymentId: string, limit: number): Promise<Intent[]> {
    return this.#of(deploymentId)
      .filter(({ revisionId }: IntentFields) => revisionId !== undefined)
      .toReversed()
      .slice(0, limit);
  }

  async notYetContained(deploymentId: string): Promise<Intent[]> {
    return this.#of(deploymentId).filter(
      ({ end }: IntentFields) =>
        (end?.kind === 'superseded' || end?.kind === 'other-commit') && end.liveIn === undefined,
    );
  }

  async baselines(deploymentId: string, revisionId: string, testHashes: readonly string[]): Promise<Baseline[]> {
    const kept = this.kept.get(deploymentId) ?? [];
    const found = kept.filter((each) => each.revisionId === revisionId && testHashes.includes(each.testHash));
    return found.toSorted((one, other) => (one.testHash < other.testHash ? -1 : 1));
  }

  async busyDeployments(): Promise<string[]> {
    const open = [...this.intents.values()].filter(({ state }) => state !== 'ended');
    return [...new Set(open.map(({ deploymentId }) => deploymentId))];
  }

  async save(lease: Lease, changes: Changes): Promise<void> {
    const kept = this.#holding(lease);
    for (const intent of changes.intents ?? []) {
      const stored = this.intents.get(intent.id);
      // Only a rename event changes the repository.
      if (stored)
        this.intents.set(intent.id, frozen(readIntent(toStored({ ...intent, repository: stored.repository }))));
    }
    for (const request of changes.requests ?? []) this.#record(request);
    kept.deploymentQueue = frozen({
      deploymentId: lease.deploymentId,
      ...present('held', changes.held === undefined ? kept.deploymentQueue.held : changes.held),
      ...present(
        'rolledBackCommit',
        changes.rolledBackCommit === undefined ? kept.deploymentQueue.rolledBackCommit : changes.rolledBackCommit,
      ),
      ...present('promotes', changes.promotes === undefined ? kept.deploymentQueue.promotes : changes.promotes),
    });
    for (const report of changes.reports ?? []) this.#put(report);
    if (changes.baselines) this.#keep(lease.deploymentId, changes.baselines);
  }

  async putReport(report: DesiredReport, onlyAt?: number): Promise<void> {
    const stored = await this.reportOf(report.repository.repositoryId, report.headSha, report.name);
    if (onlyAt === undefined || (stored?.version ?? 0) === onlyAt) this.#put(report);
  }

  async report(id: string): Promise<Report | undefined> {
    return this.reports.get(id);
  }

  async reportOf(repositoryId: number, headSha: string, name: string): Promise<Report | undefined> {
    return this.reports.get(this.#reportIds.get(reportKey(repositoryId, headSha, name)) ?? '');
  }

  async reported(
    id: string,
    { version, at, githubId, reported }: Pick<Report, 'githubId' | 'reported'> & { version: number; at: number },
  ): Promise<void> {
    const report = this.reports.get(id);
    if (!report) return;
    const isNewer = version >= report.reportedVersion;
    this.reports.set(
      id,
      frozen({
        ...report,
        reportedVersion: Math.max(version, report.reportedVersion),
        reportedAt: at,
        ...present('githubId', githubId ?? report.githubId),
        ...present('reported', isNewer ? (reported ?? report.reported) : report.reported),
      }),
    );
  }

  async takeCommand(command: TakenCommand): Promise<StoredCommand> {
    const key = commandKey(command);
    if (!this.commands.has(key)) this.commands.set(key, frozen(command));
    return this.#command(command);
  }

  async decideCommand(key: CommandKey, action: CommandAction): Promise<CommandAction> {
    const stored = this.#command(key);
    const decided = stored.action ?? frozen(action);
    this.commands.set(commandKey(key), frozen({ ...stored, action: decided }));
    return decided;
  }

  async endCommand(key: CommandKey, outcome: CommandOutcome): Promise<CommandOutcome> {
    const stored = this.#command(key);
    const ended = stored.outcome ?? frozen(outcome);
    this.commands.set(commandKey(key), frozen({ ...stored, outcome: ended }));
    return ended;
  }

  async lastCommands(repositoryId: number, number: number, limit: number): Promise<StoredCommand[]> {
    return [...this.commands.values()]
      .filter((each) => each.repositoryId === repositoryId && each.number === number)
      .filter(({ outcome }) => outcome !== undefined && outcome.code !== 'no-write')
      .toSorted((one, other) => other.commentId - one.commentId)
      .slice(0, limit);
  }

  async pendingReports(): Promise<string[]> {
    return [...this.reports.values()].filter((each) => each.version > each.reportedVersion).map(({ id }) => id);
  }

  async moved(repository: InstallationRepository): Promise<void> {
    const isIt = (each: { repository: InstallationRepository }) =>
      each.repository.repositoryId === repository.repositoryId;
    for (const intent of this.intents.values()) {
      if (intent.state !== 'ended' && isIt(intent)) this.intents.set(intent.id, frozen({ ...intent, repository }));
    }
    for (const report of this.reports.values()) {
      if (isIt(report)) this.reports.set(report.id, frozen({ ...report, repository }));
    }
  }

  async dropPendingReports(repositoryId: number): Promise<void> {
    for (const report of this.reports.values()) {
      if (report.repository.repositoryId === repositoryId && report.version > report.reportedVersion)
        this.#drop(report);
    }
  }

  async forget(before: number, keep: number): Promise<number> {
    const counts = [this.intents.size, this.reports.size];
    const newest = new Map<string, number>();
    for (const intent of [...this.intents.values()].toReversed()) {
      const nth = (newest.get(intent.deploymentId) ?? 0) + 1;
      newest.set(intent.deploymentId, nth);
      if (nth > keep && intent.state === 'ended' && intent.end.at < before) {
        this.intents.delete(intent.id);
        this.#causes.delete(causeKey(intent));
      }
    }
    const about = new Set([...this.intents.values()].map((each) => `${each.repository.repositoryId} ${each.commit}`));
    for (const report of this.reports.values()) {
      const isOld = report.reportedVersion >= report.version && (report.reportedAt ?? 0) < before;
      if (isOld && !about.has(`${report.repository.repositoryId} ${report.headSha}`)) this.#drop(report);
    }
    let old = 0;
    for (const [deploymentId, baselines] of this.kept) {
      const revisions = new Set(this.#of(deploymentId).map(({ revisionId }: IntentFields) => revisionId));
      const left = baselines.filter((each) => each.takenAt >= before || revisions.has(each.revisionId));
      old += baselines.length - left.length;
      this.kept.set(deploymentId, left);
    }
    for (const [key, { takenAt }] of this.commands) {
      if (takenAt >= before) continue;
      this.commands.delete(key);
      old += 1;
    }
    return (counts[0] ?? 0) - this.intents.size + (counts[1] ?? 0) - this.reports.size + old;
  }

  #command(key: CommandKey): StoredCommand {
    const stored = this.commands.get(commandKey(key));
    if (!stored) throw new Error('the command was not taken');
    return stored;
  }

  #keep(deploymentId: string, baselines: readonly Baseline[]): void {
    const isSame = (one: Baseline, other: Baseline) =>
      one.revisionId === other.revisionId && one.testHash === other.testHash;
    const former = (this.kept.get(deploymentId) ?? []).filter((each) => !baselines.some((now) => isSame(now, each)));
    const newest = [...former, ...baselines.map(frozen)].toSorted(
      (one, other) => other.takenAt - one.takenAt || (one.testHash < other.testHash ? -1 : 1),
    );
    this.kept.set(deploymentId, newest.slice(0, maxBaselines));
  }

  #of(deploymentId: string): Intent[] {
    return [...this.intents.values()].filter((intent) => intent.deploymentId === deploymentId);
  }

  #kept(deploymentId: string): StoredQueue {
    const before = this.#queues.get(deploymentId);
    if (before) return before;
    const made = { record: newQueueState, deploymentQueue: frozen({ deploymentId }) };
    this.#queues.set(deploymentId, made);
    return made;
  }

  #holding(lease: Lease): StoredQueue {
    const kept = this.#kept(lease.deploymentId);
    if (kept.record.holder !== lease.holder) throw new LeaseLost(lease.deploymentId);
    return kept;
  }

  #move<Extra>(deploymentId: string, move: (record: QueueState) => QueueTransition<Extra>): Extra {
    const kept = this.#kept(deploymentId);
    const { record, job, extra } = move(kept.record);
    kept.record = record;
    if (job !== undefined) this.#send('lane', deploymentId, Math.max(job, this.#now()));
    return extra;
  }

  #record(request: DeployRequest): Intent | undefined {
    const key = causeKey(request);
    if (this.#causes.has(key)) return undefined;
    this.#causes.add(key);
    this.#seq += 1;
    const intent = frozen(newIntent(request, { id: this.#newId(), seq: this.#seq, now: this.#now() }));
    this.intents.set(intent.id, intent);
    return intent;
  }

  #put(put: DesiredReport): void {
    const key = reportKey(put.repository.repositoryId, put.headSha, put.name);
    const before = this.reports.get(this.#reportIds.get(key) ?? '');
    const wanted =
      put.wanted.kind === 'comment'
        ? { ...put.wanted, content: { ...before?.wanted.content, ...put.wanted.content } }
        : put.wanted;
    if (before && isDeepStrictEqual(before.wanted, wanted)) return;
    const id = before?.id ?? this.#newId();
    this.#reportIds.set(key, id);
    const version = (before?.version ?? 0) + 1;
    this.reports.set(
      id,
      frozen({ ...before, ...put, wanted, id, version, reportedVersion: before?.reportedVersion ?? 0 }),
    );
    this.#send('report', id, this.#now());
  }

  #drop({ id, repository, headSha, name }: Report): void {
    this.reports.delete(id);
    this.#reportIds.delete(reportKey(repository.repositoryId, headSha, name));
  }
}

const commandKey = ({ repositoryId, commentId }: CommandKey): string => `${repositoryId} ${commentId}`;

const causeKey = ({ deploymentId, commit, cause }: Pick<DeployRequest, 'deploymentId' | 'commit' | 'cause'>): string =>
  JSON.stringify([deploymentId, commit, cause.kind, cause.key]);

/** The member if it is neither null nor undefined. */
function present<Name extends string, Value>(name: Name, value: Value | null | undefined): { [N in Name]?: Value } {
  const member: { [N in Name]?: Value } = {};
  if (value !== null && value !== undefined) member[name] = value;
  return member;
}

/** A deeply frozen copy. */
function frozen<Value extends object>(value: Value): Value {
  const copy = structuredClone(value);
  freeze(copy);
  return copy;
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
}
