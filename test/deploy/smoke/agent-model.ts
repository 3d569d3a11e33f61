import type { Assistant, AssistantCreate, AssistantVersion } from '../../../src/contract/agent/assistant.ts';
import type { Cron, CronCreate } from '../../../src/contract/agent/cron.ts';
import type { Run, RunCreate, RunResult } from '../../../src/contract/agent/run.ts';
import type { AgentServer } from '../../../src/contract/agent/service.ts';
import type { StreamEvent } from '../../../src/contract/agent/stream-event.ts';
import type { Thread, ThreadState } from '../../../src/contract/agent/thread.ts';
import type { CallOptions } from '../../../src/contract/call-options.ts';
import type { Clock } from '../../../src/kit/clock.ts';
import { ServiceError } from '../../../src/contract/service-error.ts';
import { serviceError } from '../machine/control-model.ts';

/** One event, and how long after the one before it comes (ms). */
export interface Timed extends StreamEvent {
  after?: number;
}

/** What a run does: its events, or how it cannot be had. */
export type Answer = readonly Timed[] | ServiceError;

export const says = (text: string, after = 0): Timed[] => [
  { event: 'metadata', data: { run_id: 'run1' } },
  { event: 'values', data: { input: 'x' } },
  { event: 'updates', data: { prep: { steps: 1 } }, after },
  { event: 'updates', data: { answer: { output: text } } },
  { event: 'values', data: { input: 'x', output: text } },
];
export const breaks = (message: string): Timed[] => [
  { event: 'metadata', data: { run_id: 'run1' } },
  { event: 'error', data: { error: 'BoomError', message } },
];

/** An agent server in memory: every run takes the next answer, the last one again and again. */
export class AgentModel implements AgentServer {
  readonly requested: { request: RunCreate; threadId: string | undefined }[] = [];
  readonly created: AssistantCreate[] = [];
  readonly there = new Set<string>();
  answers: Answer[];
  runStatus: string = 'success';
  /** What removing answers with. */
  removal: ServiceError | undefined;
  isWell = true;
  readonly #clock: Clock;

  constructor(clock: Clock, ...answers: Answer[]) {
    this.#clock = clock;
    this.answers = answers.length > 0 ? answers : [says('hello')];
  }

  async ok(): Promise<void> {
    if (!this.isWell) throw serviceError('unreachable', 'ask for health');
  }

  async info(): Promise<{ version: string }> {
    return { version: '1.0.0' };
  }

  async createAssistant(request: AssistantCreate): Promise<Assistant> {
    this.created.push(request);
    this.there.add('assistant1');
    return { assistant_id: 'assistant1', graph_id: request.graph_id, created_at: '', updated_at: '' };
  }

  async getAssistant(assistant_id: string): Promise<Assistant> {
    return { assistant_id, graph_id: 'echo', created_at: '', updated_at: '' };
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

  async deleteAssistant(assistantId: string): Promise<void> {
    if (this.removal) throw this.removal;
    this.there.delete(assistantId);
  }

  async createThread(): Promise<Thread> {
    this.there.add('thread1');
    return this.getThread('thread1');
  }

  async getThread(thread_id: string): Promise<Thread> {
    return { thread_id, created_at: '', updated_at: '', status: 'idle' };
  }

  async deleteThread(threadId: string): Promise<void> {
    if (this.removal) throw this.removal;
    this.there.delete(threadId);
  }

  async getThreadState(): Promise<ThreadState> {
    return { values: {}, next: [] };
  }

  async *streamRun(
    request: RunCreate,
    threadId: string | undefined,
    options?: CallOptions,
  ): AsyncIterable<StreamEvent> {
    options?.signal?.throwIfAborted();
    this.requested.push({ request, threadId });
    const answer = this.answers.length > 1 ? this.answers.shift() : this.answers[0];
    if (answer === undefined) throw new Error('no answer was prepared');
    if (answer instanceof ServiceError) throw answer;
    for (const { after = 0, ...event } of answer) {
      await this.#clock.sleep(after, options?.signal ?? undefined);
      yield event;
    }
  }

  async waitRun(): Promise<RunResult> {
    return { kind: 'values', values: {} };
  }

  async createRun(): Promise<Run> {
    return this.getRun('thread1', 'run1');
  }

  async getRun(thread_id: string, run_id: string): Promise<Run> {
    return { run_id, thread_id, assistant_id: 'a', created_at: '', updated_at: '', status: this.runStatus };
  }

  async cancelRun(): Promise<void> {
    await this.#clock.sleep(0);
  }

  async createCron({ schedule }: CronCreate): Promise<Cron> {
    return { cron_id: 'cron1', schedule };
  }

  async deleteCron(): Promise<void> {}

  async joinRun(): Promise<RunResult> {
    return this.waitRun();
  }
}
