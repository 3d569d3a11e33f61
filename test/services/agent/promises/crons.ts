import { expect, test } from 'vitest';
import { UNKNOWN_ID, refusalOf, UUID } from './fixture.ts';
import type { Given } from './fixture.ts';

/** Crons, as far as the document lists their endpoints. */
export function cronPromises(agent: Given): void {
  const yearly = { assistant_id: 'echo', schedule: '0 0 1 1 *', input: { input: 'Ada' } };

  test(
    'creates a cron on a thread and without one, and deletes it',
    { meta: { claims: ['agent.groups.crons', 'agent.endpoints.cron', 'agent.endpoints.thread-cron'] } },
    async () => {
      const { thread_id } = await agent().createThread({});
      const { assistant_id } = await agent().getAssistant('echo');
      const [alone, onThread] = [
        await agent().createCron(yearly, undefined),
        await agent().createCron({ ...yearly, metadata: { by: 'a' } }, thread_id),
      ];
      expect(alone).toMatchObject({ cron_id: expect.stringMatching(UUID), assistant_id, thread_id: null });
      expect(onThread).toMatchObject({ schedule: '0 0 1 1 *', thread_id, metadata: { by: 'a' } });
      expect(onThread.next_run_date).toMatch(/-01-01T00:00:00\.000Z$/);
      for (const { cron_id } of [alone, onThread]) {
        await agent().deleteCron(cron_id);
        expect(await refusalOf(agent().deleteCron(cron_id))).toMatchObject({ kind: 'missing', status: 404 });
      }
    },
  );

  test('rejects an invalid schedule, and an unknown thread or assistant', async () => {
    const refusal = await refusalOf(agent().createCron({ ...yearly, schedule: 'now and then' }, undefined));
    expect(refusal).toMatchObject({ status: 422, problems: [{ loc: ['body', 'schedule'] }] });
    const missing = { kind: 'missing', status: 404 };
    expect(await refusalOf(agent().createCron(yearly, UNKNOWN_ID))).toMatchObject(missing);
    expect(await refusalOf(agent().createCron({ ...yearly, assistant_id: 'nope' }, undefined))).toMatchObject(missing);
  });
}
