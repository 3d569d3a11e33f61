import { describe, expect, test } from 'vitest';
import { claimsPath, parseClaims, readClaims, sidesOf } from './claims.ts';
import type { Claim } from './claims.ts';

/** The headings of the specifications of both services, in their order. They are not part of this repository. */
const HEADINGS = {
  'control-service': [
    'Deployment Control Service API',
    'What the service does',
    'Resources and their fields',
    'Deployment (response)',
    'DeploymentCreateRequest (request body of create)',
    'source_config (all fields nullable; validated according to `source`)',
    'source_revision_config (all fields nullable; validated according to `source`)',
    'Secret',
    'SecretReference (refers to an existing orchestrator secret in the deployment namespace)',
    'ResourceSpec (object; every field optional and nullable)',
    'Volume',
    'VolumeMount',
    'Container (init containers and sidecars)',
    'Gaps in resources',
    'States and transitions',
    'Endpoints',
    'Authentication',
    'Events',
    'Errors',
    'Limits',
    'Versioning',
  ],
  'agent-server': [
    'Agent Server API (assistants, runs, webhooks)',
    'What the service does',
    'Resources and their fields',
    'Assistant',
    'Thread',
    'Run (as carried by the webhook payload)',
    'States and transitions',
    'Endpoints',
    'Authentication',
    'Events',
    'Webhook notification',
    'Webhook configuration (in the graph configuration file, a JSON file)',
    'Stream events',
    'Errors',
    'Limits',
    'Versioning',
  ],
} as const;
const DOCUMENTS = ['control-service', 'agent-server'] as const;

const list = readClaims();
const claim: Claim = {
  id: 'control.deployment.name',
  document: 'control-service',
  section: 'Deployment (response)',
  claim: 'It has a name.',
  scope: 'first',
  state: 'open',
};

describe.each(DOCUMENTS)('the list for the document on the %s', (document) => {
  test.each(HEADINGS[document])('covers the section "%s", or says why it is silent there', (heading) => {
    const entries = [...list.claims, ...list.silent].filter((entry) => entry.document === document);
    expect(entries.map(({ section }) => section)).toContain(heading);
  });

  test('names no section that the document does not have', () => {
    const sections = [...list.claims, ...list.silent].filter((e) => e.document === document).map((e) => e.section);
    expect(
      [...new Set(sections)].filter((section) => !HEADINGS[document].some((heading) => heading === section)),
    ).toEqual([]);
  });

  test('keeps the order of the document', () => {
    const sections = list.claims.filter((e) => e.document === document).map((e) => e.section);
    const places = sections.map((section) => HEADINGS[document].findIndex((heading) => heading === section));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

test('no two claims are in the same words within a section', () => {
  const words = list.claims.map((one) => `${one.document}, ${one.section}: ${one.claim}`);
  expect(words.filter((one, index) => words.indexOf(one) !== index)).toEqual([]);
});

test('the list lies beside its reader', () => {
  expect(readClaims(claimsPath)).toEqual(list);
});

test.each<[string, unknown, string]>([
  ['an id without dots', { ...claim, id: 'control' }, 'not a dotted, lower-case id'],
  ['an id with capital letters', { ...claim, id: 'control.Deployment.name' }, 'not a dotted, lower-case id'],
  ['an id with underscores', { ...claim, id: 'control.deployment.tenant_id' }, 'not a dotted, lower-case id'],
  ['an id of the other document', { ...claim, id: 'agent.deployment.name' }, 'the id starts with another document'],
  ['a claim without words', { ...claim, claim: ' ' }, 'claim'],
  ['a state that is neither open nor done', { ...claim, state: 'started' }, 'state'],
  ['a side that does not exist', { ...claim, sides: ['on paper'] }, 'sides'],
  ['an empty list of sides', { ...claim, sides: [] }, 'sides'],
  ['an unknown field', { ...claim, note: 'later' }, 'note'],
])('%s is refused', (_, broken, reported) => {
  expect(() => parseClaims({ claims: [broken], silent: [] })).toThrow(reported);
});

test('an id that is there twice is refused by name', () => {
  expect(() => parseClaims({ claims: [claim, claim], silent: [] })).toThrow('control.deployment.name is there twice');
});

test('a claim is proven over HTTP unless it says otherwise', () => {
  expect(sidesOf({})).toEqual(['over HTTP']);
  expect(sidesOf({ sides: ['in process'] })).toEqual(['in process']);
});
