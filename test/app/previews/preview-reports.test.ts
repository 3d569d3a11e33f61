import { expect, test } from 'vitest';
import { removalOf, type DecidedPreview } from '../../../app/previews/decide-previews.ts';
import type { Preview, PreviewOutcome } from '../../../app/previews/preview.ts';
import { previewOfCheck, reportsOf } from '../../../app/previews/preview-reports.ts';
import { aPullRequest } from '../github/a-pull-request.ts';
import { commitOf, repository, requestOf } from './a-preview.ts';

const [a, b] = [commitOf('a'), commitOf('b')];
const pull = { repositoryId: 70, number: 7, repository, isUnreachable: false, notifiedSeq: 1, processedSeq: 0 };
const { key, name, wanted } = requestOf(7, a);
const running: Preview = { ...key, name, wanted, version: 2, known: { changedAt: 0 } };
const outcome: PreviewOutcome = {
  version: 2,
  commit: a,
  kind: 'deployed',
  passes: true,
  reason: 'Revision r1 is live, said @mona <b>.',
  summary: 'All well.',
  address: 'https://console.example/r1',
  at: 5,
};
const proven: Preview = { ...running, known: { changedAt: 0, outcome } };

const shownOf = (decision: DecidedPreview['decision'], before?: Preview, request?: DecidedPreview['request']) =>
  reportsOf({
    pull,
    state: aPullRequest(b),
    decided: [{ entry: 'support', decision, ...(request ? { request } : {}) }],
    stored: before ? [before] : [],
    mistakes: [],
    now: 10,
  }).map(({ headSha, wanted }) => {
    if (wanted.kind === 'comment') return wanted.content;
    const { kind, content } = wanted;
    const shown = 'state' in content ? content.state : (content.conclusion ?? content.status);
    return `${kind} of ${headSha.slice(0, 1)}: ${shown}`;
  });

test('shows a new preview on its commit and in the comment', () => {
  expect(shownOf({ kind: 'create' }, undefined, requestOf(7, a))).toEqual([
    'check of a: in_progress',
    'deployment of a: in_progress',
    { number: 7, preview: `### Preview of <code>support</code>\n\nCommit <code>${a}</code> is on its way.` },
  ]);
});

test('shows the outcome, where to open it, and until when it lives', () => {
  const [check, deployment, comment] = shownOf({ kind: 'keep' }, proven);
  expect([check, deployment]).toEqual(['check of a: success', 'deployment of a: success']);
  expect(JSON.stringify(comment)).toContain('at the latest at 1970-01-08T00:00:00.000Z');
  expect(JSON.stringify(comment)).toContain('(https://console.example/r1)');
  expect(JSON.stringify(comment)).not.toMatch(/@mona|<b>/);
});

test('ends what is shown of a commit that another one replaces', () => {
  expect(shownOf({ kind: 'update' }, running, requestOf(7, b)).slice(0, 4)).toEqual([
    'check of a: neutral',
    'deployment of a: inactive',
    'check of b: in_progress',
    'deployment of b: in_progress',
  ]);
});

test('shows an outcome that came since the last look, although another commit replaces it', () => {
  expect(shownOf({ kind: 'update' }, proven, requestOf(7, b)).slice(0, 2)).toEqual([
    'check of a: success',
    'deployment of a: inactive',
  ]);
});

test('says that a preview was removed, and why', () => {
  const request = removalOf(proven, 'expired', 9);
  const [check, deployment, comment] = shownOf({ kind: 'remove', code: 'expired' }, proven, request);
  expect([check, deployment]).toEqual(['check of a: success', 'deployment of a: inactive']);
  expect(JSON.stringify(comment)).toMatch(/Removed: nothing changed for as long as/);
});

test('asks for the approval of exactly one commit of a fork', () => {
  const [comment, ...more] = shownOf({ kind: 'wait', code: 'approval', sha: b });
  expect(JSON.stringify(comment)).toContain(`Nothing of commit <code>${b}</code> runs`);
  expect(more).toEqual([]);
});

test('a refusal needs a person, on the head of the pull request', () => {
  const refusal = { code: 'secret-missing', field: 'secrets', names: [{ name: 'KEY', from: 'OWN_KEY' }] } as const;
  const [check, comment] = shownOf({ kind: 'refuse', refusal });
  expect(check).toBe('check of b: action_required');
  expect(JSON.stringify(comment)).toContain('OWN&#95;KEY');
});

test('ends what is shown of a preview that another look removed', () => {
  const evicted = { ...running, version: 3, wanted: removalOf(running, 'too-many', 9).wanted };
  expect(shownOf({ kind: 'none' }, evicted).slice(0, 2)).toEqual(['check of a: neutral', 'deployment of a: inactive']);
  expect(shownOf({ kind: 'none' }, { ...evicted, known: proven.known })[0]).toBe('check of a: success');
});

test('says nothing where there is no preview and never was one', () => {
  expect(shownOf({ kind: 'none' })).toEqual([]);
});

test('says where the deploy file has mistakes, also where there is no preview yet', () => {
  const mistakes = ['landfall.yml:3:1: `preview.when` must be one of `always` <b>@mona'];
  const shown = (isOpen: boolean) =>
    reportsOf({ pull, state: aPullRequest(b, { isOpen }), decided: [], stored: [], mistakes, now: 10 });
  expect(shown(false)).toEqual([]);
  const [report, ...others] = shown(true);
  expect(others).toEqual([]);
  expect(JSON.stringify(report?.wanted)).toMatch(/makes no new previews of this pull request.*landfall\.yml&#58;3/);
  expect(JSON.stringify(report?.wanted)).not.toMatch(/@mona|<b>/);
});

test.each([
  ['Landfall preview: support (#7)', { entry: 'support', number: 7 }],
  ['Landfall preview: a (#1) (#12)', { entry: 'a (#1)', number: 12 }],
  ['Landfall: support', undefined],
  ['Landfall preview: support', undefined],
  ['Landfall preview: support (#0)', undefined],
])('the check %s is of a preview, or of none', (checked, of) => expect(previewOfCheck(checked)).toEqual(of));
