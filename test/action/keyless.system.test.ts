// Deploys without a stored key: with the token of a workflow run or of another CI job.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runStep, type StepResult } from '../../src/demo/runner.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { runCli, type CliEnd } from '../cli/run-cli.ts';
import { openServiceFixture, type ServiceFixture } from '../services/control/service-fixture.ts';
import { startIssuer, type Issuer } from '../../src/demo/token-issuer.ts';

const main = join(import.meta.dirname, '../../dist/index.js');
const sub = 'repo:acme/support:ref:refs/heads/main';

let workspace: string;
let issuer: Issuer;
let fixture: ServiceFixture;
beforeAll(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'landfall-keyless-'));
  issuer = await startIssuer();
  fixture = await openServiceFixture({ clock: systemClock, oidcIssuers: [issuer.url] });
  const scopes = ['deploy', 'agent'];
  await fixture.control.createTrustPolicy({ name: 'main', issuer: issuer.url, claims: { sub }, scopes });
});
afterAll(async () => {
  await fixture?.close();
  await issuer?.stop();
  await rm(workspace, { recursive: true, force: true });
});

/** A plan by the Action, in a job whose token has these claims. */
const step = (claims: object, more: Record<string, string> = {}): Promise<StepResult> => {
  issuer.state.claimsOfRun = claims;
  const inputs = { mode: 'plan', name: 'echo', source: 'internal_docker', 'image-uri': 'registry.example.com/echo:1' };
  return runStep({
    main,
    workspace,
    inputs: { ...inputs, 'base-url': fixture.baseUrl, 'tenant-id': fixture.tenantId, ...more },
    env: issuer.jobEnvironment,
  });
};

const command = (token: string): Promise<CliEnd> =>
  runCli(
    ['plan', '--json', '--name', 'echo', '--source', 'internal_docker', '--image-uri', 'registry.example.com/echo:1'],
    {
      cwd: workspace,
      env: { LANDFALL_BASE_URL: fixture.baseUrl, LANDFALL_TENANT_ID: fixture.tenantId, LANDFALL_OIDC_TOKEN: token },
    },
  );

test('the Action gets a key for the token of its run, and shows neither', async () => {
  const { exitCode, outputs, log } = await step({ sub });
  expect({ exitCode, outputs }).toMatchObject({ exitCode: 0, outputs: { outcome: 'planned', plan: 'create' } });
  const shown = log.replaceAll(/^::add-mask::.*$/gm, '');
  expect(shown).not.toMatch(/lf_[0-9a-f]{16}_|eyJ/);
  const { resources } = await fixture.control.listApiKeys({ limit: 100 });
  expect(resources).toContainEqual(
    expect.objectContaining({ name: `token of ${sub}`, scopes: ['deploy', 'agent'], expires_at: expect.any(String) }),
  );
});

test('the Action begins no run that its key does not last for', async () => {
  const { exitCode, outputs } = await step({ sub }, { mode: 'deploy', 'timeout-minutes': '60' });
  const reason = expect.stringContaining('may need 120 minutes');
  expect({ exitCode, outputs }).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused', reason } });
});

test('the Action says what its token claims where no policy trusts it', async () => {
  const { exitCode, outputs, log } = await step({ sub: 'repo:acme/other' });
  expect({ exitCode, outputs }).toMatchObject({ exitCode: 1, outputs: { outcome: 'refused' } });
  expect(log).toContain('sub repo:acme/other');
  expect(log).toContain('accept the issuer of this token (--oidc-issuer)');
});

test('the command line keeps its token where the input is wrong', async () => {
  const token = await issuer.sign({ sub, aud: fixture.baseUrl });
  const wrong = await runCli(['plan', '--poll-seconds', 'x'], {
    cwd: workspace,
    env: { LANDFALL_BASE_URL: fixture.baseUrl, LANDFALL_TENANT_ID: fixture.tenantId, LANDFALL_OIDC_TOKEN: token },
  });
  expect(wrong.code).toBe(2);
  expect(await command(token)).toMatchObject({ code: 0 });
});

test('the command line gets a key for the token of its job, once', async () => {
  const token = await issuer.sign({ sub, aud: fixture.baseUrl });
  const first = await command(token);
  expect([first.code, JSON.parse(first.out)]).toMatchObject([0, { outcome: 'planned' }]);
  const second = await command(token);
  const reason = expect.stringContaining('was exchanged before');
  expect([second.code, JSON.parse(second.out)]).toMatchObject([1, { outcome: 'refused', reason }]);
  expect(`${second.out}${second.err}`).not.toContain(token);
});
