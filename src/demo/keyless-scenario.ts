import * as z from 'zod';
import { systemClock } from '../kit/clock.ts';
import { requestsTo, type Scenario } from './scenarios.ts';
import { copyExample, upload } from './service-scenarios.ts';

const keys = z.looseObject({
  resources: z.array(
    z.looseObject({ name: z.string(), scopes: z.array(z.string()), expires_at: z.string().nullable() }),
  ),
});

/** For how long the key of a step is good, and the time that the step needs of it for a deploy and a rollback. */
const keyMinutes = 15;

/** The claims of a workflow run of the trusted repository, and those of one with the same name that is another. */
const trusted = { sub: 'repo:acme/uploaded-agent', repository_id: '1296269', repository_owner_id: '583231' };
const recycled = { ...trusted, repository_id: '9912345' };

/** A step with `id-token: write` and no api-key: the token of its run is exchanged for a key that lives minutes. */
export const keylessScenario: Scenario = {
  title: 'a keyless step: a token for a key of minutes',
  async play(environment, screen) {
    const { issuer, service } = environment;
    const { send, ask } = requestsTo(service.url, service);
    const { repository_id, repository_owner_id } = trusted;
    const policy = {
      name: 'uploaded agent',
      issuer: issuer.url,
      claims: { repository_id, repository_owner_id },
      scopes: ['deploy', 'agent'],
      key_minutes: keyMinutes,
    };
    const created = await send('/v1/trust-policies', policy);
    const folder = await copyExample(environment);
    const stepOf = (claims: object) => {
      issuer.state.claimsOfRun = claims;
      const inputs = { 'api-key': '', 'tenant-id': service.tenantId };
      return upload(environment, screen, folder, inputs, issuer.jobEnvironment);
    };
    const step = await stepOf(trusted);
    const { resources } = await ask('/v1/api-keys?limit=100', keys);
    const issued = resources.find(({ name }) => name.startsWith('token of'));
    const minutes = Math.ceil((Date.parse(issued?.expires_at ?? '') - systemClock.now()) / 60_000);
    screen.line(
      `   its key may ${issued?.scopes.join(' and ')}, and ends in ${minutes} minutes; then another repository:`,
    );
    const refused = await stepOf(recycled);
    const outcomes = [step, refused].map(({ outputs }) => outputs['outcome'] ?? 'none');
    const isProven =
      created.status === 201 &&
      outcomes.join() === 'unchanged,refused' &&
      refused.exitCode === 1 &&
      minutes > 0 &&
      minutes <= keyMinutes;
    return { isProven, summary: `${outcomes.join('; another repository: ')}; the key ends in ${minutes} minutes` };
  },
};
