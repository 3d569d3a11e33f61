import type { RunCreate, RunResult } from '../../../src/contract/agent/run.ts';
import type { ConversationServer, ServerInfo } from '../../../src/contract/agent/service.ts';
import type { Thread, ThreadCopy, ThreadState } from '../../../src/contract/agent/thread.ts';
import type { CallOptions } from '../../../src/contract/call-options.ts';
import type { Clock } from '../../../src/kit/clock.ts';
import { serviceError } from '../machine/control-model.ts';

/** A thread of the model, and the state that every server on its database reads of it. */
interface StoredThread extends Thread {
  state: ThreadState;
}

/** What several servers share. */
export class ThreadsModel {
  readonly threads = new Map<string, StoredThread>();
  /** The ids of all copies that were ever made. */
  readonly copies: string[] = [];

  add(id: string, state: Partial<ThreadState> = {}, metadata: object = { graph_id: 'refunds' }): void {
    const whole = { values: { messages: [{ type: 'human', content: 'secret words' }] }, next: [], ...state };
    const times = { created_at: '', updated_at: '2026-01-01T00:00:00Z' };
    const status = whole.next.length > 0 ? 'interrupted' : 'idle';
    this.threads.set(id, { thread_id: id, ...times, status, config: {}, metadata: { ...metadata }, state: whole });
  }
}

export type Ran = RunResult | Error | 'never';

/** One server on these threads. Every method may be told to fail. */
export class ThreadServerModel implements ConversationServer {
  readonly ran: RunCreate[] = [];
  readonly failing = new Map<string, Error>();
  /** What runs end with, the last again and again. */
  runs: Ran[] = [{ kind: 'values', values: {} }];
  flags: Record<string, unknown> = {};
  /** Called when a copy is made, whose response then takes half a second. */
  onCopy: (() => void) | undefined;
  /** Called when a run begins. */
  onRun: () => void = () => undefined;
  readonly #of: ThreadsModel;
  readonly #clock: Clock;

  constructor(of: ThreadsModel, clock: Clock) {
    this.#of = of;
    this.#clock = clock;
  }

  async searchThreads({ metadata, status }: Parameters<ConversationServer['searchThreads']>[0]): Promise<Thread[]> {
    this.#fail('searchThreads');
    const wanted = Object.entries(metadata ?? {});
    return [...this.#of.threads.values()].filter(
      (each) =>
        (status === undefined || each.status === status) &&
        wanted.every(([key, value]) => each.metadata?.[key] === value),
    );
  }

  async ok(): Promise<void> {
    this.#fail('ok');
  }

  async info(): Promise<ServerInfo> {
    this.#fail('info');
    return { version: '0.5.36', flags: this.flags };
  }

  async copyThread(id: string, request: ThreadCopy = {}, options?: CallOptions): Promise<Thread> {
    this.#fail('copyThread');
    const copy = `copy-${this.#of.copies.push(id)}`;
    const metadata = { ...this.#there(id).metadata, ...request.metadata };
    this.#of.threads.set(copy, { ...this.#there(id), thread_id: copy, metadata });
    this.onCopy?.();
    if (this.onCopy) await this.#clock.sleep(500, options?.signal);
    return this.#there(copy);
  }

  async patchThread(id: string, { metadata, ttl }: Parameters<ConversationServer['patchThread']>[1]): Promise<Thread> {
    this.#fail('patchThread');
    if (ttl !== undefined) this.#fail('ttl');
    const thread = this.#there(id);
    this.#of.threads.set(id, { ...thread, metadata: { ...thread.metadata, ...metadata } });
    return this.#there(id);
  }

  async getThread(id: string): Promise<Thread> {
    this.#fail('getThread');
    return this.#there(id);
  }

  async getThreadState(id: string): Promise<ThreadState> {
    this.#fail('getThreadState');
    return this.#there(id).state;
  }

  async deleteThread(id: string): Promise<void> {
    this.#fail('deleteThread');
    this.#there(id);
    this.#of.threads.delete(id);
  }

  async drawGraph(): Promise<Awaited<ReturnType<ConversationServer['drawGraph']>>> {
    this.#fail('drawGraph');
    return { nodes: [{ id: 'review' }], edges: [] };
  }

  async readSchemas(): Promise<Awaited<ReturnType<ConversationServer['readSchemas']>>> {
    this.#fail('drawGraph');
    return { graph_id: 'refunds', state_schema: { properties: { messages: {} } } };
  }

  async waitRun(request: RunCreate, threadId: string | undefined, options?: CallOptions): Promise<RunResult> {
    this.#there(threadId ?? '');
    this.ran.push(request);
    this.onRun();
    const ran = (this.runs.length > 1 ? this.runs.shift() : this.runs[0]) ?? 'never';
    if (ran === 'never') await this.#clock.sleep(3_600_000, options?.signal);
    if (ran instanceof Error || ran === 'never') throw ran;
    return ran;
  }

  #there(id: string): StoredThread {
    const thread = this.#of.threads.get(id);
    if (!thread) throw serviceError('missing', 'get thread');
    return thread;
  }

  #fail(method: string): void {
    const error = this.failing.get(method);
    if (error) throw error;
  }
}
