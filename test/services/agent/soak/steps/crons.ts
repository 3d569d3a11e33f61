import { fieldsOf, itemsOf } from '../caller.ts';
import type { Said } from '../caller.ts';
import { note } from '../worker.ts';
import type { Cron, Step, Worker } from '../worker.ts';

/** The time limit (ms) for a due cron to fire, despite killed processes. */
const FIRES_WITHIN_MS = 60_000;

/** A yearly cron; the tests make it due. */
const make: Step = async (worker) => {
  const { caller, chance, name, newMark, hook } = worker;
  const mark = newMark();
  const metadata = { by: name, mark };
  const body = {
    assistant_id: 'soak',
    schedule: '@yearly',
    timezone: 'Europe/Paris',
    input: { mark, sleep_ms: chance.between(0, 500), fail: false, ask: false },
    metadata,
    webhook: hook(mark),
  };
  if (chance.is(0.5))
    return made(worker, await caller.ask('POST', '/runs/crons', { ...body, on_run_completed: 'keep' }));
  // A separate thread that no other step deletes.
  const threadId = chance.uuid();
  const thread = await caller.ask('POST', '/threads', { thread_id: threadId });
  if (thread.kind === 'unknown') return;
  made(worker, await caller.ask('POST', `/threads/${threadId}/runs/crons`, body));
};

function made({ crons, firings }: Worker, said: Said): void {
  if (said.kind === 'unknown') return;
  const cron = fieldsOf(said.body);
  const id = String(cron['cron_id']);
  crons.is(id, cronOf(cron));
  firings.set(id, 0);
}

const patch: Step = async (worker) => {
  const { caller, chance, crons, newMark } = worker;
  const [id, cron] = aCron(worker);
  if (cron === undefined) return make(worker);
  const more = { word: newMark() };
  const enabled = chance.is(0.7);
  const said = await caller.ask('PATCH', `/runs/crons/${id}`, { metadata: more, enabled });
  note(crons, id, { ...cron, enabled, metadata: { ...cron.metadata, ...more } }, said);
};

/** A due cron starts exactly one run, although processes share it and are killed. */
const fire: Step = async (worker) => {
  const { database, firings, faults } = worker;
  const [id, cron] = aCron(worker);
  if (cron === undefined) return make(worker);
  if (!cron.enabled) return;
  await database.query(`update crons set next_run_date = date_trunc('milliseconds', now()) where cron_id = $1`, [id]);
  firings.set(id, (firings.get(id) ?? 0) + 1);
  const end = Date.now() + FIRES_WITHIN_MS;
  for (;;) {
    const { rowCount } = await database.query('select from crons where cron_id = $1 and next_run_date > now()', [id]);
    if (rowCount === 1) return;
    if (Date.now() > end) return void faults.push(`the cron ${id} was due and did not fire`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

const remove: Step = async (worker) => {
  const { caller, crons } = worker;
  const [id, cron] = aCron(worker);
  if (cron === undefined || crons.sure().length < 3) return make(worker);
  note(crons, id, undefined, await caller.ask('DELETE', `/runs/crons/${id}`));
};

const count: Step = async ({ caller }) => {
  await caller.ask('POST', '/runs/crons/search', { limit: 5 });
  await caller.ask('POST', '/runs/crons/count', {});
};

/** Steps of the group of crons, with their weights. */
export const cronSteps: [number, Step][] = [
  [3, make],
  [2, patch],
  [4, fire],
  [1, remove],
  [1, count],
];

/** The existing crons, by id. */
export async function readCrons({ caller }: Worker): Promise<Map<string, Cron>> {
  const said = await caller.ask('POST', '/runs/crons/search', { limit: 1000 });
  if (said.kind === 'unknown') throw new Error('the server is away');
  return new Map(
    itemsOf(said.body)
      .map(fieldsOf)
      .map((cron) => [String(cron['cron_id']), cronOf(cron)]),
  );
}

const cronOf = ({ metadata, enabled, thread_id }: Record<string, unknown>): Cron => ({
  metadata: fieldsOf(metadata),
  enabled: enabled === true,
  threadId: typeof thread_id === 'string' ? thread_id : null,
});

function aCron({ chance, crons }: Worker): [string, Cron | undefined] {
  const id = chance.any(crons.sure()) ?? '';
  return [id, crons.get(id)];
}
