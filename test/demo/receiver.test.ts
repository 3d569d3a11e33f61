import { afterAll, beforeAll, expect, test } from 'vitest';
import { startReceiver, type Receiver } from '../../src/demo/receiver.ts';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.stop());

const tell = async (word: string, body: unknown): Promise<number> => {
  const headers = { 'content-type': 'application/json' };
  return (await fetch(receiver.addressFor(word), { method: 'POST', headers, body: JSON.stringify(body) })).status;
};
const told = (run_id: string, output: string) => ({ run_id, thread_id: 't', status: 'success', values: { output } });

test('a run that is told twice counts once, with what came last', async () => {
  expect(await tell('twice', told('r', 'one'))).toBe(204);
  expect(await tell('twice', told('r', 'two'))).toBe(204);
  expect(receiver.told('twice')).toEqual([told('r', 'two')]);
});

test('what is told to one address is not told to another', async () => {
  await tell('here', told('r', 'one'));
  expect(receiver.told('there')).toEqual([]);
});

test('what is no run is not taken', async () => {
  expect(await tell('other', { hello: 'there' })).toBe(400);
  expect(receiver.told('other')).toEqual([]);
});
