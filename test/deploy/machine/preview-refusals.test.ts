import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { DesiredDeployment } from '../../../src/deploy/file/desired.ts';
import type { PreviewRequest } from '../../../src/deploy/machine/preview.ts';
import { previewName } from '../../../src/deploy/rules/preview.ts';
import { goesLive, serviceError } from './control-model.ts';
import { first, second } from './deploy-fixture.ts';
import { file, key, ofFork, opened, PreviewFixture } from './preview-fixture.ts';

const ofImage: DesiredDeployment = {
  ...file('true'),
  desired: { source: 'external_docker', name: 'agent', imageUri: 'x/y:1', secretsStrategy: 'merge' },
};
const approved = { pull: ofFork, approvedSha: first };

/** Each row of docs/previews.md that this module decides: its first cell, what is wrong, and the words that say so. */
const rows: readonly [
  row: string,
  wrong: Partial<PreviewRequest> | ((fixture: PreviewFixture) => Partial<PreviewRequest>),
  words: string,
][] = [
  [
    'a deployment of this name does not carry the mark of this pull request',
    (fixture) => {
      fixture.control.has({
        name: previewName(key),
        source: 'github',
        source_config: { repo_url: 'https://github.com/acme/agent' },
        source_revision_config: { repo_ref: 'main', graph_config_path: 'langgraph.json' },
        secrets: [{ name: 'TOKEN', value: 'x' }],
      });
      return {};
    },
    'preview',
  ],
  [
    'the service allows no more previews of the workspace (`--max-previews`)',
    (fixture) => {
      fixture.control.fails('create', serviceError('rejected', 'create deployment', { status: 400 }));
      return {};
    },
    'create deployment',
  ],
  [
    'a variable of `secrets` or `fork-secrets` has no value',
    { ...approved, deployment: file('{ fork-secrets: [KEY=FORK_KEY] }') },
    '`preview.fork-secrets` names secrets without a value: FORK_KEY',
  ],
  [
    'the deployment is built from another repository',
    { pull: { ...opened, repositoryUrl: 'https://github.com/acme/other' } },
    'which is not the repository of this pull request',
  ],
  ['the deployment runs an image, and the step has no `image-uri`', { deployment: ofImage }, 'none was built'],
  ['the fork was deleted', { ...approved, pull: { ...ofFork, headUrl: undefined } }, 'was deleted'],
  [
    'the branch is named like another ref (`refs/tags/v1`)',
    { pull: { ...opened, headRef: 'refs/tags/v1' } },
    'is named refs/tags/v1',
  ],
  ['the commit of a fork cannot be pinned at this service', approved, 'commit'],
  ['nobody approved this commit of a fork', { pull: ofFork, approvedSha: second }, 'nobody approved commit'],
  [
    'the service does not say which secrets a deployment has',
    (fixture) => {
      fixture.has('agent', null);
      return {};
    },
    'does not show the names of secrets',
  ],
  [
    'the pull request has no label, no command came, or the file has no `preview`',
    { deployment: file('{ when: { label: preview } }') },
    'does not have it',
  ],
  ['the run is of a commit that is no longer the head', { eventSha: second }, 'no longer the head'],
];

/** Decided by other modules, whose tests have them. */
const elsewhere: Readonly<Record<string, string>> = {
  'the head has moved on, and the service builds the head': 'deploy/machine/look.test.ts',
  'the run belongs to no pull request': 'action/pull-request.test.ts',
};

const root = join(import.meta.dirname, '../../..');
const table = readFileSync(join(root, 'docs/previews.md'), 'utf8').split('## Refusals')[1] ?? '';
const documented = [...table.matchAll(/^\| (.+?) +\| `(refused|neutral)` +\|/gm)].map(([, row = '', kind = '']) => ({
  row,
  kind,
}));

describe('docs/previews.md', () => {
  test('has each refusal, and each has a test', () => {
    const tested = [...rows.map(([row]) => row), ...Object.keys(elsewhere)];
    expect(documented.map(({ row }) => row).toSorted()).toEqual(tested.toSorted());
    for (const path of Object.values(elsewhere)) expect(readFileSync(join(root, 'test', path), 'utf8')).not.toBe('');
  });

  test.each(rows)('%s', async (row, wrong, words) => {
    const fixture = new PreviewFixture();
    fixture.control.scripts.push(goesLive(first));
    const outcome = await fixture.run(typeof wrong === 'function' ? wrong(fixture) : wrong);
    const kind = documented.find((each) => each.row === row)?.kind;
    expect(outcome).toMatchObject({ kind, passes: kind === 'neutral', changed: false });
    expect(outcome.reason).toContain(words);
    expect(fixture.deletedIds).toEqual([]);
  });
});
