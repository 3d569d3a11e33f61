import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { holdHeader } from '../../src/contract/control/revision.ts';
import { expectAccessible, expectClean, openConsoleFixture, type ConsoleFixture } from './fixture.ts';
import { press, type } from './keyboard.ts';

let console: ConsoleFixture;
beforeAll(async () => {
  console = await openConsoleFixture();
});
afterAll(() => console.close());

const entryOf = (page: Page, revisionId: string | null): Locator =>
  page.getByRole('listitem', { name: `Revision ${(revisionId ?? '').slice(0, 8)}` });

/** A comparison with the live revision, in which the new one was right so often of 30. */
const against = (right: number): object => ({
  comparison: {
    answers: { live: 30, new: 30 },
    right_answers: { live: 29, new: right },
    unreachable: 2,
    beside: true,
    measures: [
      { measure: 'pass-rate', verdict: 'worse', decides: true, p_value: 0.0001, live: 29, new: right },
      { measure: 'total', verdict: 'no-worse', decides: true, p_value: 0.5, live: 900, new: 920 },
      { measure: 'nodes', verdict: 'undecided', decides: false, p_value: 0.2, live: 1, new: 2 },
    ],
    times_ms: {
      live: Array.from({ length: 30 }, (_, index) => 850 + 5 * index),
      new: Array.from({ length: 30 }, (_, index) => 800 + 12 * index),
    },
  },
});

const post = (path: string, headers: Record<string, string>, body: object = {}): Promise<Response> =>
  fetch(`${console.services.service.url}/v2/deployments/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': console.services.service.apiKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Reports a verdict on a smoke test of several answers. */
async function report(
  deploymentId: string,
  revisionId: string | null,
  kind: string,
  right: number,
  more: object = {},
): Promise<void> {
  const reported = await post(
    `${deploymentId}/revisions/${revisionId}/verdicts`,
    {},
    {
      kind,
      reporter: 'cli',
      tests: [
        {
          name: 'knows <b>refunds</b>',
          kind,
          attempts: 30,
          expectations: [],
          why: null,
          first_event_ms: 12,
          total_ms: 40,
          answers: 30,
          right_answers: right,
          pass_rate: 0.9,
          low_rate: 0.6,
          ...more,
        },
      ],
    },
  );
  expect(reported.status).toBe(201);
}

test('tries a held revision, promotes it, discards another, and shows the verdicts over all', async () => {
  const { control } = console.services;
  const { id, latest_revision_id: first } = await console.deploy('echo-agent');
  await report(id, first, 'passed', 29);
  const hold = async (): Promise<string> => {
    const redeployed = await post(`${id}/revisions/${first}/redeploy`, { [holdHeader]: '1500' });
    expect(redeployed.status).toBe(200);
    return (await control.getDeployment(id)).latest_revision_id ?? '';
  };
  const second = await hold();
  const short = second.slice(0, 8);

  const opened = await console.open(`deployments/${id}`);
  const { page } = opened;
  const entry = entryOf(page, second);
  const notice = entry.getByRole('region', { name: `Hold of revision ${short}` });
  await notice.getByText(/It runs and gets no traffic\. The hold ends in 2\d min/).waitFor({ timeout: 120_000 });
  await entry.getByText('Held before traffic', { exact: true }).waitFor();
  await entryOf(page, first).locator('.deployment-live').getByText('Live').waitFor();
  await notice.getByText(`/agents/${id}@${second}`).waitFor();
  expect(await entry.getByRole('button', { name: /Interrupt/ }).count()).toBe(0);
  await report(id, second, 'failed', 15, against(15));
  await expectAccessible(page);

  // The playground talks to the held revision, and keeps its address.
  await press(notice.getByRole('link', { name: `Open the playground of revision ${short}` }));
  await page.getByText('which is held before traffic').waitFor();
  await page.getByRole('heading', { name: 'Threads' }).waitFor();
  expect(new URL(page.url()).searchParams.get('revision')).toBe(second);
  await expectAccessible(page);
  await press(page.getByRole('link', { name: short }));

  // Its own page decides as well; the dialog warns of the tests that failed.
  await press(page.getByRole('button', { name: `Promote revision ${short}` }));
  const promotion = page.getByRole('dialog', { name: `Promote ${short}` });
  await promotion.getByText(`Switches the traffic to revision ${short}.`).waitFor();
  await promotion.getByText(/Its smoke tests failed .*: knows <b>refunds<\/b>\./).waitFor();
  await expectAccessible(page);
  await press(promotion.getByRole('button', { name: 'Promote' }));
  await page
    .getByRole('region', { name: /^Revision / })
    .getByText('Live', { exact: true })
    .waitFor({ timeout: 120_000 });
  expect((await control.getDeployment(id)).active_revision_id).toBe(second);

  // Another one is discarded, for a reason that the timeline shows.
  const third = await hold();
  await press(page.getByRole('link', { name: 'All revisions' }));
  await press(page.getByRole('button', { name: `Discard revision ${third.slice(0, 8)}` }));
  const discarding = page.getByRole('dialog', { name: `Discard ${third.slice(0, 8)}` });
  await discarding.getByText(`The live revision ${short} keeps serving.`).waitFor();
  await expectAccessible(page);
  await type(discarding.getByLabel('Reason'), 'answers <i>too late</i>');
  await press(discarding.getByRole('button', { name: 'Discard' }));
  const discarded = entryOf(page, third);
  await discarded.getByText('Discarded before traffic', { exact: true }).waitFor({ timeout: 120_000 });
  await discarded.getByText('It was discarded before it got traffic: answers <i>too late</i>').waitFor();
  await entryOf(page, second).locator('.deployment-live').getByText('Live').waitFor();

  // What was compared, in the table that reports on GitHub have.
  const results = entryOf(page, second).getByRole('group', { name: 'Results of the smoke tests' });
  await results.getByRole('cell', { name: /15 of 30, live 29 of 30: worse by right answers$/ }).waitFor();
  await results.getByRole('cell', { name: '29 of 30 96.7 % (83.3 to 99.4 %)' }).waitFor();
  await results.getByRole('cell', { name: '-46.7 points total time +20 ms (+2 %) nodes visited undecided' }).waitFor();
  await results.getByRole('cell', { name: /^ ?live 923 ms new 974 ms 800 ms to/ }).waitFor();
  await entryOf(page, second).getByText('Only advice: nodes visited.').waitFor();

  // The verdicts over the revisions, as a table with links.
  const table = page.getByRole('table').filter({ has: page.getByRole('columnheader', { name: 'Smoke test' }) });
  const row = table.getByRole('row', { name: /knows <b>refunds<\/b>/ });
  await row.getByText('Passed: 29 of 30 answers right, 96.7 % (83.3 to 99.4 %)').waitFor();
  await row.getByText('Failed: 15 of 30 answers right, 50 % (33.2 to 66.8 %), live 29 of 30').waitFor();
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  await expectAccessible(page);
  await page.setViewportSize({ width: 1280, height: 800 });
  await press(table.getByRole('link', { name: `Revision ${short}` }).first());
  await page.getByRole('heading', { name: `Revision ${short}` }).waitFor();
  expectClean(opened);
});
