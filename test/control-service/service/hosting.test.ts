import { afterEach, describe, expect, test } from 'vitest';
import { hostings } from '../../../src/control-service/rules/hosting.ts';
import { fromGit, fromImage, fromUpload, openWorld, refusalOf } from '../worlds.ts';
import type { World } from '../worlds.ts';

let world: World | undefined;
afterEach(() => world?.close());

const fromPush = () => ({ ...fromImage(), source: 'internal_docker' });
const refusals: Readonly<Record<string, string>> = {
  'cloud external_docker':
    'source external_docker is only available for self-hosted deployments, and this service was started with --hosting cloud.',
  'self-hosted github':
    'source github is only available for Cloud SaaS deployments, and this service was started with --hosting self-hosted.',
};

describe.each(['in process', 'over HTTP'] as const)('%s', (side) => {
  test.each(hostings)(
    '[control.create.github-availability] [control.create.external-docker-availability] a service with the hosting %s has the sources that the document gives it',
    async (hosting) => {
      world = await openWorld(side, '', undefined, { hosting });
      const { control } = world;
      for (const request of [fromGit(), fromImage(), fromUpload(), fromPush()]) {
        const asked = control.createDeployment(request);
        const refusal = refusals[`${hosting} ${request.source}`];
        const end = refusal === undefined ? (await asked).source : (await refusalOf(asked)).detail;
        expect(end).toBe(refusal ?? request.source);
      }
      await world.rollouts.settled();
    },
  );
});
