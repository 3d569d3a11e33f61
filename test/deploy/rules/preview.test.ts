import { describe, expect, test } from 'vitest';
import { deploymentNameProblem } from '../../../src/contract/control/field-values.ts';
import { commonFields, fieldsOfSource } from '../../../src/deploy/file/deployment-fields.ts';
import { readDesired } from '../../../src/deploy/file/read-desired.ts';
import type { DesiredDeployment } from '../../../src/deploy/file/desired.ts';
import {
  decidePreview,
  entryOf,
  expiryOf,
  isExpired,
  isNamedLikePreview,
  isPreviewOf,
  markOf,
  numberInName,
  ownsPreview,
  previewKeyOf,
  previewName,
  previewOf,
  repositoryIdOn,
  tooMany,
  type PreviewDecision,
  type PreviewFacts,
} from '../../../src/deploy/rules/preview.ts';
import type { PreviewPull } from '../../../src/deploy/rules/preview-source.ts';

const key = { repositoryId: 4711, number: 12, entry: 'support' };

describe('the name of a preview', () => {
  test('begins with the deployment and names the pull request', () => {
    expect(previewName(key)).toMatch(/^support-pr-12-[0-9a-f]{16}$/);
    expect(previewName(key, 'try-support')).toMatch(/^try-support-pr-12-[0-9a-f]{16}$/);
  });

  test.each(['support', 'x'.repeat(63), 'ACME / Agents!', '---', '', '日本語', 'a'.repeat(28) + '-b'])(
    'of %j is one that services accept',
    (entry) => {
      const name = previewName({ ...key, number: 2_147_483_647, entry });
      expect(deploymentNameProblem(name)).toBeUndefined();
      expect(name).toContain('-pr-2147483647-');
    },
  );

  test('differs by repository, pull request and entry, also where their beginnings do not', () => {
    const long = 'support-agent-for-customers-of-the-shop-in-';
    const keys = [1, 11].flatMap((repositoryId) =>
      [1, 11].flatMap((number) => [`${long}europe`, `${long}asia`].map((entry) => ({ repositoryId, number, entry }))),
    );
    expect(new Set(keys.map((each) => previewName(each))).size).toBe(keys.length);
  });

  test('is known in a list by its repository', () => {
    expect(isNamedLikePreview(previewName(key), 4711)).toBe(true);
    expect(isNamedLikePreview(previewName(key), 471)).toBe(false);
    expect(isNamedLikePreview('support-pr-12', 4711)).toBe(false);
    expect([previewName(key), 'support-pr-12', 'support'].map(numberInName)).toEqual([12, undefined, undefined]);
  });
});

test('the repositories of two hosts are never one', () => {
  const hosts = ['https://github.com', 'https://github.acme.example', 'https://gitlab.com', 'https://gitlab.com:8443'];
  const ids = hosts.flatMap((host) => [1, 42].map((id) => repositoryIdOn(host, id)));
  expect(ids.slice(0, 2)).toEqual([1, 42]);
  expect(new Set(ids).size).toBe(ids.length);
  for (const repositoryId of ids) {
    expect(previewKeyOf({ secrets: [{ name: 'LANDFALL_PREVIEW', value: markOf({ ...key, repositoryId }) }] })).toEqual({
      ...key,
      repositoryId,
    });
  }
});

describe('only a deployment with our mark is a preview', () => {
  const marked = (value: string | null) => ({
    name: previewName(key),
    secrets: [{ name: 'LANDFALL_PREVIEW', value }],
  });

  test.each<[sentence: string, deployment: Parameters<typeof isPreviewOf>[0], is: boolean, owns: boolean]>([
    ['the mark', marked('4711/12/support'), true, true],
    ['the mark of a name with a slash', marked('4711/12/a/b'), false, true],
    ['the mark of another pull request', marked('4711/13/support'), false, true],
    ['the mark of another repository', marked('47/12/support'), false, false],
    ['a mark that is none', marked('support'), false, false],
    ['a hidden mark and its name', marked('*****'), true, true],
    ['a hidden mark and another name', { ...marked(null), name: 'support-pr-12' }, false, false],
    ['its name alone', { name: previewName(key), secrets: [] }, false, false],
    ['its name, where secrets are not listed', { name: previewName(key) }, false, false],
  ])('%s', (_, deployment, is, owns) => {
    expect(isPreviewOf(deployment, key)).toBe(is);
    expect(ownsPreview(deployment, key.repositoryId)).toBe(owns);
  });

  test('the mark names repository, pull request and entry', () => {
    expect(markOf(key)).toBe('4711/12/support');
    expect(previewKeyOf(marked(markOf(key)))).toEqual(key);
  });

  test('an entry is known by its name, else by its id', () => {
    expect(entryOf({ name: 'support', deploymentId: 'id' })).toBe('support');
    expect(entryOf({ deploymentId: 'id' })).toBe('id');
  });
});

function read(text: string): DesiredDeployment {
  const env = { DATABASE_URL: 'postgres://production', KEY: 'production' };
  const result = readDesired({ inputs: {}, file: { text, path: 'landfall.yml' }, env });
  const [deployment] = result.ok ? result.deployments : [];
  if (!deployment) throw new Error(JSON.stringify(result));
  return deployment;
}

const own: PreviewPull = {
  repositoryId: 4711,
  number: 12,
  repositoryUrl: 'https://github.com/acme/agents',
  headUrl: 'https://github.com/acme/agents',
  headRef: 'feature/faster',
  isFork: false,
};
const fork: PreviewPull = { ...own, headUrl: 'https://github.com/eve/agents', isFork: true };
const values: Record<string, string> = { PREVIEW_KEY: 'of previews', FORK_KEY: 'of forks' };

function preview(text: string, pull: PreviewPull = own) {
  const deployment = read(text);
  if (!deployment.preview) throw new Error('the file has no previews');
  return previewOf(deployment, deployment.preview, pull, (variable) => values[variable]);
}

const desiredOf = (text: string, pull?: PreviewPull) => {
  const made = preview(text, pull);
  return made.kind === 'preview' ? made.deployment.desired : made.refusal;
};

const mark = { name: 'LANDFALL_PREVIEW', value: '4711/12/support' };
const secret = { name: 'KEY', value: 'of previews' };
const terms = 'preview: { secrets: [KEY=PREVIEW_KEY], fork-secrets: [KEY=FORK_KEY] }';
const github = `
name: support
repo-url: git@github.com:acme/agents.git
repo-ref: main
graph-config-path: langgraph.json
deployment-type: prod
build-on-push: true
integration-id: 6ba7b810-9dad-41d1-80b4-00c04fd430c8
install-command: npm ci
secrets: [DATABASE_URL, KEY]
conversations: 20
on-failure: rollback
smoke-tests: [{ name: says hello, assistant: agent, input: {} }]
${terms}`;
const image = `
name: support
image-uri: registry.example/acme/support:main
custom-url: https://support.example
listener-id: 6ba7b810-9dad-41d1-80b4-00c04fd430c8
k8s-namespace: agents
resource-spec: { min-scale: 3, max-scale: 9, memory-mb: 2048, service-account-name: production, labels: { tier: production } }
secret-references: [{ name: DATABASE_URL, secret-name: production, secret-key: url }]
secrets: [DATABASE_URL, KEY]
${terms}`;

describe('what a pull request gets', () => {
  test('its head, with nothing of production but how it is built', () => {
    expect(desiredOf(github)).toEqual({
      source: 'github',
      name: previewName(key),
      integrationId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
      repoUrl: 'git@github.com:acme/agents.git',
      repoRef: 'feature/faster',
      graphConfigPath: 'langgraph.json',
      installCommand: 'npm ci',
      rebuild: 'auto',
      deploymentType: 'dev',
      buildOnPush: false,
      secrets: [secret, mark],
      secretsStrategy: 'overwrite',
    });
  });

  test('from a fork: its own repository and the secrets of forks alone', () => {
    expect(desiredOf(github, fork)).toMatchObject({
      repoUrl: 'https://github.com/eve/agents',
      secrets: [{ name: 'KEY', value: 'of forks' }, mark],
    });
  });

  test('of a folder', () => {
    const text = `name: support\nsource-dir: agent\ngraph-config-path: langgraph.json\n${terms}`;
    expect(desiredOf(text)).toMatchObject({ source: 'internal_source', sourceDir: 'agent', deploymentType: 'dev' });
  });

  test('of an image: the one of its workflow, at the smallest scale', () => {
    const built = { ...own, imageUri: 'registry.example/acme/support@sha256:0' };
    expect(desiredOf(image, built)).toEqual({
      source: 'external_docker',
      name: previewName(key),
      imageUri: 'registry.example/acme/support@sha256:0',
      listenerId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
      k8sNamespace: 'agents',
      rebuild: 'auto',
      resourceSpec: { min_scale: 0, max_scale: 1, memory_mb: 2048 },
      secrets: [secret, mark],
      secretsStrategy: 'overwrite',
    });
  });

  test('resources of its own', () => {
    const text = image.replace(terms, 'preview: { resource-spec: { min-scale: 2, cpu: 1 } }');
    expect(desiredOf(text, { ...own, imageUri: 'x/y' })).toMatchObject({
      resourceSpec: { min_scale: 2, max_scale: 2, memory_mb: 2048, cpu: 1 },
    });
  });

  test('the tests of the deployment, and none of its conversations', () => {
    const made = preview(github);
    expect(made).toMatchObject({
      deployment: { smokeTests: [{ name: 'says hello' }], verify: 'after-traffic', onFailure: 'keep' },
    });
    expect(made).not.toHaveProperty('deployment.conversations');
    expect(made).not.toHaveProperty('deployment.preview');
  });

  test('its own tests and conversations, where the file has some', () => {
    const text = github.replace(terms, 'preview: { smoke-tests: [], conversations: 3 }');
    expect(preview(text)).toMatchObject({ deployment: { smokeTests: [], conversations: { newest: 3 } } });
  });

  test.each(['auto', 'always', 'never'])('each commit of it, whatever the deployment says: rebuild %s', (rebuild) => {
    const folder = `name: support\nsource-dir: agent\ngraph-config-path: langgraph.json\n${terms}`;
    const built = { ...own, imageUri: 'x/y' };
    for (const text of [github, folder, image]) {
      expect(desiredOf(`${text}\nrebuild: ${rebuild}`, built)).toMatchObject({ rebuild: 'auto' });
    }
  });

  test('from a fork, none of the conversations of production', () => {
    const text = github.replace(terms, 'preview: { conversations: 3 }');
    expect(preview(text, fork)).not.toHaveProperty('deployment.conversations');
  });

  // A field that is new has to be left out of previews, or to be no part of production.
  test('knows every field of a deployment', () => {
    const fields = [commonFields, ...Object.values(fieldsOfSource)].flatMap(({ shape }) => Object.keys(shape));
    const known = [
      'buildCommand buildOnPush conversations customUrl deploymentId deploymentType graphConfigPath imageUri',
      'installCommand integrationId k8sNamespace listenerId name onFailure onUnproven rebuild repoRef repoUrl',
      'resourceSpec secretReferences secrets secretsStrategy smokeTests sourceDir verify',
    ];
    expect([...new Set(fields)].toSorted()).toEqual(known.join(' ').split(' '));
  });

  test.each<[sentence: string, text: string, pull: PreviewPull, refusal: object]>([
    ['a fork that was deleted', github, { ...fork, headUrl: undefined }, { code: 'head-gone' }],
    [
      'a branch with the name of a tag',
      github,
      { ...fork, headRef: 'refs/tags/v1' },
      { code: 'head-ref', ref: 'refs/tags/v1' },
    ],
    [
      'another repository',
      github.replace('acme/agents', 'acme/other'),
      own,
      { code: 'other-repository', repoUrl: 'git@github.com:acme/other.git' },
    ],
    ['an image that was not built', image, own, { code: 'image-missing' }],
    [
      'a secret without a value',
      github.replace('KEY=PREVIEW_KEY', 'KEY=UNSET'),
      own,
      { code: 'secret-missing', field: 'secrets', names: [{ name: 'KEY', from: 'UNSET' }] },
    ],
    [
      "a fork's secret, which is not the same as one of the repository",
      github.replace(', fork-secrets: [KEY=FORK_KEY]', ', fork-secrets: [KEY]'),
      fork,
      { code: 'secret-missing', field: 'fork-secrets', names: [{ name: 'KEY', from: 'KEY' }] },
    ],
  ])('is refused for %s', (_, text, pull, refusal) => {
    expect(preview(text, pull)).toEqual({ kind: 'refused', refusal });
  });
});

describe('what a pull request requires of its preview', () => {
  const [sha, older] = ['a'.repeat(40), 'b'.repeat(40)];
  const always = read(github).preview;
  const labeled = read(github.replace(terms, 'preview: { when: { label: Preview } }')).preview;
  const onCommand = read(github.replace(terms, 'preview: { when: command }')).preview;
  const pull: PreviewFacts['pull'] = { isOpen: true, labels: [], headSha: sha, isFork: false };
  const current = { commit: sha, isExpired: false };
  const former = { commit: older, isExpired: false };
  const ofFork = { ...pull, isFork: true };

  test.each<[sentence: string, facts: PreviewFacts, decision: PreviewDecision]>([
    ['opened', { terms: always, pull }, { kind: 'create' }],
    ['pushed to', { terms: always, pull, existing: former }, { kind: 'update' }],
    ['of an unknown commit', { terms: always, pull, existing: { isExpired: false } }, { kind: 'update' }],
    ['seen again', { terms: always, pull, existing: current }, { kind: 'keep' }],
    [
      'expired',
      { terms: always, pull, existing: { ...current, isExpired: true } },
      { kind: 'remove', code: 'expired' },
    ],
    ['pushed to once expired', { terms: always, pull, existing: { ...former, isExpired: true } }, { kind: 'update' }],
    [
      'closed',
      { terms: always, pull: { ...pull, isOpen: false }, existing: current },
      { kind: 'remove', code: 'closed' },
    ],
    ['closed again', { terms: always, pull: { ...pull, isOpen: false } }, { kind: 'none', code: 'closed' }],
    ['not in the file', { terms: undefined, pull }, { kind: 'none', code: 'not-in-file' }],
    ['no longer in the file', { terms: undefined, pull, existing: current }, { kind: 'remove', code: 'not-in-file' }],
    ['without the label', { terms: labeled, pull }, { kind: 'none', code: 'unlabeled' }],
    ['with the label', { terms: labeled, pull: { ...pull, labels: ['x', 'preview'] } }, { kind: 'create' }],
    ['label taken off', { terms: labeled, pull, existing: current }, { kind: 'remove', code: 'unlabeled' }],
    ['no command yet', { terms: onCommand, pull }, { kind: 'wait', code: 'command', sha }],
    ['on command', { terms: onCommand, pull, isRequested: true }, { kind: 'create' }],
    ['pushed to after a command', { terms: onCommand, pull, existing: former }, { kind: 'update' }],
    ['a fork', { terms: always, pull: ofFork }, { kind: 'wait', code: 'approval', sha }],
    ['a fork, approved', { terms: always, pull: ofFork, approvedSha: sha }, { kind: 'create' }],
    ['a fork on command, approved', { terms: onCommand, pull: ofFork, approvedSha: sha }, { kind: 'create' }],
    [
      'a fork, requested without a commit',
      { terms: always, pull: ofFork, isRequested: true },
      { kind: 'wait', code: 'approval', sha },
    ],
    [
      'a fork, pushed to after the approval',
      { terms: always, pull: ofFork, approvedSha: older, existing: former },
      { kind: 'wait', code: 'approval', sha },
    ],
    [
      'a fork, approved by the beginning of a commit',
      { terms: always, pull: ofFork, approvedSha: sha.slice(0, 7) },
      { kind: 'wait', code: 'approval', sha },
    ],
    [
      'a fork that waits until its preview expired',
      { terms: always, pull: ofFork, existing: { ...former, isExpired: true } },
      { kind: 'remove', code: 'expired' },
    ],
    [
      'a fork without the label, although approved',
      { terms: labeled, pull: ofFork, approvedSha: sha },
      { kind: 'none', code: 'unlabeled' },
    ],
  ])('%s', (_, facts, decision) => expect(decidePreview(facts)).toEqual(decision));
});

describe('which previews have had their time', () => {
  const now = Date.parse('2026-01-08T00:00:00Z');
  const day = { expiresAfterMs: 86_400_000 };

  test.each<[updatedAt: string, is: boolean]>([
    ['2026-01-07T00:00:01Z', false],
    ['2026-01-07T00:00:00Z', true],
    ['never', false],
  ])('one changed at %s: %s', (updatedAt, is) => expect(isExpired(updatedAt, day, now)).toBe(is));

  test('the oldest make room for a new one', () => {
    const others = ['2026-01-03', '2026-01-01', '2026-01-02'].map((updated_at) => ({ updated_at }));
    expect(tooMany(others, { max: 4 })).toEqual([]);
    expect(tooMany(others, { max: 2 })).toEqual([{ updated_at: '2026-01-01' }, { updated_at: '2026-01-02' }]);
  });

  test('one expires so long after its last change', () => {
    expect(expiryOf('2026-01-07T00:00:00Z', day)).toBe(now);
    expect(expiryOf('never', day)).toBeUndefined();
  });
});
