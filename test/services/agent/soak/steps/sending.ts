import { fieldsOf } from '../caller.ts';
import type { Reply } from '../caller.ts';
import type { SentRun } from '../run-ledger.ts';
import type { Worker } from '../worker.ts';

/** How a run is requested. */
export interface RunRequest {
  threadId?: string;
  /** Whether it continues without its client. */
  detached: boolean;
  /** Its maximum duration (ms). */
  most?: number;
  more?: Record<string, unknown>;
}

/** Records a run before it is requested, and returns the request's body. */
export function request(
  worker: Worker,
  { threadId, detached, most = 700, more = {} }: RunRequest,
): { run: SentRun; body: Record<string, unknown> } {
  const { chance, runs, newMark, hook } = worker;
  const mark = newMark();
  const hooked = chance.is(0.4);
  const fail = chance.is(0.1);
  const sleep_ms = chance.is(0.3) ? 0 : chance.between(0, chance.is(0.15) ? 6 * most : most);
  const run = runs.add({ mark, threadId, hooked, end: fail ? 'error' : 'success', sure: detached });
  const body = {
    assistant_id: 'soak',
    input: { mark, sleep_ms, fail, ask: false },
    metadata: { mark },
    ...(hooked ? { webhook: hook(mark) } : {}),
    ...more,
  };
  return { run, body };
}

/** Records from the response headers that the run was accepted, and its location. */
export function accept(run: SentRun, { status, place }: Pick<Reply, 'status' | 'place'>): void {
  if (status !== 200) return;
  run.accepted = true;
  run.runId ??= place?.split('/').at(-1);
}

/** Records the outcome that a waiting client received: it must be the run's own, whatever happened later. */
export function hearEnd(worker: Worker, run: SentRun, { status, text }: Reply): void {
  if (status !== 200 || text === undefined) return;
  const values = fieldsOf(JSON.parse(text));
  const { error } = fieldsOf(values['__error__']);
  run.reply.push(typeof error === 'string' ? error : 'success');
  if (error === undefined && values['output'] !== `hello ${run.mark}`)
    worker.faults.push(`the run ${run.mark} was answered ${text.slice(0, 300)}`);
}

export interface StreamEvent {
  event: string;
  data: string;
  id: number | undefined;
}

/** The complete events of a possibly interrupted stream. */
export function eventsIn(text: string): StreamEvent[] {
  const blocks = text.split('\n\n').slice(0, -1);
  return blocks
    .filter((block) => block.includes('event: '))
    .map((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
      const id = field('id');
      return { event: field('event') ?? '', data: field('data') ?? '', id: id === undefined ? undefined : Number(id) };
    });
}

/** Records the outcome that a stream reported; a stream that just stops reported none. */
export function hearEvents(run: SentRun, events: readonly StreamEvent[]): void {
  const last = events.at(-1);
  // A process that shuts down reports that another one continues the run.
  if (last?.data.includes('another process goes on')) return;
  if (last?.event === 'error') run.reply.push(String(fieldsOf(JSON.parse(last.data))['error']));
  else if (last?.data.includes(`answer ${run.mark}`)) run.reply.push('success');
}
