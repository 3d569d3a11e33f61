import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver, type Receiver } from '../../src/demo/environment.ts';

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

test('a run that is reported twice counts once, with the last values', async () => {
  expect(await report('twice', reported('r', 'one'))).toBe(204);
  expect(await report('twice', reported('r', 'two'))).toBe(204);
  expect(receiver.received('twice')).toEqual([reported('r', 'two')]);
});

test('a report to one address is not visible at another', async () => {
  await report('here', reported('r', 'one'));
  expect(receiver.received('there')).toEqual([]);
});

test('rejects a body that is no run', async () => {
  expect(await report('other', { hello: 'there' })).toBe(400);
  expect(receiver.received('other')).toEqual([]);
});
