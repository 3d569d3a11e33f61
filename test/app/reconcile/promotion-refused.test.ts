// Another service refuses a read of a promotion for a moment, or for good.
import { beforeEach, describe, expect, test } from 'vitest';
import type { Targets } from '../../../app/context.ts';
import type { DeployRequest } from '../../../app/reconcile/deploy-request.ts';
import { GitHubApiError } from '../../../app/github/github-api.ts';
import { serviceError } from '../../deploy/machine/control-model.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, requestOf, terms, tested } from './requests.ts';

const a = commitOf('a');
const minute = 60_000;
const hour = 60 * minute;
const promotedFrom = { deploymentId: 'd-staging', name: 'staging' };

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

describe('a promotion that has waited an hour for what staging serves', () => {
  beforeEach(async () => {
    // Staging is being changed: a commit waits there.
    const staging = await fixture.store.request(requestOf(a, { deploymentId: 'd-staging' }));
    if (!staging) throw new Error('nothing is requested of staging');
    const { state: _, ...rest } = staging;
    const sent = { state: 'sending', former: {}, sentAt: 0, sends: 1, deadline: 0 } as const;
    fixture.store.intents.set(staging.id, { ...rest, ...sent });
    fixture.jobs.length = 0;
    const sending: DeployRequest['sending'] = {
      kind: 'promote',
      repoRef: 'main',
      from: { ...promotedFrom, revisionId: 's1', order: 1 },
    };
    await fixture.request(a, { kind: 'promotion', sending, terms: { ...terms, promotedFrom } });
    await fixture.run(hour);
  });

  const github = { refuse: () => void (fixture.githubApi.refuses = true), by: 'GitHub' };
  const service = {
    refuse: () =>
      void fixture.control.fails('get', serviceError('unauthorized', 'get deployment', { status: 403 }), {
        times: 1_000,
      }),
    by: 'the service',
  };

  test.each([
    { ...github, ms: minute, ends: ['waiting'] },
    { ...github, ms: 6 * hour, ends: ['refused'] },
    { ...service, ms: minute, ends: ['waiting'] },
    { ...service, ms: 6 * hour, ends: ['refused'] },
  ])('is $ends once $by has refused it for $ms ms', async ({ refuse, ms, ends }) => {
    expect(await fixture.check(a)).toMatchObject({ title: expect.stringContaining('staging') });
    refuse();
    await fixture.run(ms);
    expect(await fixture.ends(a)).toEqual(ends);
  });

  // Looks are stored at intervals of minutes, and the last one may be long before the first refusal.
  test.each(Array.from({ length: 24 }, (_, phase) => phase * 15))(
    'waits out nine minutes in which the service refuses it, %i s later',
    async (seconds) => {
      await fixture.run(seconds * 1_000);
      service.refuse();
      await fixture.run(9 * minute);
      expect(await fixture.ends(a)).toEqual(['waiting']);
    },
  );
});

describe('what follows from a proven commit', () => {
  const away = new GitHubApiError('read the file: answered 502', 502, 'none');
  const refused = new GitHubApiError('read the file: answered 403', 403, 'none');
  const later: Targets['later'] = [
    {
      deploymentId: 'd-production',
      repoRef: 'main',
      terms: { ...terms, deploymentName: 'production', promotedFrom: { deploymentId: 'd1', name: 'support' } },
    },
  ];

  test.each<[what: string, failures: readonly [GitHubApiError, number][], code: string]>([
    [
      'is requested after a refusal at the end of an outage',
      [
        [away, hour],
        [refused, 8 * minute],
      ],
      'requested',
    ],
    ['is requested after a refusal of some minutes', [[refused, 8 * minute]], 'requested'],
    ['is not requested where the refusal lasts', [[refused, hour]], 'refused'],
    [
      'is not requested where it lasts after an outage',
      [
        [away, hour],
        [refused, hour],
      ],
      'refused',
    ],
  ])('%s', async (_, failures, code) => {
    let now: GitHubApiError | undefined = failures[0]?.[0];
    fixture.context = {
      ...fixture.context,
      targets: {
        targetsOf: async () => {
          if (now) throw now;
          return { targets: [], refused: [], later };
        },
      },
    };

    await fixture.push('a', { terms: { ...tested, promotesTo: ['production'] } });
    for (const [error, ms] of failures) {
      now = error;
      await fixture.run(ms);
    }
    now = undefined;
    await fixture.run(hour);
    expect(await fixture.intent(a)).toMatchObject({ end: { kind: 'deployed' }, promoted: [{ code }] });
  });
});
