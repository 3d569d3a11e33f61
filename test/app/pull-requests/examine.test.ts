import { silentLogger } from '../../../src/kit/logger.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import { FileTooLarge, type CheckContent, type GitHubApi } from '../../../app/github/github-api.ts';
import type { PullRequest, PullRequestExaminer } from '../../../app/events/event-types.ts';
import { createPullRequestExaminer } from '../../../app/pull-requests/examine.ts';
import { AgentModel } from '../../deploy/smoke/agent-model.ts';
import { ControlModel, goesLive, serviceError } from '../../deploy/machine/control-model.ts';
import { SimulatedClock } from '../../deploy/machine/simulated-clock.ts';
import { ModelGit } from '../simulation/model-git.ts';
import { ModelHub } from '../simulation/model-hub.ts';
import { MemoryStore } from '../reconcile/memory-store.ts';

const repository = { installationId: 1, repositoryId: 7, owner: 'acme', name: 'agent' };
const own = 'https://github.com/acme/agent';
const [live, headSha] = ['a'.repeat(40), 'b'.repeat(40)];
const pull: PullRequest = { repository, number: 3, headSha, baseBranch: 'main', fork: false };
const deployFile = [
  'name: agent',
  'source: github',
  `repo-url: ${own}`,
  'repo-ref: main',
  'graph-config-path: langgraph.json',
  'secrets: [OPENAI_API_KEY]',
  '',
].join('\n');
const graphConfig = '{ "graphs": { "echo": "./graph.ts:graph" } }\n';

let clock: SimulatedClock;
let control: ControlModel;
let files: Record<'head' | 'main', Record<string, string>>;
let changed: readonly string[] | undefined;
let store: MemoryStore;
let requested: string[];
let tooLarge: Set<string>;

beforeEach(() => {
  clock = new SimulatedClock();
  control = new ControlModel(clock);
  store = new MemoryStore({ now: () => clock.now() });
  const base = { '.github/landfall.yml': deployFile, 'langgraph.json': graphConfig };
  files = { head: { ...base }, main: { ...base } };
  changed = ['.github/landfall.yml'];
  requested = [];
  tooLarge = new Set();
});

/** What runs: the deployment of the file, live at a commit. */
const runs = (more: { repo_url?: string; graph_config_path?: string } = {}): void => {
  control.has(
    {
      name: 'agent',
      source: 'github',
      source_config: { repo_url: more.repo_url ?? own, build_on_push: true },
      source_revision_config: { repo_ref: 'main', graph_config_path: more.graph_config_path ?? 'langgraph.json' },
      secrets: [{ name: 'OPENAI_API_KEY', value: 'canary-of-the-service' }],
    },
    goesLive(live),
  );
};

async function examined(at: PullRequest = pull): Promise<CheckContent | undefined> {
  await clock.sleep(120_000);
  await examiner().examine(at);
  const report = await store.reportOf(7, headSha, 'Landfall');
  return report?.wanted.kind === 'check' ? report.wanted.content : undefined;
}

function examiner(): PullRequestExaminer {
  const githubApi: GitHubApi = Object.assign(new ModelHub(new ModelGit(() => clock.now())), {
    file: async (_: unknown, path: string, ref: string) => {
      requested.push(`${path}@${ref}`);
      if (tooLarge.has(path)) throw new FileTooLarge(path, ref, 1_000_001, 1_000_000);
      return files[ref === headSha ? 'head' : 'main'][path];
    },
  });
  const find = async () => {
    const there = control.service.deployment;
    return there && control.getDeployment(there.id);
  };
  return createPullRequestExaminer({
    context: {
      githubApi,
      store,
      control,
      agentAt: () => new AgentModel(clock),
      clock,
      random: () => 0.5,
      log: silentLogger,
    },
    changedPaths: async () => {
      requested.push('changed paths');
      return changed;
    },
    accessPolicy: () => ({
      find,
      refusal: ({ source_config: { repo_url } }) => (repo_url === own ? undefined : 'it is made of another repository'),
      isOwn: (repoUrl) => repoUrl === own,
    }),
  });
}

const textOf = (content: CheckContent | undefined) => `${content?.title}\n${content?.summary}\n${content?.text ?? ''}`;

describe('a plan that a person requests', () => {
  test('is the forecast, and is written nowhere', async () => {
    expect(textOf(await examiner().plan(pull))).toContain('create it');
    expect(await store.pendingReports()).toEqual([]);
  });

  test('is made of a pull request that changes neither file, too', async () => {
    changed = ['src/graph.ts'];
    const content = await examiner().plan(pull);
    expect(content.summary).toContain('This pull request changes neither the deploy file nor what that names.');
    expect(content.summary).toContain('create it');
  });

  test('without a deploy file says that it names no deployment', async () => {
    files = { head: {}, main: {} };
    expect((await examiner().plan(pull)).summary).toContain('It names no deployment.');
  });
});

describe('a pull request that changes neither file', () => {
  test.each([
    ['of this repository', 'A pull request', pull],
    ['of a fork', 'A pull request from a fork', { ...pull, fork: true }],
  ])('%s has nothing to deploy, which is neutral', async (_, whose, at) => {
    changed = ['src/graph.ts'];
    expect(await examined(at)).toMatchObject({
      status: 'completed',
      conclusion: 'neutral',
      title: 'Nothing to deploy',
      summary: `${whose} deploys nothing by itself; what it becomes on main is deployed from there.`,
    });
    expect(control.calls).toEqual([]);
  });

  test('in a repository without a deploy file neither', async () => {
    files = { head: {}, main: {} };
    expect(await examined()).toMatchObject({ conclusion: 'neutral' });
  });
});

test('reports a pull request again after its base branch changed', async () => {
  expect(await examined()).toMatchObject({ conclusion: 'success' });
  changed = ['src/graph.ts'];
  expect(await examined({ ...pull, baseBranch: 'dev' })).toMatchObject({
    conclusion: 'neutral',
    summary: expect.stringContaining('on dev is deployed from there'),
  });
});

test('keeps the reports of two pull requests with the same commit apart', async () => {
  await examined();
  changed = ['src/graph.ts'];
  expect(await examined({ ...pull, number: 30 })).toMatchObject({ conclusion: 'success' });
});

test('validates the file of cases that a smoke test names, which may be all that has changed', async () => {
  const named = `${deployFile}smoke-tests: [{ name: t, assistant: echo, cases: cases.jsonl }]\n`;
  const main = { '.github/landfall.yml': named, 'langgraph.json': graphConfig, 'cases.jsonl': '{"input":1}\n' };
  files = { main, head: { ...main, 'cases.jsonl': '{"input":1}\n{"input":1,"expects":{}}\n' } };
  changed = ['cases.jsonl'];
  expect(await examined()).toMatchObject({
    conclusion: 'failure',
    annotations: [{ path: 'cases.jsonl', startLine: 2, message: expect.stringContaining('did you mean `expect`?') }],
  });
});

describe('reports an error on its line', () => {
  test.each(['.github/landfall.yml', 'langgraph.json'])('%s is too large to be read', async (path) => {
    tooLarge.add(path);
    changed = [path];
    const content = await examined();
    expect(content).toMatchObject({
      conclusion: 'failure',
      title: '1 problem in the files',
      annotations: [{ path, startLine: 1, level: 'failure', message: expect.stringContaining('1000001 bytes') }],
    });
  });

  test('in the deploy file and the graph configuration at once, without a forecast', async () => {
    files.head['.github/landfall.yml'] = deployFile.replace('repo-ref', 'repo-reff');
    files.head['langgraph.json'] = '{\n  "graphs": { "echo": 5 }\n}\n';
    const content = await examined();
    expect(content).toMatchObject({ conclusion: 'failure', title: '2 problems in the files' });
    expect(content?.annotations).toMatchObject([
      { path: '.github/landfall.yml', startLine: 4, level: 'failure', message: expect.stringContaining('repo-ref') },
      { path: 'langgraph.json', startLine: 2, level: 'failure' },
    ]);
    expect(control.calls).toEqual([]);
  });

  test('a missing graph configuration is a warning at the line that names it', async () => {
    delete files.head['langgraph.json'];
    const content = await examined();
    expect(content).toMatchObject({
      conclusion: 'success',
      annotations: [{ path: '.github/landfall.yml', startLine: 5, level: 'warning' }],
    });
  });

  test('examines a change of the graph configuration alone', async () => {
    changed = ['langgraph.json'];
    files.head['langgraph.json'] = '{}';
    expect(await examined()).toMatchObject({ conclusion: 'failure', annotations: [{ path: 'langgraph.json' }] });
  });

  test('treats a truncated list of changes as changed', async () => {
    changed = undefined;
    files.head['.github/landfall.yml'] = 'name: [';
    expect(await examined()).toMatchObject({ conclusion: 'failure' });
  });
});

describe('what merging would do', () => {
  test('a missing deployment is created: one revision', async () => {
    const content = await examined();
    expect(content).toMatchObject({ conclusion: 'success', title: 'Would create 1 deployment: 1 revision' });
    expect(content?.summary).toMatch(/\| agent \| create it \| 1 \|/);
  });

  test('names a field that makes a revision, with its old and new value', async () => {
    runs({ graph_config_path: 'old.json' });
    const content = await examined();
    expect(content?.title).toBe('Would change 1 deployment: 1 revision');
    expect(content?.summary).toContain('source&#95;revision&#95;config.graph&#95;config&#95;path');
    expect(content?.text).toContain('<code>old.json</code> | <code>langgraph.json</code>');
  });

  test('the push itself is a revision if the deployed branch is the base', async () => {
    runs();
    expect((await examined())?.title).toBe('Would change 1 deployment: 1 revision');
  });

  test('a deployment of another branch stays as it is', async () => {
    runs();
    expect((await examined({ ...pull, baseBranch: 'next' }))?.title).toBe('The files are fine; nothing would change');
  });

  test('the file is removed', async () => {
    delete files.head['.github/landfall.yml'];
    expect(await examined()).toMatchObject({ conclusion: 'success', title: 'The deploy file is removed' });
  });

  test('an image without a repository: valid files, the deployment is not examined', async () => {
    files.head['.github/landfall.yml'] = 'name: agent\nsource: external_docker\nimage-uri: registry.example/agent:2\n';
    control.has(
      {
        name: 'agent',
        source: 'external_docker',
        source_config: {},
        source_revision_config: { image_uri: 'registry.example/canary:1' },
        secrets: [],
      },
      goesLive(live),
    );
    const content = await examined();
    expect(content).toMatchObject({ conclusion: 'success', title: 'The files are fine; 1 deployment not looked at' });
    expect(textOf(content)).not.toContain('canary');
  });

  test('the service does not respond: the files are valid, and the check says so', async () => {
    runs();
    control.fails('get', serviceError('unreachable', 'get deployment'), { times: 99 });
    control.fails('list', serviceError('unreachable', 'list deployments'), { times: 99 });
    expect(await examined()).toMatchObject({
      conclusion: 'success',
      title: expect.stringContaining('the service did not respond'),
    });
  });

  test('nothing is ever written', async () => {
    runs({ graph_config_path: 'old.json' });
    await examined();
    expect(control.sent).toEqual([]);
  });
});

describe('what a pull request must not get', () => {
  test("another repository's deployment: refused, and nothing of it is shown", async () => {
    runs({ repo_url: 'https://github.com/other/secret-agent', graph_config_path: 'their-own.json' });
    const content = await examined();
    expect(content).toMatchObject({ conclusion: 'failure', title: '1 deployment cannot be deployed as written' });
    expect(textOf(content)).not.toMatch(/secret-agent|their-own/);
  });

  test('a new deployment of another repository', async () => {
    files.head['.github/landfall.yml'] = deployFile.replace(own, 'https://github.com/other/agent');
    expect(await examined()).toMatchObject({
      conclusion: 'failure',
      title: '1 deployment cannot be deployed as written',
    });
  });

  test("values of what runs, where it comes from a fork: only the fields' names", async () => {
    runs({ graph_config_path: 'of-our-own.json' });
    const content = await examined({ ...pull, fork: true });
    expect(content?.summary).toContain('graph&#95;config&#95;path');
    expect(textOf(content)).not.toContain('of-our-own');
  });

  test("a secret of the deployment's", async () => {
    runs({ graph_config_path: 'old.json' });
    expect(JSON.stringify(await examined())).not.toContain('canary-of-the-service');
  });

  test('a look outside of the repository', async () => {
    files.head['.github/landfall.yml'] = deployFile.replace('langgraph.json', '../../etc/passwd');
    await examined();
    expect(requested.filter((each) => each.includes('passwd'))).toEqual([]);
  });

  test('Markdown of its own in our check', async () => {
    files.head['.github/landfall.yml'] = deployFile.replace('name: agent', 'name: "@everyone [x](https://evil.test)"');
    expect(textOf(await examined())).not.toMatch(/@everyone|\]\(https/);
  });
});

test('lists no changed files where neither side has a deploy file', async () => {
  files = { head: {}, main: {} };
  await examined();
  expect(requested).toEqual([`.github/landfall.yml@${headSha}`, '.github/landfall.yml@main']);
});
