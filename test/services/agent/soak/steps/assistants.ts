import { isDeepStrictEqual } from 'node:util';
import { fieldsOf, itemsOf } from '../caller.ts';
import { note } from '../worker.ts';
import type { Assistant, Step, Version, Worker } from '../worker.ts';

const make: Step = async (worker) => {
  const { chance, caller, assistants, name, newMark } = worker;
  const id = chance.uuid();
  const version = { greeting: `greets-${newMark()}`, name: `of ${name}`, metadata: { by: name } };
  const body = { assistant_id: id, graph_id: 'soak', context: { greeting: version.greeting }, ...without(version) };
  note(assistants, id, { active: 1, versions: [version] }, await caller.ask('POST', '/assistants', body));
};

/** A new version: sent fields replace the old ones; metadata is merged. */
const patch: Step = async (worker) => {
  const { chance, caller, assistants, newMark } = worker;
  const [id, assistant] = anAssistant(worker);
  if (assistant === undefined) return make(worker);
  const before = activeOf(assistant);
  const word = newMark();
  const after = {
    greeting: `greets-${word}`,
    name: chance.is(0.5) ? `named ${word}` : before.name,
    metadata: chance.is(0.5) ? { ...before.metadata, [`key${chance.between(0, 3)}`]: word } : before.metadata,
  };
  const said = await caller.ask('PATCH', `/assistants/${id}`, {
    context: { greeting: after.greeting },
    ...without(after),
  });
  const versions = [...assistant.versions, after];
  note(assistants, id, { active: versions.length, versions }, said);
};

const rollBack: Step = async (worker) => {
  const [id, assistant] = anAssistant(worker);
  if (assistant === undefined) return make(worker);
  const active = worker.chance.between(1, assistant.versions.length);
  const said = await worker.caller.ask('POST', `/assistants/${id}/latest`, { version: active });
  note(worker.assistants, id, { ...assistant, active }, said);
  await worker.caller.ask('POST', `/assistants/${id}/latest`, { version: 10_000 }, [404]);
};

const remove: Step = async (worker) => {
  const [id, assistant] = anAssistant(worker);
  if (assistant === undefined || worker.assistants.sure().length < 3) return make(worker);
  note(worker.assistants, id, undefined, await worker.caller.ask('DELETE', `/assistants/${id}`));
};

/** Every process must use the active version. */
const run: Step = async (worker) => {
  const { caller, newMark, faults } = worker;
  const [id, assistant] = anAssistant(worker);
  if (assistant === undefined) return make(worker);
  const mark = newMark();
  const said = await caller.ask('POST', '/runs/wait', { assistant_id: id, input: { mark, sleep_ms: 0 } });
  if (said.kind === 'unknown' || '__error__' in fieldsOf(said.body)) return;
  const { output } = fieldsOf(said.body);
  const expected = `${activeOf(assistant).greeting} ${mark}`;
  if (output !== expected) faults.push(`assistant ${id} answered ${String(output)} instead of ${expected}`);
};

const search: Step = async (worker) => {
  const { caller, assistants, name, faults } = worker;
  const sure = new Set(assistants.sure());
  const said = await caller.ask('POST', '/assistants/search', { metadata: { by: name }, limit: 1000 });
  if (said.kind === 'unknown') return;
  const found = new Set(itemsOf(said.body).map((each) => String(fieldsOf(each)['assistant_id'])));
  if (sure.difference(found).size > 0) faults.push(`the search missed assistants of ${name}`);
  await caller.ask('POST', '/assistants/count', { metadata: { by: name } });
};

const look: Step = async (worker) => {
  const [id, assistant] = anAssistant(worker);
  if (assistant === undefined) return make(worker);
  for (const part of ['graph', 'schemas', 'subgraphs']) await worker.caller.ask('GET', `/assistants/${id}/${part}`);
};

/** Steps of the group of assistants, with their weights. */
export const assistantSteps: [number, Step][] = [
  [2, make],
  [5, patch],
  [4, rollBack],
  [1, remove],
  [5, run],
  [2, search],
  [1, look],
];

/** An assistant as its endpoints return it; undefined if absent. */
export async function readAssistant({ caller }: Worker, id: string): Promise<Assistant | undefined> {
  const said = await caller.ask('GET', `/assistants/${id}`, undefined, [200, 404]);
  if (said.kind === 'unknown') throw new Error('the server is away');
  if (said.status === 404) return undefined;
  const versions = await caller.ask('POST', `/assistants/${id}/versions`, { limit: 1000 });
  if (versions.kind === 'unknown') throw new Error('the server is away');
  const kept = itemsOf(versions.body).map(fieldsOf).toReversed();
  const active = fieldsOf(said.body);
  const same = kept.find(({ version }) => version === active['version']);
  if (!isDeepStrictEqual(same && versionOf(same), versionOf(active)))
    throw new Error(`Assistant ${id} shows what its version ${String(active['version'])} does not hold.`);
  return { active: Number(active['version']), versions: kept.map(versionOf) };
}

const versionOf = ({ context, name, metadata }: Record<string, unknown>): Version => ({
  greeting: String(fieldsOf(context)['greeting']),
  name: String(name),
  metadata: fieldsOf(metadata),
});

/** An assistant that certainly exists. */
function anAssistant({ chance, assistants }: Worker): [string, Assistant | undefined] {
  const id = chance.any(assistants.sure()) ?? '';
  return [id, assistants.get(id)];
}

const activeOf = ({ active, versions }: Assistant): Version =>
  versions[active - 1] ?? { greeting: '', name: '', metadata: {} };

const without = ({ name, metadata }: Version) => ({ name, metadata });
