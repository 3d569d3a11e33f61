import { fieldsOf } from './caller.ts';
import { readAssistant } from './steps/assistants.ts';
import { readCrons } from './steps/crons.ts';
import { ownMetadata } from './steps/threads.ts';
import type { Worker } from './worker.ts';

/** Faults of a client's assistants, threads, items, crons and tasks: nothing acknowledged may be lost. */
export async function problemsOfKept(worker: Worker): Promise<string[]> {
  const { caller, assistants, threads, items, crons, tasks, name } = worker;
  const problems: (string | undefined)[] = [];
  for (const id of assistants.ids()) problems.push(assistants.problem(id, await readAssistant(worker, id)));
  for (const id of threads.ids()) {
    const said = await caller.ask('GET', `/threads/${id}`, undefined, [200, 404]);
    if (said.kind === 'unknown') problems.push(`thread ${id} could not be read`);
    else problems.push(threads.problem(id, said.status === 404 ? undefined : ownMetadata(said.body)));
  }
  for (const key of items.ids()) {
    const said = await caller.ask('GET', `/store/items?namespace=soak&namespace=${name}&key=${key}`);
    if (said.kind === 'unknown') problems.push(`item ${key} could not be read`);
    else
      problems.push(
        items.problem(key, said.body === null ? undefined : { value: fieldsOf(fieldsOf(said.body)['value']) }),
      );
  }
  const there = await readCrons(worker);
  for (const id of crons.ids()) problems.push(crons.problem(id, there.get(id)));
  for (const [id, text] of tasks) {
    const said = await caller.ask('POST', '/a2a/talk', { jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } });
    if (said.kind === 'unknown' || !JSON.stringify(said.body).includes(`heard ${text}`))
      problems.push(`the task of ${text} is ${JSON.stringify(said)}`);
  }
  return problems.flatMap((problem) => problem ?? []);
}
