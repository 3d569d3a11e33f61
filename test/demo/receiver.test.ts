import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver, type Receiver } from '../../src/demo/receiver.ts';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.stop());

const report = async (word: string, body: unknown): Promise<number> => {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(receiver.addressFor(word), { method: 'POST', headers, body: JSON.stringify(body) })).status;
};
const reported = (run_id: string, output: string) => ({
  run_id,
  thread_id: 't',
  status: 'success',
  values: { output },
});

test('a run that is told twice counts once, with what came last', async () => {
  expect(await report('twice', reported('r', 'one'))).toBe(204);
  expect(await report('twice', reported('r', 'two'))).toBe(204);
  expect(receiver.reported('twice')).toEqual([reported('r', 'two')]);
});

test('what is told to one address is not told to another', async () => {
  await report('here', reported('r', 'one'));
  expect(receiver.reported('there')).toEqual([]);
});

test('what is no run is not taken', async () => {
  expect(await report('other', { hello: 'there' })).toBe(400);
  expect(receiver.reported('other')).toEqual([]);
});
