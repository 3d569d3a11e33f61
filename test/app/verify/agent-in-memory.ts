import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../src/kit/clock.ts';
import type { Assistant, AssistantCreate, AssistantVersion } from '../../../src/contract/agent/assistant.ts';
import type { Cron, CronCreate } from '../../../src/contract/agent/cron.ts';
import type { Run, RunCreate, RunResult } from '../../../src/contract/agent/run.ts';
import type { AgentServer } from '../../../src/contract/agent/service.ts';
import type { StreamEvent } from '../../../src/contract/agent/stream-event.ts';
import type { Thread, ThreadCreate, ThreadState } from '../../../src/contract/agent/thread.ts';
import type { CallOptions } from '../../../src/contract/call-options.ts';
import type { ServiceError } from '../../../src/contract/service-error.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';

/** What a run does: how long it takes (ms), and what it leaves. */
export interface ScriptedRun {
  after: number;
  status: string;
  values?: unknown;
  error?: { error: string; message: string };
  interrupts?: unknown[];
}

export const says = (reply: string, after = 1_000): ScriptedRun => ({ after, status: 'success', values: { reply } });

interface Kept {
  request: RunCreate;
  threadId: string;
  startedAt: number;
  script: ScriptedRun;
}

/** An agent server in memory whose runs take their time, in the background or in a stream. */
export class AgentInMemory implements AgentServer {
  /** Every request for a run, taken or not. */
  readonly requested: RunCreate[] = [];
  readonly threads: Set<string>;
  readonly assistants: Set<string>;
  readonly runs = new Map<string, Kept>();
  readonly cancelled: string[] = [];
  /** What the next runs do; the last one again and again. */
  commands: ScriptedRun[] = [says('hello')];
  /** Refuses a run that names a webhook, as a server does that sends none. */
  refusesWebhooks: ServiceError | undefined;
  /** Where a word about a run goes when it has ended. */
  deliver: (url: string, payload: Record<string, unknown>) => void = () => undefined;
  /** What the calls of this name fail with, as often as it stands here. */
  readonly failing = new Map<string, ServiceError[]>();
  /** Called before every call takes effect, and after it did. */
  before: (call: string) => void = () => undefined;
  after: (call: string) => void = () => undefined;
  readonly #clock: Clock;

  /** `beside` has the same database. */
  constructor(clock: Clock, beside?: AgentInMemory) {
    this.#clock = clock;
    this.threads = beside?.threads ?? new Set();
    this.assistants = beside?.assistants ?? new Set();
  }

  /** What tests made and did not remove. */
  get left(): string[] {
    return [...this.threads, ...this.assistants];
  }

  async ok(): Promise<void> {
    await this.#called('ok', () => undefined);
  }

  async info(): Promise<{ version: string }> {
    return { version: '1.0.0' };
  }

  async createAssistant({ graph_id, assistant_id = randomUUID() }: AssistantCreate): Promise<Assistant> {
    return this.#called('createAssistant', () => {
      this.assistants.add(assistant_id);
      return { assistant_id, graph_id, created_at: '', updated_at: '' };
    });
  }

  async getAssistant(assistant_id: string): Promise<Assistant> {
    return this.#called('getAssistant', () => ({ assistant_id, graph_id: 'echo', created_at: '', updated_at: '' }));
  }

  async searchAssistants(): Promise<Assistant[]> {
    return [];
  }

  async patchAssistant(assistantId: string): Promise<Assistant> {
    return this.getAssistant(assistantId);
  }

  async listAssistantVersions(): Promise<AssistantVersion[]> {
    return [];
  }

  async setLatestAssistantVersion(assistantId: string): Promise<Assistant> {
    return this.getAssistant(assistantId);
  }

  async deleteAssistant(id: string): Promise<void> {
    await this.#called('deleteAssistant', () => {
      if (!this.assistants.delete(id)) throw serviceError('missing', 'delete assistant', { status: 404 });
    });
  }

  async createThread({ thread_id = randomUUID() }: ThreadCreate): Promise<Thread> {
    return this.#called('createThread', () => {
      this.threads.add(thread_id);
      return { thread_id, created_at: '', updated_at: '', status: 'idle' };
    });
  }

  async getThread(thread_id: string): Promise<Thread> {
    return { thread_id, created_at: '', updated_at: '', status: 'idle' };
  }

  async deleteThread(id: string): Promise<void> {
    await this.#called('deleteThread', () => {
      const busy = [...this.runs].some(
        ([runId, { threadId }]) => threadId === id && this.#standing(runId) === 'running',
      );
      if (busy) throw serviceError('conflict', 'delete thread', { status: 409, detail: 'The thread is busy.' });
      if (!this.threads.delete(id)) throw serviceError('missing', 'delete thread', { status: 404 });
    });
  }

  async getThreadState(threadId: string): Promise<ThreadState> {
    return this.#called('getThreadState', () => {
      const kept = [...this.runs.values()].find((each) => each.threadId === threadId);
      if (!kept || !this.threads.has(threadId)) throw serviceError('missing', 'get thread state', { status: 404 });
      const { values = null, interrupts = [] } = kept.script;
      return { values, next: [], tasks: [{ id: 't', name: 'n', interrupts }] };
    });
  }

  async *streamRun(request: RunCreate, threadId?: string, options?: CallOptions): AsyncIterable<StreamEvent> {
    const { run_id } = await this.#started(request, threadId ?? randomUUID());
    const { values, status, after } = this.runs.get(run_id)?.script ?? says('');
    yield { event: 'metadata', data: { run_id } };
    try {
      await this.#clock.sleep(after, options?.signal);
    } catch (error) {
      // The run ends with its stream (`on_disconnect`).
      const kept = this.runs.get(run_id);
      if (kept) kept.script = { ...kept.script, after: 0, status: 'interrupted' };
      throw error;
    }
    if (status !== 'success') yield { event: 'error', data: { error: 'BoomError', message: 'boom' } };
    yield { event: 'updates', data: { answer: values } };
    yield { event: 'values', data: values };
  }

  async waitRun(): Promise<RunResult> {
    throw new Error('no smoke test waits for a run');
  }

  async createRun(request: RunCreate, threadId = ''): Promise<Run> {
    return this.#started(request, threadId);
  }

  async getRun(thread_id: string, run_id: string): Promise<Run> {
    return this.#called('getRun', () => {
      if (!this.threads.has(thread_id)) throw serviceError('missing', 'get run', { status: 404 });
      return this.#runResponse(run_id);
    });
  }

  async cancelRun(_threadId: string, runId: string): Promise<void> {
    await this.#called('cancelRun', () => {
      this.cancelled.push(runId);
      const kept = this.runs.get(runId);
      if (kept) kept.script = { ...kept.script, after: 0, status: 'interrupted' };
    });
  }

  async createCron({ schedule }: CronCreate): Promise<Cron> {
    return { cron_id: 'cron1', schedule };
  }

  async deleteCron(): Promise<void> {}

  async joinRun(_threadId: string, runId: string): Promise<RunResult> {
    return this.#called('joinRun', () => {
      const { error, values } = this.runs.get(runId)?.script ?? says('');
      return error ? { kind: 'error', error } : { kind: 'values', values };
    });
  }

  async #started(request: RunCreate, threadId: string): Promise<Run> {
    this.requested.push(request);
    const { webhook } = request;
    if (webhook !== undefined && this.refusesWebhooks) throw this.refusesWebhooks;
    return this.#called('createRun', () => {
      const runId = randomUUID();
      const script = (this.commands.length > 1 ? this.commands.shift() : this.commands[0]) ?? says('');
      this.runs.set(runId, { request, threadId, startedAt: this.#clock.now(), script });
      if (webhook !== undefined) {
        void this.#clock
          .sleep(script.after)
          .then(() =>
            this.deliver(webhook, { ...this.#runResponse(runId), kwargs: { webhook }, error: script.error ?? null }),
          );
      }
      return this.#runResponse(runId);
    });
  }

  #standing(runId: string): string {
    const kept = this.runs.get(runId);
    if (!kept) throw serviceError('missing', 'get run', { status: 404 });
    return this.#clock.now() < kept.startedAt + kept.script.after ? 'running' : kept.script.status;
  }

  #runResponse(run_id: string): Run {
    const { threadId, startedAt, script } = this.runs.get(run_id) ?? { threadId: '', startedAt: 0, script: says('') };
    const time = (ms: number): string => new Date(ms).toISOString();
    const updated_at = time(Math.min(this.#clock.now(), startedAt + script.after));
    const times = { created_at: time(startedAt), updated_at };
    return { run_id, thread_id: threadId, assistant_id: 'a', ...times, status: this.#standing(run_id) };
  }

  async #called<T>(call: string, act: () => T): Promise<T> {
    await Promise.resolve();
    this.before(call);
    const failure = this.failing.get(call)?.shift();
    if (failure) throw failure;
    const value = act();
    this.after(call);
    return value;
  }
}
