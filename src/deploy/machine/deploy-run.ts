import type { Clock } from '../../kit/clock.ts';
import type { Desired, Named, OnFailure, OnUnproven, RunSubject, Verify } from '../file/desired.ts';
import type { ConversationTerms } from '../file/conversations.ts';
import type { EnvironmentGate } from '../file/environment-gate.ts';
import type { SmokeTest } from '../file/smoke-test.ts';
import type { AgentServer, ConversationServer } from '../../contract/agent/service.ts';
import type { Graders } from '../../contract/grader.ts';
import type { CallOptions } from '../../contract/call-options.ts';
import type { ImageLookup } from '../../contract/control/container.ts';
import { textsToMask } from '../../contract/control/secret.ts';
import type { Deployment } from '../../contract/control/deployment.ts';
import type { ControlRecords, ControlService, FullControlService } from '../../contract/control/service.ts';
import type { TarballStore } from '../../contract/control/upload.ts';
import type { VerdictReport } from '../../contract/control/verdict.ts';
import type { Workflow } from '../file/workflow.ts';
import type { Obstacle, Plan } from '../rules/plan-types.ts';
import { type Note, withNotesOnce } from '../rules/note.ts';
import type { Rollout } from '../rules/rollout-types.ts';
import type { Verification } from '../rules/verification.ts';
import type { PackedSource } from '../../kit/archive/pack.ts';
import type { DeployEvent } from './deploy-event.ts';
import { type Deploy, ownOf, resultOf, type RunRevision } from './deploy-state.ts';
import type { TestResult } from './state.ts';
import type { PlanBinding } from './bind-plan.ts';
import type { BuildFacts } from './built-from.ts';
import { journalEntryOf, type Journal, type JournalEntry, saysNothingOf } from './journal.ts';
import { messageOf } from '../../kit/errors.ts';
import { noteText, notesOnBuild } from '../words/note.ts';
import { reportedPlan } from '../words/plan.ts';
import type { PreviewRun } from './live-agents.ts';
import { Redactor } from './redactor.ts';
import type { Judge } from '../smoke/judge.ts';
import type { RunState } from './run-state.ts';

/** The control service operations that only uploads and deletions need. */
export type UploadAndDeleteService = Pick<
  FullControlService,
  'deleteDeployment' | 'requestUpload' | 'interruptRevision'
> &
  TarballStore;

/** The input of a run: what to do, the clients, and the clock. */
export type DeployRunRequest = RunSubject & RunTerms;

export interface RunTerms {
  smokeTests: readonly SmokeTest[];
  /** Conversations of the live revision that are tried on the new one; absent: none. */
  conversations?: ConversationTerms | undefined;
  /** Absent: before traffic where the service can hold the revision. */
  verify?: Verify | undefined;
  onFailure: OnFailure;
  /** Absent: the live revision is kept. */
  onUnproven?: OnUnproven | undefined;
  /** The deployment is the preview of a pull request. */
  previewRun?: PreviewRun | undefined;
  /** The program that reports the verdicts; absent: the Action in a workflow, else the command line. */
  reporter?: VerdictReport['reporter'] | undefined;
  /** What of the files is not done, for the notes of the outcome. */
  notes?: readonly string[] | undefined;
  /** `delete` only says what it would remove. */
  dryRun?: boolean | undefined;
  /** `delete` leaves the tracing project, and with it the name, in use. */
  keepTracingProject?: boolean | undefined;
  /** `false`: the run ends once the revision has started. */
  wait: boolean;
  onSuperseded: 'fail' | 'pass';
  control: ControlService;
  further?: UploadAndDeleteService | undefined;
  /** The requested folder, packed; for `internal_source` only. */
  tarball?: PackedSource | undefined;
  /** Called once for each address; the caller closes the clients it made. */
  agentAt: (url: string) => AgentServer;
  /** The same for the conversations. */
  threadsAt?: ((url: string) => ConversationServer) | undefined;
  /** The models that grade answers. */
  graders?: Graders | undefined;
  /** Judges the answers of agents in another process, where they must not hold this one; absent: here. */
  judge?: Judge | undefined;
  /** What the tag of an image stands for; absent: images are compared by their names. It rejects only when cancelled. */
  lookUpImage?: ((reference: string, options: CallOptions) => Promise<ImageLookup>) | undefined;
  /** The agent's address, for services that do not report it. */
  agentUrl?: string | undefined;
  clock: Clock;
  /** From 0 up to 1: spreads the polls of many who started at once. */
  random: () => number;
  /** How long a revision is waited for (ms). A rollback gets as long again; smoke tests have bounds of their own. */
  timeoutMs: number;
  /** The time between two polls (ms), to which a tenth of jitter is added or taken. */
  pollMs: number;
  workflow?: Workflow | undefined;
  /** The head commit of the requested ref, if it was looked up. */
  head?: string | undefined;
  /** The deployment of the environment before: only what that one has proven is deployed. */
  after?: Named | undefined;
  /** What keeps deploys from its environment. */
  gate?: EnvironmentGate | undefined;
  /** A freeze of the environment does not count. */
  ignoresFreeze?: boolean | undefined;
  /** The verdicts on a revision; absent: the service keeps none. */
  verdictsOf?: ControlRecords['verdictsOf'] | undefined;
  /** The one commit that may be deployed; absent: the one that the ref or the workflow has. */
  commit?: string | undefined;
  /** Binds the run to a plan that was made before, or keeps the one that it makes. */
  binding?: PlanBinding | undefined;
  /** What requested the run: a run that is started again for the same sends the same request, which takes effect once. */
  onceFor?: string | undefined;
  /** What a rollback was decided upon: where the deployment is not so any more, nothing is done. */
  expected?: Pick<Deployment, 'active_revision_id' | 'latest_revision_id'> | undefined;
  /** Keeps how far the run is. */
  journal?: Journal | undefined;
  /** What an earlier run kept: this one goes on with it. */
  kept?: JournalEntry | undefined;
  /** Ends the run early: the outcome is `interrupted`, and the revision goes on. */
  signal?: AbortSignal | undefined;
  emit?: ((event: DeployEvent) => void) | undefined;
  /** The credentials for both services: an agent may echo them, the output must not. */
  credentials?: readonly string[] | undefined;
  /** Called with every secret, including those the service returns, before anything that could hold it is reported. */
  mask?: ((secret: string) => void) | undefined;
}

/** How long a read may take with all its repetitions (ms): a poll that takes longer is the next poll's business. */
const readMs = 60_000;

/** The state that every step of a deploy run shares. */
export class DeployRun {
  readonly request: DeployRunRequest;
  readonly known: RunState = { writing: false, changed: false, notes: [] };
  /** What the revisions that were watched are built from, by their ids. */
  readonly builds = new Map<string, BuildFacts>();
  /** The last open state. */
  deploy: Deploy = { state: 'requested', tries: 1 };
  /** The moment (ms since the epoch) at which waiting ends. */
  deadline: number;
  readonly #redactor: Redactor;
  #reports = Promise.resolve();
  #hasKept = false;

  constructor(request: DeployRunRequest) {
    this.request = request;
    this.deadline = request.clock.now() + request.timeoutMs;
    this.#redactor = new Redactor(request.mask ?? (() => undefined));
    this.#redactor.add(request.credentials ?? []);
    if ('desired' in request) this.#redactor.add((request.desired.secrets ?? []).map(({ value }) => value));
  }

  /** What should run. A run that deploys nothing plans nothing. */
  get desired(): Desired {
    const { request } = this;
    if ('desired' in request) return request.desired;
    throw new TypeError(`a run in mode ${request.mode} has no plan`);
  }

  emit(event: DeployEvent): void {
    this.request.emit?.(event);
  }

  /** Adds a note once. */
  note(note: Note): void {
    const { length } = this.known.notes;
    this.known.notes = withNotesOnce(this.known.notes, [note]);
    if (this.known.notes.length > length) this.emit({ kind: 'noted', note: this.noteText(note) });
  }

  /** The sentence of a note, redacted: it may contain text of the service. */
  noteText(note: Note): string {
    return this.redact(noteText(note));
  }

  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  /** The first characters of such a text. */
  redactStart(text: string, most: number): string {
    return this.#redactor.redactStart(text, most);
  }

  /** Remembers a deployment. Its secrets come in clear unless the service hides them, so they are masked first. */
  saw(deployment: Deployment): Deployment {
    this.#redactor.add(textsToMask(deployment.secrets));
    this.known.deployment = deployment;
    return deployment;
  }

  /** The secrets that are known by now. */
  secrets(): readonly string[] {
    return this.#redactor.known();
  }

  /** Looks at another deployment than that of the run: its agent may show its secrets, too. */
  sawBeside(deployment: Deployment): void {
    this.#redactor.add(textsToMask(deployment.secrets));
  }

  /** Remembers that a write took effect. */
  settled(): void {
    this.known.writing = false;
    this.known.changed = true;
  }

  /** Remembers how far the followed revision has come. */
  readonly record = (rollout: Rollout): void => {
    this.known.rollout = rollout;
    for (const note of notesOnBuild(rollout)) this.note(note);
  };

  decided(planned: Plan): Plan {
    const plan = reportedPlan(planned);
    this.known.plan = plan;
    this.emit({ kind: 'planned', plan });
    if (planned.kind !== 'impossible') for (const note of planned.notes) this.note(note);
    return planned;
  }

  /**
   * Keeps how far the deploy is. What an earlier run left stays until this one has something of its own, or ends and
   * says more of the same revision. A journal that can't be written is noted, and ends nothing.
   */
  async keep(deploy: Deploy): Promise<void> {
    const { journal } = this.request;
    const kept = journalEntryOf(deploy, this);
    const isEnd =
      deploy.state === 'ended' && !(journal?.left && saysNothingOf(journal.left, deploy.ending, this.known));
    if (!kept && !this.#hasKept && !isEnd) return;
    this.#hasKept = true;
    try {
      await journal?.keep(kept, (text) => this.redact(text));
    } catch (error) {
      this.note({ code: 'journal-unwritten', text: messageOf(error) });
    }
  }

  /** The revision that is followed. */
  get own(): RunRevision | undefined {
    return ownOf(this.deploy);
  }

  /** What the tests found. */
  get result(): TestResult | undefined {
    return resultOf(this.deploy);
  }

  /** Remembers when the revision is tested, and says so where that is not when it was requested. */
  verifies(verification: Verification): Verification {
    this.known.verification = verification;
    if (verification.note) this.note(verification.note);
    return verification;
  }

  /** Ends the run before anything is written, and says what stands in its way. */
  impossible(obstacles: readonly Obstacle[]): { kind: 'impossible' } {
    this.decided({ kind: 'impossible', obstacles });
    return { kind: 'impossible' };
  }

  /** Starts a report to the service, after the earlier ones. It must not reject. */
  report(send: () => Promise<void>): void {
    this.#reports = this.#reports.then(send);
  }

  /** Waits for all reports. Nothing else does: a rollback must not wait for one. */
  reported(): Promise<void> {
    return this.#reports;
  }

  /** The options of a read: it aborts with the run, and has a short timeout. */
  reading(deadline = this.deadline): CallOptions {
    return { signal: this.request.signal, deadline: Math.min(deadline, this.request.clock.now() + readMs) };
  }

  /** When the next poll is due (ms since the epoch), never beyond `deadline`. */
  nextPollAt(deadline: number, atLeastMs = 0): number {
    const { clock, pollMs, random } = this.request;
    const jittered = pollMs * (0.9 + random() * 0.2);
    return Math.min(Math.max(clock.now(), deadline), clock.now() + Math.max(jittered, atLeastMs));
  }

  /** Waits for the next poll, but never beyond `deadline`. Rejects when the run is cancelled. */
  async untilNextPoll(deadline: number, atLeastMs = 0): Promise<void> {
    const { clock, signal } = this.request;
    await clock.sleep(this.nextPollAt(deadline, atLeastMs) - clock.now(), signal);
  }
}
