import { describe, expect, test } from 'vitest';
import { defaultSkipWords } from '../../../src/deploy/file/push-fields.ts';
import { previewName } from '../../../src/deploy/rules/preview.ts';
import type { Deployment } from '../../../src/contract/control/deployment.ts';
import { FileTooLarge, type InstallationRepository } from '../../../app/github/github-api.ts';
import type { TargetResolverOptions } from '../../../app/targets/target-resolver.ts';
import { nothingToDeploy } from '../../../app/events/commit-check.ts';
import { agents, deployed, resolverOf, idOf, intruder, type More } from './models.ts';

/** What a push to a branch of acme/agents is for, in one line each. */
async function reported(deployments: readonly Deployment[], file?: string, branch = 'main'): Promise<string[]> {
  const resolver = resolverOf(deployments, file === undefined ? {} : { 'acme/agents': file });
  const { targets, refused } = await resolver.targetsOf(agents, branch);
  return [
    ...targets.map(({ repoRef, terms }) => `builds ${terms.deploymentName} from ${repoRef}`),
    ...refused.map(({ deployment, why }) => `${deployment}: ${why}`),
  ];
}

const tooLarge: TargetResolverOptions['githubApi'] = {
  defaultBranch: async () => 'main',
  head: async () => undefined,
  file: async (_, path) => {
    throw new FileTooLarge(path, 'acme/agents', 2_000_000, 1_000_000);
  },
};
const nameOfPreview = previewName({ repositoryId: 99, number: 12, entry: 'a' });
const off = 'build_on_push is off at the service';
const apply =
  'the App neither creates nor reconfigures deployments: run the Action, or `npx landfall deploy`, to apply the file';

describe('without a file', () => {
  test.each<[sentence: string, deployment: Deployment, branch: string, said: string[]]>([
    ['a deployment of this repository and branch', deployed('a'), 'main', ['builds a from main']],
    [
      'its repository in another spelling',
      deployed('a', { config: { repo_url: 'git@github.com:Acme/agents.git' } }),
      'main',
      ['builds a from main'],
    ],
    [
      'its branch as a full ref',
      deployed('a', { revision: { repo_ref: 'refs/heads/main' } }),
      'main',
      ['builds a from main'],
    ],
    ['a branch with slashes', deployed('a', { revision: { repo_ref: 'feat/x' } }), 'feat/x', ['builds a from feat/x']],
    ['another branch', deployed('a'), 'feature', []],
    ['the preview of a pull request', deployed(nameOfPreview, { config: { build_on_push: false } }), 'main', []],
    ['a preview that is built on push', deployed(nameOfPreview), 'main', [`builds ${nameOfPreview} from main`]],
    ["a preview of people's own", deployed('a-pr-12-abc1234'), 'main', ['builds a-pr-12-abc1234 from main']],
    ['a branch in other letters', deployed('a'), 'Main', []],
    [
      'a branch that is gone, while the default one deploys nothing',
      deployed('a', { revision: { repo_ref: 'gone/master' } }),
      'main',
      [`a: it is built from the branch gone/master, which this repository does not have; ${apply}`],
    ],
    ['a branch that is gone', deployed('a', { revision: { repo_ref: 'gone/master' } }), 'feature', []],
    ['another branch that is there', deployed('a', { revision: { repo_ref: 'live' } }), 'main', []],
    ['a tag', deployed('a', { revision: { repo_ref: 'refs/tags/v1' } }), 'v1', []],
    [
      'a branch that is called like a tag',
      deployed('a', { revision: { repo_ref: 'refs/tags/v1' } }),
      'refs/tags/v1',
      [],
    ],
    ['no ref at all', deployed('a', { revision: { repo_ref: null } }), '', []],
    ['another repository', deployed('a', { config: { repo_url: 'https://github.com/acme/web' } }), 'main', []],
    ['no repository', deployed('a', { config: { repo_url: null } }), 'main', []],
    ['an image', deployed('a', { source: 'external_docker' }), 'main', []],
    ['an uploaded folder', deployed('a', { source: 'internal_source' }), 'main', []],
    ['pushes are not built', deployed('a', { config: { build_on_push: false } }), 'main', [`a: ${off}`]],
    ['build_on_push is unknown', deployed('a', { config: { build_on_push: null } }), 'main', [`a: ${off}`]],
    [
      'it is being deleted',
      deployed('a', { status: 'AWAITING_DELETE' }),
      'main',
      ['a: it is being deleted at the service'],
    ],
    [
      'it is all but gone',
      deployed('a', { status: 'AWAITING_FINAL_DELETE' }),
      'main',
      ['a: it is being deleted at the service'],
    ],
  ])('%s', async (_, deployment, branch, said) =>
    expect(await reported([deployment], undefined, branch)).toEqual(said),
  );

  test('several of one branch are all targets', async () => {
    expect(await reported([deployed('a'), deployed('b'), deployed('c', { revision: { repo_ref: 'dev' } })])).toEqual([
      'builds a from main',
      'builds b from main',
    ]);
  });

  test('the terms are the default ones', async () => {
    const one = deployed('a');
    const { targets } = await resolverOf([one]).targetsOf(agents, 'main');
    expect(targets).toEqual([
      {
        deploymentId: one.id,
        repoRef: 'main',
        terms: {
          deploymentName: 'a',
          builder: 'app',
          timeoutMs: 1_800_000,
          rules: { skipWords: defaultSkipWords, afterRollback: 'continue' },
          smokeTests: [],
          onFailure: 'keep',
          environment: { name: 'a', production: false, transient: false },
          differences: [],
          notes: [],
        },
      },
    ]);
  });
});

describe('with a file', () => {
  const file = `
deployments:
  a:
    paths: { include: [agents/**] }
    skip-words: ['[no ship]']
    after-rollback: hold
    verify: after-traffic
    conversations: 20
    on-failure: rollback
    environment: { name: live, production: true }
    smoke-tests: [{ name: greets, assistant: support, input: {} }]
`;

  test('its rules are the terms of the deployment that it names', async () => {
    const { targets } = await resolverOf([deployed('a'), deployed('b')], { 'acme/agents': file }).targetsOf(
      agents,
      'main',
    );
    expect(targets.map(({ terms }) => terms)).toMatchObject([
      {
        rules: { paths: { include: ['agents/**'], exclude: [] }, skipWords: ['[no ship]'], afterRollback: 'hold' },
        verify: 'after-traffic',
        conversations: { newest: 20, timeoutMs: 60_000 },
        onFailure: 'rollback',
        environment: { name: 'live', production: true, transient: false },
        smokeTests: [{ name: 'greets', assistant: 'support', attempts: 3 }],
        differences: [],
        notes: [],
      },
      { rules: { skipWords: defaultSkipWords }, onFailure: 'keep', smokeTests: [], notes: [] },
    ]);
  });

  test('pushes build only the deployment of the first environment', async () => {
    const text = 'environments: [one, two]\ndeployments: { a: { environment: one }, b: { environment: two } }';
    expect(await reported([deployed('a'), deployed('b')], text)).toEqual([
      'builds a from main',
      expect.stringMatching(
        /^b: it comes after a, and the Action, or `npx landfall deploy`, deploys what that one has/,
      ),
    ]);
    expect(await reported([deployed('a'), deployed('b', { config: { build_on_push: false } })], text)).toEqual([
      'builds a from main',
    ]);
  });

  test('it is read from the default branch, whichever branch was pushed', async () => {
    const resolver = resolverOf([deployed('a', { revision: { repo_ref: 'dev' } })], { 'acme/agents': file });
    await resolver.targetsOf(agents, 'dev');
    expect(resolver.requested).toContain('.github/landfall.yml@main');
    expect(resolver.requested.filter((each) => each.includes('dev'))).toEqual([]);
  });

  test('caches the default branch for a minute, and reads the file on every push', async () => {
    const branches: number[] = [];
    let now = 0;
    const files: string[] = [];
    const githubApi = {
      defaultBranch: async ({ repositoryId }: InstallationRepository) => {
        branches.push(repositoryId);
        return 'main';
      },
      head: async () => undefined,
      file: async (_: InstallationRepository, path: string) => {
        files.push(path);
        return undefined;
      },
    };
    const resolver = resolverOf([], {}, { githubApi, clock: { now: () => now } });
    await Promise.all([resolver.targetsOf(agents, 'main'), resolver.targetsOf(intruder, 'main')]);
    await resolver.targetsOf(agents, 'main');
    expect({ branches, files: files.length }).toEqual({ branches: [10, 20], files: 3 });
    now = 60_000;
    await resolver.targetsOf(agents, 'main');
    expect({ branches, files: files.length }).toEqual({ branches: [10, 20, 10], files: 4 });
  });

  test('a deployment is named by its id, whatever it is called', async () => {
    const one = deployed('a');
    const text = `deployments: { b: { deployment-id: ${one.id.toUpperCase()}, on-failure: rollback } }`;
    const { targets, refused } = await resolverOf([one], { 'acme/agents': text }).targetsOf(agents, 'main');
    expect(targets[0]?.terms).toMatchObject({ deploymentName: 'a', onFailure: 'rollback' });
    expect(refused).toEqual([]);
  });

  test.each<[sentence: string, deployment: More, file: string, branch: string, said: string[]]>([
    [
      'of a deployment that is not there',
      {},
      'name: b',
      'main',
      [
        'builds a from main',
        'b: the service has no deployment of this name: the Action, or `npx landfall deploy`, creates it from the file',
      ],
    ],
    ['of one that is not there, on another branch', {}, 'name: b', 'dev', []],
    [
      'of one that is not there and would be of this branch',
      {},
      'name: b\nrepo-ref: dev',
      'dev',
      ['b: the service has no deployment of this name: the Action, or `npx landfall deploy`, creates it from the file'],
    ],
    [
      'of one that is not there and would be of another branch',
      {},
      'name: b\nrepo-ref: dev',
      'main',
      ['builds a from main'],
    ],
    [
      'of an image that is not there',
      {},
      'name: b\nsource: external_docker\nimage-uri: x/y',
      'main',
      ['builds a from main'],
    ],
    [
      'of an id that is not there',
      {},
      `deployment-id: ${idOf(9999)}`,
      'main',
      ['builds a from main', `${idOf(9999)}: the service has no deployment of this id`],
    ],
    [
      'of a name in other letters',
      {},
      'name: A',
      'main',
      [
        'builds a from main',
        'A: the service has no deployment of this name: the Action, or `npx landfall deploy`, creates it from the file',
      ],
    ],
    [
      'that wants pushes built where the service does not',
      { config: { build_on_push: false } },
      'name: a\nbuild-on-push: true',
      'main',
      [`a: ${off}, while the file requests it; ${apply}`],
    ],
    [
      'that says nothing of it where the service does not',
      { config: { build_on_push: false } },
      'name: a',
      'main',
      [`a: ${off}`],
    ],
    [
      'that does not want them built, nor does the service',
      { config: { build_on_push: false } },
      'name: a\nbuild-on-push: false',
      'main',
      [],
    ],
    [
      'that does not want them built where the service does',
      {},
      'name: a\nbuild-on-push: false',
      'main',
      ['builds a from main'],
    ],
    [
      'that wants this branch where the service builds another',
      {},
      'name: a\nrepo-ref: dev',
      'dev',
      [`a: the service builds another ref of it than the file requests; ${apply}`],
    ],
    [
      'that wants another branch where the service builds this one',
      {},
      'name: a\nrepo-ref: dev',
      'main',
      ['builds a from main'],
    ],
    [
      'of an image, which is of no repository',
      { source: 'external_docker', config: { repo_url: null, build_on_push: null } },
      'name: a\nsource: external_docker\nimage-uri: x/y',
      'main',
      [],
    ],
    ['of an image', { source: 'external_docker' }, 'name: a\nsource: external_docker\nimage-uri: x/y', 'main', []],
    ['of a folder', { source: 'internal_source' }, 'name: a\nsource-dir: b', 'main', []],
    [
      'that takes an image for a repository',
      { source: 'external_docker' },
      'name: a',
      'main',
      ['a: its source is external_docker, and only a deployment from a repository is built on push'],
    ],
    ['that takes a repository for an image', {}, 'name: a\nimage-uri: x/y', 'main', ['builds a from main']],
  ])('%s', async (_, more, text, branch, said) => {
    expect(await reported([deployed('a', more)], text, branch)).toEqual(said);
  });

  test('several deployments of one name are identified by id only', async () => {
    expect(await reported([deployed('a'), deployed('a')], 'name: a')).toEqual([
      'builds a from main',
      'builds a from main',
      'a: the service has several deployments of this name: give its deployment-id',
    ]);
  });

  test('a deployment that is named twice has the rules of the first, and says so', async () => {
    const one = deployed('a');
    const text = `deployments: { a: { on-failure: rollback }, b: { deployment-id: ${one.id} } }`;
    const { targets, refused } = await resolverOf([one], { 'acme/agents': text }).targetsOf(agents, 'main');
    expect(targets).toHaveLength(1);
    expect(targets[0]?.terms).toMatchObject({
      onFailure: 'rollback',
      notes: ['the file names it twice, as a and as b: the first one counts'],
    });
    expect(refused).toEqual([]);
  });

  test.each<[sentence: string, more: string, deployment: Deployment, environment: object]>([
    [
      'none is named: the deployment has its own',
      '',
      deployed('a'),
      { name: 'a', production: false, transient: false },
    ],
    [
      'none is named, of a deployment for production',
      '',
      deployed('a', { config: { deployment_type: 'prod' } }),
      { name: 'a', production: true },
    ],
    ['one is called so', 'environment: Production', deployed('a'), { name: 'Production', production: true }],
    [
      'one is called so and is none',
      'environment: { name: production, production: false }',
      deployed('a'),
      { production: false },
    ],
    ['one goes again', 'environment: { name: x, transient: true }', deployed('a'), { name: 'x', transient: true }],
  ])('environment: %s', async (_, more, deployment, environment) => {
    const { targets } = await resolverOf([deployment], { 'acme/agents': `name: a\n${more}` }).targetsOf(agents, 'main');
    expect(targets[0]?.terms.environment).toMatchObject(environment);
  });

  test('an environment that two deployments of the file use is shared, in any case', async () => {
    const file = [
      'deployments:',
      '  a: { repo-url: https://github.com/acme/agents, repo-ref: main, graph-config-path: g.json, environment: Staging }',
      '  b: { repo-url: https://github.com/acme/agents, repo-ref: dev, graph-config-path: g.json, environment: staging }',
      '  c: { repo-url: https://github.com/acme/agents, repo-ref: main, graph-config-path: g.json }',
    ].join('\n');
    const deployments = [deployed('a'), deployed('b', { revision: { repo_ref: 'dev' } }), deployed('c')];
    const { targets } = await resolverOf(deployments, { 'acme/agents': file }).targetsOf(agents, 'main');
    expect(targets.map(({ terms: { environment } }) => environment)).toEqual([
      { name: 'Staging', production: false, transient: false, shared: true },
      { name: 'c', production: false, transient: false },
    ]);
  });
});

describe('file and deployment differ', () => {
  const terms = async (text: string, deployment = deployed('a')) => {
    const { targets } = await resolverOf([deployment], { 'acme/agents': text }).targetsOf(agents, 'main');
    return targets[0]?.terms;
  };

  test('lists the fields, with how to apply them; the service keeps its own values', async () => {
    const text = `
name: a
source: github
repo-url: git@github.com:acme/agents.git
repo-ref: dev
graph-config-path: agents/langgraph.json
build-on-push: false
deployment-type: prod
install-command: npm ci
secrets: [OPENAI_API_KEY]
`;
    expect(await terms(text)).toMatchObject({
      differences: [
        { field: 'source_config.deployment_type', from: 'dev', to: 'prod' },
        { field: 'source_config.build_on_push', from: 'true', to: 'false' },
        { field: 'source_config.install_command', from: undefined, to: 'npm ci' },
        { field: 'source_revision_config.repo_ref', from: 'main', to: 'dev' },
        { field: 'source_revision_config.graph_config_path', from: 'langgraph.json', to: 'agents/langgraph.json' },
      ],
      notes: [],
    });
  });

  test('in nothing but the spelling: not at all', async () => {
    const text =
      'name: a\nrepo-url: ssh://git@github.com/Acme/Agents\nrepo-ref: refs/heads/main\ngraph-config-path: ./langgraph.json';
    expect(await terms(text)).toMatchObject({ differences: [], notes: [] });
  });

  test('in the source', async () => {
    expect(await terms('name: a\nsource: external_docker\nimage-uri: x/y')).toMatchObject({
      differences: [
        { field: 'source', from: 'github', to: 'external_docker' },
        { field: 'source_revision_config.image_uri', from: undefined, to: 'x/y' },
      ],
    });
  });

  test('no user or password of an address is shown', async () => {
    const bound = deployed('a', { config: { repo_url: 'https://joe:sk-canary@git.acme.example/agents' } });
    const resolver = resolverOf(
      [bound],
      { 'acme/agents': 'name: a\nrepo-url: https://github.com/acme/agents' },
      { bindings: [{ repository: 'acme/agents', deployment: 'a' }] },
    );
    const { targets } = await resolver.targetsOf(agents, 'main');
    expect(targets[0]?.terms.differences).toEqual([
      {
        field: 'source_config.repo_url',
        from: 'https://git.acme.example/agents',
        to: 'https://github.com/acme/agents',
      },
    ]);
    expect(JSON.stringify(targets)).not.toContain('sk-canary');
  });
});

describe('a file with a mistake', () => {
  const entry = 'name: a\nrepo-url: https://github.com/acme/agents\nno-such-field: 1\n';
  test.each([
    ['and admins', `${entry}admins: [wilma]\n`, true],
    ['in the whole file and admins', `${entry}admins: [wilma\n`, true],
    ['and no admins', entry, undefined],
  ])('%s says whether it is known who may act', async (_, file, areAdminsUnknown) => {
    const { targets } = await resolverOf([deployed('a')], { 'acme/agents': file }).targetsOf(agents, 'main');
    expect(targets.map(({ terms }) => terms.areAdminsUnknown)).toEqual([areAdminsUnknown]);
  });

  test.each([
    ['a freeze', 'environments: [{ name: production, freeze: christmas }]', true],
    ['a hold', 'environments: [{ name: production, hold: maybe }]', true],
    ['a hold after rollbacks', 'defaults: { after-rollback: hold, on-failure: maybe }', undefined],
  ])('a mistake in a file that speaks of %s', async (_, text, isGateUnknown) => {
    const file = `${text}\ndeployments: { a: { source: github, environment: production } }`;
    const { targets } = await resolverOf([deployed('a')], { 'acme/agents': file }).targetsOf(agents, 'main');
    expect(targets.map(({ terms }) => terms.isGateUnknown)).toEqual([isGateUnknown]);
  });
});

describe('a file with mistakes', () => {
  const mistakes = 'the deploy file has mistakes here, so pushes are built as if it said nothing';

  test('loses nothing of what the service says', async () => {
    const { targets, refused } = await resolverOf([deployed('a')], { 'acme/agents': 'a: [' }).targetsOf(agents, 'main');
    expect(targets[0]?.terms).toMatchObject({ onFailure: 'keep', rules: { skipWords: defaultSkipWords } });
    expect(targets[0]?.terms.notes).toEqual([mistakes, expect.stringMatching(/^\.github\/landfall\.yml:1:\d+: /)]);
    expect(refused).toEqual([]);
  });

  test('in one deployment takes nothing from another', async () => {
    const text = 'deployments:\n  a:\n    paths: { include: [src\\x] }\n  b:\n    on-failure: rollback\n';
    const { targets } = await resolverOf([deployed('a'), deployed('b')], { 'acme/agents': text }).targetsOf(
      agents,
      'main',
    );
    expect(targets.map(({ terms: { onFailure, notes } }) => ({ onFailure, notes }))).toEqual([
      {
        onFailure: 'keep',
        notes: [mistakes, expect.stringContaining('landfall.yml:3:24: `paths.include[0]` must have forward')],
      },
      { onFailure: 'rollback', notes: [] },
    ]);
  });

  test('that names nothing else is reported by itself', async () => {
    expect(await reported([], '- a')).toEqual([
      expect.stringMatching(/^\.github\/landfall\.yml: the deploy file has mistakes/),
    ]);
    expect(await reported([], '- a', 'dev')).toEqual([]);
  });

  test('in a missing deployment is reported with it', async () => {
    expect(await reported([], 'name: a\non-failure: explode')).toEqual([
      expect.stringMatching(
        /^a: the service has no deployment .*; the deploy file has mistakes here.*`on-failure` must be/,
      ),
    ]);
  });

  test('with many mistakes is reported with the first ones', async () => {
    const wrong = Array.from({ length: 30 }, (_, at) => `x${at}: 1`).join('\n');
    const { targets } = await resolverOf([deployed('a')], { 'acme/agents': `name: a\n${wrong}` }).targetsOf(
      agents,
      'main',
    );
    expect(targets[0]?.terms.notes).toHaveLength(12);
    expect(targets[0]?.terms.notes.at(-1)).toBe('and 20 more');
  });

  test('a file that is too large may hold freezes: nothing is deployed, and the check says so', async () => {
    const { targets } = await resolverOf([deployed('a')], {}, { githubApi: tooLarge }).targetsOf(agents, 'main');
    expect(targets[0]?.terms.notes).toEqual([
      'the deploy file was not read, so that it is unknown what it says of pushes: it has 2000000 bytes, and at most 1000000 are read',
    ]);
    expect(targets[0]?.terms).toMatchObject({ areAdminsUnknown: true, isGateUnknown: true });
  });
});

describe('a smoke test of which the cases are in a file', () => {
  const file = 'name: a\nrepo-ref: main\nsmoke-tests: [{ name: t, assistant: echo, cases: ./qa/cases.jsonl }]';

  test('names in its notes what of the cases is left out', async () => {
    const skipping = file.replace('cases.jsonl', 'cases.yml, input: 1, skip-unmapped: true');
    const cases = '- assert: [{ type: javascript, value: x }]';
    const resolver = resolverOf([deployed('a')], { 'acme/agents': skipping, 'acme/agents/qa/cases.yml': cases });
    const { targets } = await resolver.targetsOf(agents, 'main');
    expect(targets[0]?.terms.notes).toEqual(['1 check of ./qa/cases.yml is not run: javascript']);
  });

  test('has the cases of the branch that the deploy file is read from', async () => {
    const files = { 'acme/agents': file, 'acme/agents/qa/cases.jsonl': '{"input":1}\n{"name":"b","input":2}\n' };
    const resolver = resolverOf([deployed('a')], files);
    const { targets } = await resolver.targetsOf(agents, 'main');
    expect(targets[0]?.terms).toMatchObject({ smokeTests: [{ name: 't: 1' }, { name: 't: b' }], notes: [] });
    expect(resolver.requested).toContain('qa/cases.jsonl@main');
  });

  test('is a mistake of the deploy file where there is no such file', async () => {
    const { targets } = await resolverOf([deployed('a')], { 'acme/agents': file }).targetsOf(agents, 'main');
    expect(targets[0]?.terms.notes).toContainEqual(
      expect.stringMatching(/landfall\.yml:3:\d+: `smoke-tests\[0\]\.cases` names a file that is not there$/),
    );
  });

  test('is not read once all files of cases are too long together, and no further file is fetched', async () => {
    const tests = Array.from({ length: 6 }, (_, at) => `{ name: t${at}, assistant: echo, cases: c${at}.yml }`);
    const long = `- input: 1 # ${'x'.repeat(900_000)}`;
    const texts = Array.from({ length: 6 }, (_, at) => [`acme/agents/c${at}.yml`, at < 5 ? long : '- input: 1']);
    const files = { ...Object.fromEntries(texts), 'acme/agents': `name: a\nsmoke-tests: [${tests.join()}]` };
    const resolver = resolverOf([deployed('a')], files);
    const { targets } = await resolver.targetsOf(agents, 'main');
    const notes = targets[0]?.terms.notes.map(String).filter((note) => note.includes('all files of cases together'));
    expect(notes?.map((note) => /smoke-tests\[(\d)\]/.exec(note)?.[1])).toEqual(['4', '5']);
    expect(resolver.requested).not.toContain('c5.yml@main');
  });

  test('is one of at most 20 files', async () => {
    const tests = Array.from({ length: 21 }, (_, at) => `{ name: t${at}, assistant: echo, cases: c${at}.yml }`);
    const texts = Array.from({ length: 21 }, (_, at) => [`acme/agents/c${at}.yml`, '- input: 1']);
    const files = { ...Object.fromEntries(texts), 'acme/agents': `name: a\nsmoke-tests: [${tests.join()}]` };
    const { targets } = await resolverOf([deployed('a')], files).targetsOf(agents, 'main');
    expect(targets[0]?.terms.notes.slice(1)).toEqual([
      expect.stringContaining('`smoke-tests[20].cases` is one of more than 20 files of cases'),
    ]);
  });
});

describe('a deploy file that could not be read in time', () => {
  const unread = 'reading it takes too much time';
  const files = {
    namedPaths: async () => ({ graphConfigs: [], cases: [] }),
    readDeployFile: async () => ({ entries: [], notes: [], unread }),
  };

  test.each([[[deployed('a')]], [[]]])('deploys nothing, and fails the check (%#)', async (deployments) => {
    const resolver = resolverOf(deployments, { 'acme/agents': 'name: a' }, { files });
    const { targets, refused } = await resolver.targetsOf(agents, 'main');
    expect(targets).toEqual([]);
    expect(refused.at(-1)).toEqual({
      deployment: '.github/landfall.yml',
      why: `the deploy file could not be read, so this push is not deployed: ${unread}, or press Re-run to read it again`,
      isFailure: true,
    });
    expect(nothingToDeploy('it', refused, 0).conclusion).toBe('failure');
  });

  test('keeps other branches of its deployments as well', async () => {
    const deployments = [deployed('a', { revision: { repo_ref: 'dev' } })];
    const { targets, refused } = await resolverOf(deployments, {}, { files }).targetsOf(agents, 'dev');
    expect([targets, refused.map(({ isFailure }) => isFailure)]).toEqual([[], [true]]);
  });
});

describe('a cached list', () => {
  test('is read again before reporting that nothing is deployed', async () => {
    const deployments: Deployment[] = [deployed('of another', { config: { repo_url: 'https://github.com/acme/web' } })];
    let now = 1_000;
    const resolver = resolverOf(deployments, {}, { clock: { now: () => now } });
    expect((await resolver.targetsOf(agents, 'main')).targets).toEqual([]);
    deployments.push(deployed('made just now'));
    now += 500;
    const { targets } = await resolver.targetsOf(agents, 'main');
    expect(targets.map(({ terms }) => terms.deploymentName)).toEqual(['made just now']);
  });

  test('is enough where it names what is deployed', async () => {
    let now = 1_000;
    const resolver = resolverOf([deployed('known')], {}, { clock: { now: () => now } });
    await resolver.targetsOf(agents, 'main');
    now += 500;
    await resolver.targetsOf(agents, 'main');
    expect(resolver.requested.filter((each) => each.startsWith('list'))).toHaveLength(1);
  });
});
