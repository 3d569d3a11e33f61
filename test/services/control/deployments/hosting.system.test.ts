import { afterEach, describe, expect, test } from 'vitest';
import { hostings } from '../../../../src/services/control/deployments/validation/value-problems.ts';
import { fromGit, fromImage, fromUpload, openServiceFixture, refusalOf } from '../service-fixture.ts';
import type { ServiceFixture } from '../service-fixture.ts';

let fixture: ServiceFixture | undefined;
afterEach(() => fixture?.close());

const fromPush = () => ({ ...fromImage(), source: 'internal_docker' });
const refusals: Readonly<Record<string, string>> = {
  'cloud external_docker':
    'source external_docker is only available for self-hosted deployments, and this service was started with --hosting cloud.',
  'self-hosted github':
    'source github is only available for Cloud SaaS deployments, and this service was started with --hosting self-hosted.',
};

describe('over HTTP', () => {
  test.each(hostings)(
    'hosting %s offers the documented sources',
    { meta: { claims: ['control.create.github-availability', 'control.create.external-docker-availability'] } },
    async (hosting) => {
      fixture = await openServiceFixture({ hosting });
      const { control } = fixture;
      for (const request of [fromGit(), fromImage(), fromUpload(), fromPush()]) {
        const requested = control.createDeployment(request);
        const refusal = refusals[`${hosting} ${request.source}`];
        const end = refusal === undefined ? (await requested).source : (await refusalOf(requested)).detail;
        expect(end).toBe(refusal ?? request.source);
      }
      await fixture.rollouts.settled();
    },
  );
});
