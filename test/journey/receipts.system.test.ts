// Deploys, rollbacks and deletions leave receipts, which the service confirms; what is edited in them it contradicts.
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { receipt as receiptShape, type Receipt, type ReceiptPredicate } from '../../src/contract/receipt.ts';
import { receiptText, sha256, statementOf } from '../../src/deploy/words/receipt.ts';
import { runStep } from '../../src/demo/runner.ts';
import { runHere, type CliEnd } from '../cli/run-cli.ts';
import { linkPackages, linkScript } from '../installed-packages.ts';
import { openJourneyFixture, root, type JourneyFixture } from './fixture.ts';

let fixture: JourneyFixture;
let folder = '';

beforeAll(async () => {
  fixture = await openJourneyFixture();
  folder = await mkdtemp(join(tmpdir(), 'landfall-receipts-'));
  await cp(join(import.meta.dirname, 'agents/talker'), join(folder, 'agent'), { recursive: true });
  await writeFile(join(folder, 'agent/link.mjs'), linkScript);
});
afterAll(async () => {
  await fixture?.close();
  await rm(folder, { recursive: true, force: true });
});

const smokeTests = JSON.stringify([
  {
    name: 'answers',
    assistant: 'talk',
    input: { input: 'you' },
    expect: { values: [{ path: '$.said', contains: 'you' }] },
  },
]);

const env = () => ({ LANDFALL_BASE_URL: fixture.service.url, LANDFALL_API_KEY: fixture.service.apiKey });

const run = (command: string, ...options: string[]): Promise<CliEnd> =>
  runHere([command, '--name', 'receipted', '--receipt', `${command}.json`, '--poll-seconds', '0.2', ...options], {
    cwd: folder,
    env: env(),
  });

const deploy = (...options: string[]): Promise<CliEnd> =>
  run(
    'deploy',
    '--source-dir',
    'agent',
    '--graph-config-path',
    'langgraph.json',
    '--install-command',
    linkPackages,
    '--smoke-tests',
    smokeTests,
    ...options,
  );

const receiptOf = async (command: string): Promise<Receipt> =>
  receiptShape.parse(JSON.parse(await readFile(join(folder, `${command}.json`), 'utf8')));

const Verified = z.object({
  outcome: z.string(),
  receipts: z.array(
    z.object({
      claims: z.array(z.object({ claim: z.string(), result: z.string(), code: z.string() })),
      now: z.object({ state: z.string() }),
    }),
  ),
});

/** The exit code of `landfall receipt verify`, and each claim that does not hold. */
async function verify(file: string, more: Record<string, string> = {}) {
  const { code, out } = await runHere(['receipt', 'verify', file, '--json'], {
    cwd: folder,
    env: { ...env(), ...more },
  });
  const { outcome, receipts } = Verified.parse(JSON.parse(out));
  const claims = receipts.flatMap((each) => each.claims);
  const named = (result: string): string[] => claims.filter((each) => each.result === result).map(({ claim }) => claim);
  return { code, outcome, holds: named('holds'), fails: named('fails'), now: receipts.map(({ now }) => now.state) };
}

/** Writes a receipt with another predicate, whose subject fits. */
async function forged(change: (predicate: ReceiptPredicate) => Partial<ReceiptPredicate>): Promise<string> {
  const { predicate } = await receiptOf('deploy');
  await writeFile(join(folder, 'forged.json'), receiptText(statementOf({ ...predicate, ...change(predicate) })));
  return 'forged.json';
}

test('the service confirms the receipt of a deploy', async () => {
  expect(await deploy()).toMatchObject({ code: 0, err: '' });
  const { predicate, subject } = await receiptOf('deploy');
  expect(predicate).toMatchObject({ outcome: 'deployed', verdict: { result: 'passed' }, by: { program: 'cli' } });
  expect(`sha256:${subject[0]?.digest['sha256']}`).toBe(predicate.revision?.source_digest);
  expect(await verify('deploy.json')).toEqual({
    code: 0,
    outcome: 'verified',
    holds: ['subject', 'service', 'times', 'tenant', 'deployment', 'revision', 'source_digest', 'outcome', 'verdict'],
    fails: [],
    now: ['live'],
  });
});

test.each<[string, (predicate: ReceiptPredicate) => Partial<ReceiptPredicate>, string[]]>([
  ['another service', ({ service }) => ({ service: { ...service, address: 'https://other.test' } }), ['service']],
  ['another tenant', ({ service }) => ({ service: { ...service, tenant_id: 'other' } }), ['tenant']],
  ['another name', ({ deployment }) => ({ deployment: { ...deployment, name: 'production' } }), ['deployment']],
  [
    'another build',
    ({ revision }) => ({ revision: revision && { ...revision, source_digest: `sha256:${'0'.repeat(64)}` } }),
    ['source_digest'],
  ],
  [
    'a better verdict',
    ({ verdict }) => ({
      verdict: { ...verdict, tests: verdict.tests.map((each) => ({ ...each, total_ms: 0.5 })) },
    }),
    ['verdict'],
  ],
  ['a later time', () => ({ ended_at: '2999-01-01T00:00:00.000Z' }), ['times']],
])('the service contradicts a receipt of %s', async (_, change, fails) => {
  expect(await verify(await forged(change))).toMatchObject({ code: 1, outcome: 'refuted', fails });
});

test('a receipt is confirmed from its signed bundle, whose subject is its file', async () => {
  const text = await readFile(join(folder, 'deploy.json'), 'utf8');
  const statement = {
    ...(await receiptOf('deploy')),
    subject: [{ name: 'deploy.json', digest: { sha256: sha256(text) } }],
  };
  const envelope = (value: unknown) => ({
    payloadType: 'application/vnd.in-toto+json',
    payload: Buffer.from(JSON.stringify(value)).toString('base64'),
    signatures: [{ sig: 'c2ln' }],
  });
  const lines = [{ predicateType: 'https://slsa.dev/provenance/v1' }, statement].map((each) =>
    JSON.stringify({ mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json', dsseEnvelope: envelope(each) }),
  );
  await writeFile(join(folder, 'bundle.jsonl'), `${lines.join('\n')}\n`);
  expect(await verify('bundle.jsonl')).toMatchObject({ code: 0, outcome: 'verified', fails: [] });
});

test('a rollback and a deletion leave receipts that are confirmed', async () => {
  const graph = join(folder, 'agent/graph.ts');
  await writeFile(graph, (await readFile(graph, 'utf8')).replaceAll("'first'", "'second'"));
  expect(await deploy()).toMatchObject({ code: 0, err: '' });
  expect(await verify('deploy.json')).toMatchObject({ code: 0, fails: [], now: ['live'] });
  expect(await run('rollback', '--smoke-tests', smokeTests)).toMatchObject({ code: 0 });
  const rolledBack = await verify('rollback.json');
  expect(rolledBack).toMatchObject({ code: 0, fails: [], now: ['live'] });
  expect(rolledBack.holds).toEqual(expect.arrayContaining(['rollback', 'verdict', 'source_digest']));
  expect(await verify('deploy.json')).toMatchObject({ code: 0, fails: [], now: ['replaced'] });
  expect(await run('delete')).toMatchObject({ code: 0 });
  expect(await verify('delete.json')).toMatchObject({
    code: 0,
    holds: ['subject', 'service', 'times', 'outcome'],
    now: ['gone'],
  });
  expect(await verify('deploy.json')).toMatchObject({ code: 1, fails: ['deployment'] });
});

test('a step of a workflow leaves a receipt that names its run, and the predicate for actions/attest', async () => {
  const { url, apiKey } = fixture.service;
  const { exitCode, outputs } = await runStep({
    main: join(root, 'dist/index.js'),
    workspace: folder,
    inputs: {
      'base-url': url,
      'api-key': apiKey,
      name: 'by-a-step',
      'source-dir': 'agent',
      'graph-config-path': 'langgraph.json',
      'install-command': linkPackages,
      'smoke-tests': smokeTests,
      'poll-seconds': '0.2',
      receipt: 'step.json',
    },
    github: {
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_REPOSITORY: 'acme/agents',
      GITHUB_REF: 'refs/heads/main',
      GITHUB_SHA: 'a'.repeat(40),
      GITHUB_RUN_ID: '7',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_ACTOR: 'octocat',
    },
  });
  expect({ exitCode, outputs }).toMatchObject({
    exitCode: 0,
    outputs: { outcome: 'deployed', receipt: 'step.json', 'receipt-predicate': 'step.predicate.json' },
  });
  const { predicate } = await receiptOf('step');
  expect(JSON.parse(await readFile(join(folder, 'step.predicate.json'), 'utf8'))).toEqual(predicate);
  expect(predicate.by).toMatchObject({ program: 'action', workflow: { actor: 'octocat', run_id: '7' } });
  const verified = await verify('step.json');
  expect(verified).toMatchObject({ code: 0, fails: [] });
  expect(verified.holds).toContain('by');
});
