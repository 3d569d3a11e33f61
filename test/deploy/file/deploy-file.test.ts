import { expect, test } from 'vitest';
import { readDesired, type RequestInput } from '../../../src/deploy/file/read-desired.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

const env = { OPENAI_API_KEY: 'sk-canary-1', PROD_KEY: 'sk-canary-2', EMPTY: '' };

const read = (text: string, requested: Partial<RequestInput> = {}) =>
  readDesired({ inputs: {}, file: { text, path: 'landfall.yml' }, env, ...requested });

/** What a person would see, one line a problem. */
function seen(text: string): string[] {
  const result = read(text);
  return result.ok ? [] : result.problems.map(formatProblem);
}

function deployments(text: string, requested: Partial<RequestInput> = {}) {
  const result = read(text, requested);
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.deployments;
}

test('every field of a deployment from a repository', () => {
  const text = `
deployments:
  support:
    source: github
    deployment-id: 6ba7b810-9dad-41d1-80b4-00c04fd430c8
    integration-id: 6ba7b811-9dad-41d1-80b4-00c04fd430c8
    repo-url: https://github.com/acme/agents
    repo-ref: refs/heads/main
    graph-config-path: agents/langgraph.json
    deployment-type: prod
    build-on-push: false
    install-command: npm ci && npm run prepare
    build-command: npm run build
    secrets:
      - OPENAI_API_KEY
      - OTHER_KEY=PROD_KEY
    secrets-strategy: overwrite
    rebuild: never
    on-failure: rollback
`;
  expect(deployments(text)).toEqual([
    {
      desired: {
        source: 'github',
        name: 'support',
        deploymentId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
        integrationId: '6ba7b811-9dad-41d1-80b4-00c04fd430c8',
        repoUrl: 'https://github.com/acme/agents',
        repoRef: 'main',
        graphConfigPath: 'agents/langgraph.json',
        deploymentType: 'prod',
        buildOnPush: false,
        installCommand: 'npm ci && npm run prepare',
        buildCommand: 'npm run build',
        secrets: [
          { name: 'OPENAI_API_KEY', value: 'sk-canary-1' },
          { name: 'OTHER_KEY', value: 'sk-canary-2' },
        ],
        secretsStrategy: 'overwrite',
        rebuild: 'never',
      },
      smokeTests: [],
      onFailure: 'rollback',
      onUnproven: 'keep',
    },
  ]);
});

test('every field of a deployment of an image, its resources in either spelling', () => {
  const text = `
deployments:
  image:
    source: external_docker
    image-uri: registry.example/acme/agent:1.2
    custom-url: https://agent.example/api
    listener-id: 6ba7b810-9dad-41d1-80b4-00c04fd430c8
    k8s-namespace: agents
    resource-spec:
      min-scale: 1
      max_scale: 3
      cpu: 0.55
      labels: { team-name: core }
      volumes: [{ name: data, emptyDir: {} }]
      volume-mounts: [{ name: data, mountPath: /data }]
      init-containers: [{ name: init, image: busybox, imagePullPolicy: IfNotPresent }]
    secret-references:
      - { name: DATABASE_KEY, secret-name: db, secret-key: key }
      - { name: OTHER_KEY, secret_name: db, secret_key: other }
`;
  expect(deployments(text)).toEqual([
    {
      desired: {
        source: 'external_docker',
        name: 'image',
        imageUri: 'registry.example/acme/agent:1.2',
        customUrl: 'https://agent.example/api',
        listenerId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
        k8sNamespace: 'agents',
        resourceSpec: {
          min_scale: 1,
          max_scale: 3,
          cpu: 0.6,
          labels: { 'team-name': 'core' },
          volumes: [{ name: 'data', emptyDir: {} }],
          volume_mounts: [{ name: 'data', mountPath: '/data' }],
          init_containers: [{ name: 'init', image: 'busybox', imagePullPolicy: 'IfNotPresent' }],
        },
        secretReferences: [
          { name: 'DATABASE_KEY', secret_name: 'db', secret_key: 'key' },
          { name: 'OTHER_KEY', secret_name: 'db', secret_key: 'other' },
        ],
        secretsStrategy: 'merge',
      },
      smokeTests: [],
      onFailure: 'keep',
      onUnproven: 'keep',
    },
  ]);
});

test('one deployment at the top level, named inside', () => {
  expect(deployments('name: support\nsource: github\nrepo-ref: refs/tags/v1')).toMatchObject([
    { desired: { name: 'support', repoRef: 'refs/tags/v1' } },
  ]);
});

test('many deployments, of which one says another name than its key', () => {
  const text = 'deployments:\n  a: { source: github }\n  b: { source: github, name: support-b }';
  expect(deployments(text).map(({ desired }) => desired.name)).toEqual(['a', 'support-b']);
});

test.each<[sentence: string, fields: string, source: string]>([
  ['a repository is only of github', 'repo-url: https://github.com/acme/agents', 'github'],
  ['a rebuild too', 'rebuild: always', 'github'],
  ['an image is only of external_docker', 'image-uri: acme/agent:1', 'external_docker'],
])('the source is found from the fields: %s', (_, fields, source) => {
  expect(deployments(`name: a\n${fields}`)[0]?.desired.source).toBe(source);
});

test('a part that many deployments share is written once', () => {
  const text = `
deployments:
  a: { source: github, smoke-tests: &tests [{ name: greets, assistant: a, input: {} }] }
  b: { source: github, smoke-tests: *tests }
`;
  expect(deployments(text).map(({ smokeTests }) => smokeTests[0]?.name)).toEqual(['greets', 'greets']);
});

test('without an environment the values of secrets are not looked up', () => {
  const result = readDesired({
    inputs: {},
    file: { text: 'name: a\nsource: github\nsecrets: [NEVER_SET]', path: 'f' },
  });
  expect(result).toMatchObject({ ok: true, deployments: [{ desired: { name: 'a' } }] });
  expect(result.ok && result.deployments[0]?.desired.secrets).toBeUndefined();
});

test('an empty list of secrets is not the same as none', () => {
  expect(deployments('name: a\nsource: github\nsecrets: []')[0]?.desired.secrets).toEqual([]);
  expect(deployments('name: a\nsource: github')[0]?.desired.secrets).toBeUndefined();
});

/** Problems of one deployment whose first two lines are its name and its source. */
test.each<[sentence: string, fields: string, problems: string[]]>([
  [
    'a field that is not known',
    'repo-rfe: main',
    ['3:1: `repo-rfe` is not a field of a deployment; did you mean `repo-ref`?'],
  ],
  [
    "a field in the service's spelling",
    'repo_ref: main',
    ['3:1: `repo_ref` is not a field of a deployment; did you mean `repo-ref`?'],
  ],
  [
    "a field by the public service's name",
    'langgraph-config-path: a.json',
    ['3:1: `langgraph-config-path` is not a field of a deployment; did you mean `graph-config-path`?'],
  ],
  [
    'a field of the other source',
    'image-uri: a:1',
    ['3:1: `image-uri` belongs to the source `external_docker`, `internal_docker`, not to `github`'],
  ],
  [
    'a field of the other source, whose own faults do not matter',
    'resource-spec: { cpu: 99 }',
    ['3:1: `resource-spec` belongs to the source `external_docker`, not to `github`'],
  ],
  [
    'a remote branch',
    'repo-ref: origin/main',
    [
      '3:11: `repo-ref` must be a branch as its plain name or `refs/heads/NAME`, or a tag as `refs/tags/NAME`; a single commit is not supported; did you mean `main`?',
    ],
  ],
  [
    'a tag in the short spelling',
    'repo-ref: tags/v1',
    [
      '3:11: `repo-ref` must be a branch as its plain name or `refs/heads/NAME`, or a tag as `refs/tags/NAME`; a single commit is not supported; did you mean `refs/tags/v1`?',
    ],
  ],
  [
    'a tag that is built on push',
    'repo-ref: refs/tags/v1\nbuild-on-push: true',
    ['4:1: `build-on-push` must be false where `repo-ref` is a tag'],
  ],
  [
    'a repository with a password',
    'repo-url: https://me:sk-canary@github.com/a/b',
    [
      '3:11: `repo-url` must not contain a user or a password: the service reads the repository through its integration',
    ],
  ],
  [
    'a path that leaves the repository',
    'graph-config-path: ../langgraph.json',
    ['3:20: `graph-config-path` must be a path within the repository, with forward slashes, from its root'],
  ],
  [
    'a command of a shell',
    'install-command: curl x | sh',
    ['3:18: `install-command` must not contain one of | ; $ < >: put such a command in a script'],
  ],
  ['no uuid', 'integration-id: 12', ['3:17: `integration-id` must be text, not a number']],
  [
    'another word',
    'on-failure: rolback',
    ['3:13: `on-failure` must be one of `rollback`, `keep`; did you mean `rollback`?'],
  ],
  ['yes is no boolean', 'build-on-push: yes', ['3:16: `build-on-push` must be `true` or `false`, not text']],
  ['a field without a value', 'repo-ref:', ['3:10: `repo-ref` must be text, not nothing']],
  ['secrets with their values', 'secrets: { KEY: sk-canary }', ['3:10: `secrets` must be a list, not a map']],
  [
    'a secret that is not set',
    'secrets: [NOT_SET]',
    ['3:11: `secrets[0]` takes its value from the environment variable NOT_SET, which is not set'],
  ],
  [
    'a secret that is empty',
    'secrets: [MY_KEY=EMPTY]',
    ['3:11: `secrets[0]` takes its value from the environment variable EMPTY, which is empty'],
  ],
  [
    'a secret in the place of its name',
    'secrets: [MY_KEY=skcanary7]',
    ['3:11: `secrets[0]` takes its value from the environment variable that it names, which is not set'],
  ],
  [
    'a value in the place of a name',
    'secrets: ["MY_KEY=sk-canary"]',
    [
      '3:11: `secrets[0]` must be the name of an environment variable, or NAME=OTHER to take it from another one; never a value',
    ],
  ],
  [
    'a name of the platform',
    'secrets: [DATABASE_URI=OPENAI_API_KEY]',
    ['3:11: `secrets[0]` cannot be DATABASE_URI: the platform sets that variable itself'],
  ],
  ['a secret twice', 'secrets: [OPENAI_API_KEY, OPENAI_API_KEY=PROD_KEY]', ['3:27: `secrets[1]` is there twice']],
  [
    'every problem at once, of every kind',
    'zebra: 1\nimage-uri: x\nrepo-ref: ""\ndeployment-type: prd\nsecrets: [PORT, NOT_SET]\nsmoke-tests: [{ name: a }]',
    [
      '3:1: `zebra` is not a field of a deployment',
      '4:1: `image-uri` belongs to the source `external_docker`, `internal_docker`, not to `github`',
      '5:11: `repo-ref` must be a branch as its plain name or `refs/heads/NAME`, or a tag as `refs/tags/NAME`; a single commit is not supported',
      '6:18: `deployment-type` must be one of `dev_free`, `dev`, `prod`; did you mean `prod`?',
      '7:11: `secrets[0]` cannot be PORT: the platform sets that variable itself',
      '7:17: `secrets[1]` takes its value from the environment variable NOT_SET, which is not set',
      '8:15: `smoke-tests[0].assistant` is missing',
      '8:15: `smoke-tests[0].input` is missing',
    ],
  ],
])('github: %s', (_, fields, problems) => {
  expect(seen(`name: a\nsource: github\n${fields}`)).toEqual(problems.map((problem) => `landfall.yml:${problem}`));
});

test.each<[sentence: string, fields: string, problems: string[]]>([
  ['a branch', 'repo-ref: main', ['3:1: `repo-ref` belongs to the source `github`, not to `external_docker`']],
  ['a rebuild, which images have too', 'image-uri: a:1\nrebuild: always', []],
  [
    'an install command',
    'install-command: npm ci',
    ['3:1: `install-command` belongs to the source `github`, `internal_source`, not to `external_docker`'],
  ],
  ['too many cores', 'resource-spec:\n  cpu: 9', ['4:8: `resource-spec.cpu` must be at most 8']],
  [
    'a resource that is not known',
    'resource-spec:\n  min-scal: 1',
    ['4:3: `resource-spec.min-scal` is not known; did you mean `min-scale`?'],
  ],
  [
    "a resource by the public service's name",
    'resource-spec:\n  redis-cpu: 1',
    ['4:3: `resource-spec.redis-cpu` is not known; did you mean `cache-cpu`?'],
  ],
  [
    'a resource in two spellings',
    'resource-spec:\n  min-scale: 1\n  min_scale: 2',
    ['5:3: `resource-spec.min_scale` is there in two spellings'],
  ],
  [
    'a volume that there is not',
    'resource-spec:\n  volume-mounts:\n    - { name: data, mountPath: /data }',
    ['5:15: `resource-spec.volume-mounts[0].name`: no volume is named data'],
  ],
  [
    'a reference without its key',
    'secret-references:\n  - { name: A, secret-name: b }',
    ['4:5: `secret-references[0].secret-key` is missing'],
  ],
  [
    'a slip in a reference',
    'secret-references:\n  - { name: A, secret-name: b, secret-ky: c }',
    [
      '4:5: `secret-references[0].secret-key` is missing',
      '4:32: `secret-references[0].secret-ky` is not known; did you mean `secret-key`?',
    ],
  ],
  ['an image with a space', 'image-uri: a b', ['3:12: `image-uri` must not contain spaces']],
  [
    'an image that is no address of one',
    'image-uri: registry.example/agent@latest',
    ['3:12: `image-uri` must be the address of an image, as in registry.example.com/team/agent:1.2'],
  ],
  [
    'resources above their own limits, in either spelling',
    'resource-spec:\n  min-scale: 5\n  max_scale: 2\n  cpu: 2\n  cpu-limit: 1.5',
    [
      '4:14: `resource-spec.min-scale` is 5 and may not be above max-scale (2)',
      '6:8: `resource-spec.cpu` is 2 and may not be above cpu-limit (1.5)',
    ],
  ],
  [
    'an init container that is started again',
    'resource-spec:\n  init-containers: [{ name: a, image: b, restartPolicy: Always }]',
    ['4:57: `resource-spec.init-containers[0].restartPolicy` is for sidecars alone'],
  ],
  [
    'no bound that is a default, which may be another one where the deployment is',
    'resource-spec:\n  max-scale: 2\n  queue-min-scale: 3',
    [],
  ],
  ['an address that is none of the web', 'custom-url: ftp://a', ['3:13: `custom-url` must be a URL']],
  [
    'an address with a password',
    'custom-url: https://a:sk-canary@b',
    ['3:13: `custom-url` must not contain a user or a password'],
  ],
])('external_docker: %s', (_, fields, problems) => {
  expect(seen(`name: a\nsource: external_docker\n${fields}`)).toEqual(
    problems.map((problem) => `landfall.yml:${problem}`),
  );
});

test.each<[sentence: string, text: string, problems: string[]]>([
  [
    'with capitals and blanks',
    'deployments:\n  Support Agent: { deployment-type: dev, source: github }',
    ['2:3: `name` may hold lower-case letters, digits and hyphens only; did you mean `support-agent`?'],
  ],
  [
    'with a hyphen at its end',
    'name: agent-\nsource: github',
    ['1:1: `name` may not begin or end with a hyphen; did you mean `agent`?'],
  ],
  [
    'too long',
    `name: ${'a'.repeat(64)}\nsource: github`,
    ['1:1: `name` may have at most 63 characters; this one has 64'],
  ],
  [
    'of another kind where the deployment is found by its id',
    'name: Support Agent\ndeployment-id: 6ba7b810-9dad-41d1-80b4-00c04fd430c8\nsource: github',
    [],
  ],
])('a name %s', (_, text, problems) => {
  expect(seen(text)).toEqual(problems.map((problem) => `landfall.yml:${problem}`));
});

test.each<[sentence: string, text: string, problems: string[]]>([
  [
    'nothing implies the source',
    'name: a',
    [' `source` is missing: write one of `github`, `external_docker`, `internal_source`, `internal_docker`'],
  ],
  [
    'fields of two sources',
    'name: a\nimage-uri: b\nrepo-ref: c',
    ['2:1: `image-uri` belongs to the source `external_docker`, `internal_docker`, not to `github`'],
  ],
  [
    'a source that does not exist',
    'name: a\nsource: gitub',
    [
      '2:9: `source` must be one of `github`, `external_docker`, `internal_source`, `internal_docker`; did you mean `github`?',
    ],
  ],
  ['a folder without anything else', 'name: a\nsource: internal_source', []],
  ["an image of the service's registry", 'name: a\nsource: internal_docker\nimage-uri: b', []],
  [
    "an address of an image of the service's registry",
    'name: a\nsource: internal_docker\ncustom-url: https://b.test',
    ['3:1: `custom-url` belongs to the source `external_docker`, not to `internal_docker`'],
  ],
  [
    'a folder and a repository',
    'name: a\nsource-dir: b\nrepo-url: https://github.com/c/d',
    ['2:1: `source-dir` belongs to the source `internal_source` and `repo-url` to `github`: keep the fields of one'],
  ],
  [
    'a folder and an image',
    'name: a\nsource-dir: b\nimage-uri: c',
    ['3:1: `image-uri` belongs to the source `external_docker`, `internal_docker`, not to `internal_source`'],
  ],
  [
    'a graph configuration and an image, which may both mean something else',
    'name: a\ngraph-config-path: b\nimage-uri: c',
    [
      '3:1: `image-uri` belongs to the source `external_docker` and `graph-config-path` to `github`: keep the fields of one',
    ],
  ],
  [
    'everything wrong with a folder at once',
    'name: a\nsource-dir: [b]\ngraph-config-path: ../c\nbuild-command: a | b\nrebuild: sometimes\nsource-folder: d',
    [
      '2:13: `source-dir` must be text, not a list',
      '3:20: `graph-config-path` must be a path within the repository, with forward slashes, from its root',
      '4:16: `build-command` must not contain one of | ; $ < >: put such a command in a script',
      '5:10: `rebuild` must be one of `auto`, `always`, `never`',
      '6:1: `source-folder` is not a field of a deployment; did you mean `source-dir`?',
    ],
  ],
  [
    'a slip in the folder',
    'name: a\nsource-dri: b\nsource: internal_source',
    ['2:1: `source-dri` is not a field of a deployment; did you mean `source-dir`?'],
  ],
  ['no name', 'source: github', [' `name` or `deployment-id` must say which deployment is meant']],
  ['an empty file', '', [' a deploy file must be a map, with `deployments` or the fields of one, not nothing']],
  ['a list', '- name: a', [' a deploy file must be a map, with `deployments` or the fields of one, not a list']],
  ['a slip in the first word', 'deployment:\n  a: {}', ['1:1: `deployment` is not known; did you mean `deployments`?']],
  [
    'a list of deployments',
    'deployments:\n  - name: a',
    ['2:3: `deployments` must be a map with at least one deployment under its name'],
  ],
  [
    'no deployment',
    'deployments: {}',
    ['1:14: `deployments` must be a map with at least one deployment under its name'],
  ],
  ['an empty deployment', 'deployments:\n  a:', ['2:5: `a` must be a map of the fields of a deployment, not nothing']],
  [
    'something beside the deployments',
    'deployments:\n  a: { source: github }\non-failure: keep',
    ['3:1: `on-failure` stands beside `deployments`: move it into one of them, or into `defaults` for all of them'],
  ],
  [
    'two deployments of one name',
    'deployments:\n  a: { source: github }\n  b: { source: github, name: a }',
    ['3:24: another deployment of this file is named `a` too'],
  ],
  [
    'a deployment twice',
    'deployments:\n  a: { source: github }\n  a: { source: github }',
    ['3:3: `a` is written twice'],
  ],
  [
    'problems of two deployments',
    'deployments:\n  a: { source: github, zebra: 1 }\n  b: { source: gitub }',
    [
      '2:24: `zebra` is not a field of a deployment',
      '3:16: `source` must be one of `github`, `external_docker`, `internal_source`, `internal_docker`; did you mean `github`?',
    ],
  ],
])('%s', (_, text, problems) => expect(seen(text)).toEqual(problems.map((problem) => `landfall.yml:${problem}`)));

test('no problem of any field repeats what was written in it', () => {
  const names = [
    'name',
    'deployment-id',
    'source',
    'integration-id',
    'repo-url',
    'repo-ref',
    'graph-config-path',
    'deployment-type',
    'build-on-push',
    'image-uri',
    'install-command',
    'build-command',
    'custom-url',
    'listener-id',
    'k8s-namespace',
    'resource-spec',
    'secrets',
    'secrets-strategy',
    'secret-references',
    'rebuild',
    'smoke-tests',
    'conversations',
    'verify',
    'on-failure',
    'on-unproven',
    'prices',
  ];
  for (const value of [
    '"sk canary\\n; $"',
    '[sk-canary]',
    '{ a: sk-canary }',
    '[{ name: sk-canary, value: sk-canary }]',
  ]) {
    for (const source of ['github', 'external_docker']) {
      const text = `source: ${source}\n${names.map((name) => (name === 'source' ? '' : `${name}: ${value}`)).join('\n')}`;
      const lines = seen(text);
      expect(lines.length).toBeGreaterThan(10);
      expect(lines.join('\n')).not.toContain('canary');
    }
  }
});
