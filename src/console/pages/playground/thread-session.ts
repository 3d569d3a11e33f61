import { batch, signal } from '@preact/signals';
import { finalRunStatuses, type Run, type RunCreate, type RunError } from '../../../contract/agent/run.ts';
import type { StreamEvent } from '../../../contract/agent/stream-event.ts';
import type { Checkpoint, Thread, ThreadState } from '../../../contract/agent/thread.ts';
import { toError } from '../../../kit/errors.ts';
import { historyPage } from './history.ts';
import { emptyRun, reduceRun, type RunView } from './run-view.ts';

const isFinal = (status: string): boolean => finalRunStatuses.some((each) => each === status);
const retryMs = 1_000;
/** An event is shown immediately; those that follow within one frame are shown together. */
const frameMs = 16;

/** Reads a property of `ApiError`, whose module works only in browsers. */
const read = (error: unknown, name: 'status' | 'isRedirect'): unknown =>
  error instanceof Error ? Reflect.get(error, name) : undefined;
const statusOf = (error: unknown): unknown => read(error, 'status');
/** Whether another attempt would fail in the same way. */
const isFinalRefusal = (error: unknown): boolean =>
  statusOf(error) === 401 || statusOf(error) === 403 || read(error, 'isRedirect') === true;

/** Options for starting a run. */
export interface RunRequest extends Pick<RunCreate, 'input' | 'context' | 'checkpoint'> {
  assistantId: string;
  command?: { resume: unknown } | undefined;
}

/** The methods of an agent that a session uses. Each rejects with an error whose message can be shown. */
export interface ThreadAgent {
  thread(threadId: string, signal: AbortSignal): Promise<Thread>;
  history(threadId: string, options: { before?: Checkpoint; signal: AbortSignal }): Promise<ThreadState[]>;
  startRun(threadId: string, request: RunRequest): Promise<Run>;
  /** The newest runs of a thread, newest first. */
  runs(threadId: string, signal: AbortSignal): Promise<Run[]>;
  run(threadId: string, runId: string, signal: AbortSignal): Promise<Run>;
  /** The error of a failed run. */
  runError(threadId: string, runId: string): Promise<RunError | undefined>;
  cancel(threadId: string, runId: string): Promise<unknown>;
  /** The events of a run after one of them, or from its start. */
  follow(threadId: string, runId: string, lastEventId: string, signal: AbortSignal): AsyncIterable<StreamEvent>;
}

/** The thread of a page: its states, and its current run, whose events it follows. */
export class ThreadSession {
  readonly thread = signal<Thread | undefined>(undefined);
  /** Newest first. */
  readonly states = signal<readonly ThreadState[]>([]);
  readonly hasMoreStates = signal(false);
  /** The run that is shown: the running one, else the requested or the newest one. */
  readonly run = signal<Run | undefined>(undefined);
  /** Whether that is an older run, opened by a link. The page then shows the state after it. */
  readonly isOlderRun = signal(false);
  /** The view of that run from its events so far. */
  readonly view = signal<RunView | undefined>(undefined);
  readonly failure = signal<RunError | undefined>(undefined);
  readonly isFollowing = signal(false);
  /** Whether the connection is lost and the session tries again. */
  readonly isReconnecting = signal(false);
  readonly problem = signal<Error | undefined>(undefined);
  /** The error that ended the following of a run. It stays until the user dismisses it. */
  readonly refusal = signal<{ runId: string; error: Error } | undefined>(undefined);
  readonly threadId: string;
  readonly #agent: ThreadAgent;
  readonly #closed = new AbortController();
  #following: AbortController | undefined;

  constructor(agent: ThreadAgent, threadId: string) {
    this.#agent = agent;
    this.threadId = threadId;
  }

  /** Loads the thread, and shows the requested run, the running one or the newest one. */
  async open(runId?: string): Promise<void> {
    await this.#attempt(async () => {
      const runs = await this.#load();
      const requested =
        runId === undefined ? undefined : (runs.find(({ run_id }) => run_id === runId) ?? (await this.#readRun(runId)));
      const run = requested ?? runs.findLast(({ status }) => status === 'running' || status === 'pending') ?? runs[0];
      if (run) this.#show(run, run.run_id !== runs[0]?.run_id);
    });
  }

  /** Loads changes of the thread by other clients: another tab, a program, a cron. */
  async refresh(): Promise<void> {
    if (this.isFollowing.value) return;
    await this.#attempt(async () => {
      const thread = await this.#agent.thread(this.threadId, this.#closed.signal);
      const previous = this.thread.value;
      if (previous?.updated_at === thread.updated_at && previous.status === thread.status) return;
      const runs = await this.#load();
      const run = runs.findLast(({ status }) => !isFinal(status)) ?? runs[0];
      if (run && !this.isFollowing.value) this.#show(run);
    });
  }

  /** Starts a run and follows it. @throws Error where it was refused */
  async start(request: RunRequest): Promise<Run> {
    const run = await this.#agent.startRun(this.threadId, request);
    this.dismissRefusal();
    this.#show(run);
    return run;
  }

  dismissRefusal(): void {
    this.refusal.value = undefined;
  }

  /** Follows the run of the refusal again. */
  async followAgain(): Promise<void> {
    const { runId } = this.refusal.value ?? {};
    if (runId === undefined || this.isFollowing.value) return;
    await this.#attempt(async () => {
      const run = await this.#readRun(runId);
      this.dismissRefusal();
      if (run && !this.isFollowing.value) this.#show(run);
    });
  }

  /** Shows a run of the thread, and follows it while it is running. */
  #show(run: Run, isOlder = false): void {
    // A refresh may see a run before the response to its creation arrives.
    if (this.isFollowing.value && this.run.value?.run_id === run.run_id) return;
    this.#following?.abort();
    batch(() => {
      this.run.value = run;
      this.isOlderRun.value = isOlder && isFinal(run.status);
      this.failure.value = undefined;
      this.view.value = undefined;
    });
    if (!isFinal(run.status)) {
      // A refresh must not repeat a refused request.
      if (this.refusal.value?.runId !== run.run_id) void this.#follow(run.run_id);
    } else if (run.status !== 'success') {
      void this.#readFailure(run.run_id);
    }
  }

  async showRun(runId: string): Promise<void> {
    if (this.isFollowing.value || this.run.value?.run_id === runId) return;
    await this.#attempt(async () => {
      const runs = await this.#agent.runs(this.threadId, this.#closed.signal);
      const run = await this.#readRun(runId);
      if (run) this.#show(run, run.run_id !== runs[0]?.run_id);
    });
  }

  /** Shows the newest run instead of an older one. */
  async showNewest(): Promise<void> {
    await this.#attempt(async () => {
      const [newest] = await this.#load();
      if (newest) this.#show(newest);
    });
  }

  async loadMoreStates(): Promise<void> {
    const before = this.states.value.at(-1)?.checkpoint;
    if (!before) return;
    await this.#attempt(async () => {
      const older = await this.#agent.history(this.threadId, { before, signal: this.#closed.signal });
      // Meanwhile a second click or a reload may have changed the list.
      if (this.states.value.at(-1)?.checkpoint !== before) return;
      this.states.value = [...this.states.value, ...older];
      this.hasMoreStates.value = older.length === historyPage;
    });
  }

  /** Cancels the run that is followed. What it has done stays. @throws Error where that was refused */
  async cancel(): Promise<void> {
    const run = this.run.value;
    if (run) await this.#agent.cancel(this.threadId, run.run_id);
  }

  /** Reads the thread and its newest states again. */
  async reload(): Promise<void> {
    await this.#attempt(async () => void (await this.#load()));
  }

  close(): void {
    this.#closed.abort();
  }

  async #load(): Promise<Run[]> {
    const { signal } = this.#closed;
    const [thread, states, runs] = await Promise.all([
      this.#agent.thread(this.threadId, signal),
      this.#agent.history(this.threadId, { signal }),
      this.#agent.runs(this.threadId, signal),
    ]);
    if (signal.aborted) return [];
    batch(() => {
      this.thread.value = thread;
      this.states.value = states;
      this.hasMoreStates.value = states.length === historyPage;
    });
    return runs;
  }

  async #readRun(runId: string): Promise<Run | undefined> {
    try {
      return await this.#agent.run(this.threadId, runId, this.#closed.signal);
    } catch (error) {
      // A link to a deleted run shows the thread.
      if (statusOf(error) === 404 || statusOf(error) === 422) return undefined;
      throw error;
    }
  }

  async #readFailure(runId: string): Promise<void> {
    await this.#attempt(async () => {
      const failure = await this.#agent.runError(this.threadId, runId);
      if (this.run.value?.run_id === runId) this.failure.value = failure;
    });
  }

  /** Follows a run to its end, reconnecting after lost connections and restarts of the service. */
  async #follow(runId: string): Promise<void> {
    const following = new AbortController();
    this.#following = following;
    const signal = AbortSignal.any([this.#closed.signal, following.signal]);
    this.isFollowing.value = true;
    let view = emptyRun(runId);
    let timer: ReturnType<typeof setTimeout> | undefined;
    let publishedAt = -frameMs;
    const publish = (): void => {
      clearTimeout(timer);
      timer = undefined;
      publishedAt = performance.now();
      if (!signal.aborted && this.run.value?.run_id === runId) this.view.value = view;
    };
    try {
      while (!signal.aborted) {
        try {
          for await (const event of this.#agent.follow(this.threadId, runId, view.lastEventId, signal)) {
            this.isReconnecting.value = false;
            view = reduceRun(view, event);
            timer ??= setTimeout(publish, publishedAt + frameMs - performance.now());
          }
          publish();
          const run = await this.#agent.run(this.threadId, runId, signal);
          if (isFinal(run.status)) return await this.#end(run, view, signal);
        } catch (error) {
          publish();
          if (signal.aborted) return;
          if (statusOf(error) === 404) return await this.reload();
          // The service no longer has the events after the last one: start again with its oldest.
          if (statusOf(error) === 422) view = emptyRun(runId);
          if (isFinalRefusal(error)) throw error;
        }
        this.isReconnecting.value = true;
        await pause(retryMs, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.refusal.value = { runId, error: toError(error) };
    } finally {
      clearTimeout(timer);
      if (this.#following === following) {
        this.#following = undefined;
        this.isReconnecting.value = false;
        this.isFollowing.value = false;
      }
    }
  }

  async #end(run: Run, view: RunView, signal: AbortSignal): Promise<void> {
    await this.#load();
    if (signal.aborted) return;
    batch(() => {
      this.run.value = run;
      this.view.value = { ...view, streamed: [] };
      this.failure.value = view.failure;
      this.isReconnecting.value = false;
      this.isFollowing.value = false;
    });
    if (run.status !== 'success' && !view.failure) await this.#readFailure(run.run_id);
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
      this.problem.value = undefined;
    } catch (error) {
      if (!this.#closed.signal.aborted) this.problem.value = toError(error);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
