import { describe, expect, test } from 'vitest';
import { anyEntry, decidePreviews, removalOf, type PreviewsFacts } from '../../../app/previews/decide-previews.ts';
import type { Preview } from '../../../app/previews/preview.ts';
import { previewName } from '../../../src/deploy/rules/preview.ts';
import { aPullRequest } from '../github/a-pull-request.ts';
import { commitOf, entriesOf, previewed, repository, requestOf } from './a-preview.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
const hourMs = 3_600_000;
const now = 1_000 * hourMs;
const key = { repositoryId: repository.repositoryId, number: 7, entry: 'support' };
const pull = { repositoryId: 70, number: 7, repository, isUnreachable: false, notifiedSeq: 1, processedSeq: 0 };
const { name, wanted } = requestOf(7, a);
const live: Preview = { ...key, name, wanted, version: 1, known: { changedAt: now - hourMs } };
const fork = { isFork: true, headUrl: 'https://github.com/mallory/agents' };
const approvalOf = (commit: string, at = now) => ({ ...pull, approval: { commit, by: 'wilma', at } });
const goneOf = (code: 'expired' | 'too-many' | 'closed', at = now - hourMs): Preview => ({
  ...live,
  wanted: removalOf(live, code, at).wanted,
});
const withSecrets = previewed('{ secrets: [OWN_KEY], fork-secrets: [FORK_KEY] }');

const folder = `
deployments:
  support: { source: internal_source, source-dir: ., graph-config-path: langgraph.json, preview: true }
`;

const decided = (facts: Partial<PreviewsFacts>) =>
  decidePreviews({
    hostedId: 70,
    pull,
    state: aPullRequest(a),
    entries: entriesOf(previewed()),
    stored: [],
    secretOf: () => undefined,
    now,
    ...facts,
  });

const stored = [live];
const byCommand = entriesOf(previewed('{ when: command }'));
const byLabel = entriesOf(previewed('{ when: { label: preview } }'));

test('decides nothing, and so says nothing, of what was left behind of a pull request', () => {
  const stray = { ...goneOf('closed'), entry: anyEntry };
  expect(decided({ stored: [stray], entries: [] })).toEqual([]);
});

describe('decides', () => {
  test.each<[string, Partial<PreviewsFacts>, object]>([
    ['to create one', {}, { kind: 'create' }],
    ['nothing for a closed one that has none', { state: aPullRequest(a, { isOpen: false }) }, { kind: 'none' }],
    ['to keep what is of the head', { stored }, { kind: 'keep' }],
    ['to update what is of another commit', { stored, state: aPullRequest(b) }, { kind: 'update' }],
    [
      'to remove it at the close',
      { stored, state: aPullRequest(a, { isOpen: false }) },
      { kind: 'remove', code: 'closed' },
    ],
    ['to remove it with the pull request', { stored, state: undefined }, { kind: 'remove', code: 'closed' }],
    [
      'to remove it with the repository',
      { stored, pull: { ...pull, isUnreachable: true } },
      { kind: 'remove', code: 'unreachable' },
    ],
    ['to remove it with its label', { stored, entries: byLabel }, { kind: 'remove', code: 'unlabeled' }],
    [
      'to create it with its label',
      { entries: byLabel, state: aPullRequest(a, { labels: ['Preview'] }) },
      { kind: 'create' },
    ],
    [
      'to remove what the file does not name',
      { stored, entries: entriesOf(previewed('false')) },
      { kind: 'remove', code: 'not-in-file' },
    ],
    ['to keep what is there while the file is not read', { stored, entries: undefined }, { kind: 'unread' }],
    [
      'to remove what expires while the file is not read',
      { stored, entries: undefined, now: now + 200 * hourMs },
      { kind: 'remove', code: 'expired' },
    ],
    ['to remove what expires', { stored, now: now + 200 * hourMs }, { kind: 'remove', code: 'expired' }],
    ['that what expired stays gone', { stored: [goneOf('expired')] }, { kind: 'none' }],
    ['that what was one too many stays gone', { stored: [goneOf('too-many')] }, { kind: 'none' }],
    ['to create it for a new commit', { stored: [goneOf('expired')], state: aPullRequest(b) }, { kind: 'create' }],
    ['to create it at a request', { stored: [goneOf('expired')], pull: approvalOf(a) }, { kind: 'create' }],
    [
      'that an earlier request brings nothing back',
      { stored: [goneOf('expired')], pull: approvalOf(a, now - 2 * hourMs) },
      { kind: 'none' },
    ],
    [
      'that what expired is over with its pull request',
      { stored: [goneOf('expired')], state: aPullRequest(a, { isOpen: false }) },
      { kind: 'remove', code: 'closed' },
    ],
    [
      'to remove the preview of what became a folder',
      { stored, entries: entriesOf(folder) },
      { kind: 'remove', code: 'not-in-file' },
    ],
    ['nothing for a folder', { entries: entriesOf(folder) }, { kind: 'none' }],
    ['to create it when it is opened again', { stored: [goneOf('closed')] }, { kind: 'create' }],
    ['to wait for a command', { entries: byCommand }, { kind: 'wait', code: 'command', sha: a }],
    ['to create it at a command', { entries: byCommand, pull: approvalOf(a) }, { kind: 'create' }],
    [
      'to wait for the approval of a fork',
      { state: aPullRequest(a, fork) },
      { kind: 'wait', code: 'approval', sha: a },
    ],
    [
      'to wait for the approval of a later commit',
      { state: aPullRequest(b, fork), pull: approvalOf(a) },
      { kind: 'wait', code: 'approval', sha: b },
    ],
    [
      'to create the approved commit of a fork',
      { state: aPullRequest(a, fork), pull: approvalOf(a) },
      { kind: 'create' },
    ],
    [
      'to refuse one without the value of a secret',
      { entries: entriesOf(withSecrets) },
      { kind: 'refuse', refusal: { code: 'secret-missing', field: 'secrets' } },
    ],
    [
      'to refuse a fork the secrets of the repository',
      {
        entries: entriesOf(withSecrets),
        state: aPullRequest(a, fork),
        pull: approvalOf(a),
        secretOf: (variable) => (variable === 'OWN_KEY' ? 'x' : undefined),
      },
      { kind: 'refuse', refusal: { code: 'secret-missing', field: 'fork-secrets' } },
    ],
  ])('%s', (_, facts, decision) => {
    expect(decided(facts)).toMatchObject([{ entry: 'support', decision }]);
  });
});

test('stores the entry of the file and the head, and no value of a secret', () => {
  const [first] = decided({ entries: entriesOf(withSecrets), secretOf: (variable) => `value of ${variable}` });
  expect(first?.request).toMatchObject({
    key,
    name: previewName(key),
    wanted: { kind: 'deploy', commit: a, pull: { number: 7, headRef: 'next', isFork: false } },
    known: { changedAt: now },
  });
  expect(JSON.stringify(first)).not.toContain('value of');
});

test('proves a preview again at a later request, and once', () => {
  const requested = { ...live, wanted: { ...wanted, requestedAt: now - hourMs } };
  const again = decided({ stored: [{ ...live, ...requested }], pull: approvalOf(a) });
  expect(again).toMatchObject([{ decision: { kind: 'update' }, request: { wanted: { requestedAt: now } } }]);
  const same = decided({ stored: [{ ...live, ...requested }], pull: approvalOf(a, now - hourMs) });
  expect(same).toEqual([{ entry: 'support', decision: { kind: 'keep' } }]);
});

test('proves a preview again at a request that a push made', () => {
  expect(decided({ stored, pull: approvalOf(a) })).toMatchObject([{ decision: { kind: 'update' } }]);
});

test('keeps the preview of an entry with a mistake until it expires', () => {
  const entries = entriesOf(previewed().replace('langgraph.json', 'langgraph.json\n    verify: never'));
  expect(decided({ stored, entries })).toEqual([{ entry: 'support', decision: { kind: 'unread' } }]);
  expect(decided({ stored, entries, now: now + 200 * hourMs })).toMatchObject([
    { decision: { kind: 'remove', code: 'expired' } },
  ]);
});
