import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { refusal } from '../../../src/action/report-outcome.ts';
import { CommandFixture, head, mainHead } from './command-fixture.ts';
import { deploymentOf, revisionOf } from './deployment-of.ts';

const since = '2026-03-01T12:00:30Z';
let here: CommandFixture;

beforeEach(async () => {
  here = new CommandFixture();
  await here.start();
});
afterEach(() => here.stop());

/** What a refused command says, and that it did nothing. */
async function refusalOf(body: string, said: Parameters<CommandFixture['say']>[1] = {}): Promise<unknown> {
  const outcome = await here.say(body, said);
  expect(outcome).toMatchObject({ passes: true, kind: 'neutral', changed: false });
  expect({ runs: here.runs, reactions: here.reactions() }).toEqual({ runs: [], reactions: ['eyes', 'confused'] });
  expect(here.said()).toContain('othing was done: ');
  return typeof outcome === 'string' ? outcome : outcome.command?.code;
}

describe('/rollback', () => {
  test('restores the former revision, bound to what serves, and answers once', async () => {
    const outcome = await here.say('/rollback');
    expect(outcome).toMatchObject({ kind: 'rolled-back', command: { name: 'rollback', code: 'ran' } });
    expect(here.runs).toMatchObject([
      {
        inputs: { mode: 'rollback' },
        bound: { expected: { active_revision_id: 'r2', latest_revision_id: 'r2' } },
        branch: 'main',
      },
    ]);
    expect(here.answers()).toHaveLength(1);
    expect(here.said()).toMatch(
      /^### ✅ \/rollback by mona, 2026-03-01 12:00 UTC\n\nRolled-back: Revision r3 is live\.$/,
    );
    expect(here.reactions()).toEqual(['eyes', '+1']);
  });

  test('says before it begins that it does', async () => {
    let begun = '';
    here.before = () => {
      begun = here.said();
    };
    await here.say('/rollback');
    expect(begun).toContain('### ⏳ /rollback by mona');
    expect(begun).toContain('actions/runs/900');
  });

  test('a failed run is shown as one, and fails the step', async () => {
    here.outcome = {
      kind: 'failed',
      passes: false,
      reason: 'It is broken',
      advice: 'Mend it.',
      changed: true,
      notes: [],
    };
    expect(await here.say('/rollback')).toMatchObject({ kind: 'failed', passes: false, command: { code: 'ran' } });
    expect(here.said()).toContain('### ❌ /rollback by mona, 2026-03-01 12:00 UTC\n\nFailed: It is broken. Mend it.');
    expect(here.reactions()).toEqual(['eyes', 'confused']);
  });

  test.each([
    ['serves that was made since', { created_at: since }],
    ['serves that went live since', { updated_at: since }],
  ])('is refused where a revision %s', async (_, times) => {
    here.deployments.splice(0, 1, { ...deploymentOf('support', ['r2', 'r1']), revisions: [revisionOf('r2', times)] });
    expect(await refusalOf('/rollback')).toBe('changed-since');
  });

  test('is refused where a revision came since', async () => {
    const { deployment, revisions } = deploymentOf('support', ['r2', 'r1'], { latest_revision_id: 'r3' });
    const made = revisionOf('r3', { created_at: since, status: 'BUILDING' });
    here.deployments.splice(0, 1, { deployment, revisions: [made, ...revisions] });
    expect(await refusalOf('/rollback')).toBe('changed-since');
  });

  test('is refused where the run finds another revision', async () => {
    const reason = { code: 'other-serves', active: 'r9', broken: 'r2' } as const;
    here.outcome = { ...refusal('', ''), rollback: { kind: 'impossible', reason } };
    expect(await here.say('/rollback')).toMatchObject({ kind: 'neutral', command: { code: 'changed-since' } });
    expect(here.said()).toContain('revision r9 of support has taken its place');
  });

  test('is refused where nothing is live', async () => {
    here.deployments.splice(0, 1, deploymentOf('support', []));
    expect(await refusalOf('/rollback')).toBe('no-rollback');
  });
});

describe('once', () => {
  test('a run that is started again after the answer does nothing', async () => {
    await here.say('/rollback');
    const answered = here.answers();
    expect(await here.again()).toMatchObject({ kind: 'neutral', changed: false, command: { code: 'ran' } });
    expect(here.runs).toHaveLength(1);
    expect(here.answers()).toEqual(answered);
  });

  test('a run that ended midway goes on while all is as it was', async () => {
    here.before = () => {
      throw new Error('killed');
    };
    await expect(here.say('/rollback')).rejects.toThrow('killed');
    here.before = () => undefined;
    expect(await here.again()).toMatchObject({ kind: 'rolled-back' });
    expect(here.runs).toHaveLength(1);
    expect(here.answers()).toHaveLength(1);
  });

  test('a run that ended midway is refused once something came of it', async () => {
    here.before = () => {
      throw new Error('killed');
    };
    await expect(here.say('/rollback')).rejects.toThrow('killed');
    // Within the difference of the clocks, so that its time proves nothing.
    const restored = revisionOf('r3', { created_at: '2026-03-01T12:00:05Z', updated_at: '2026-03-01T12:00:05Z' });
    here.deployments.splice(0, 1, { ...deploymentOf('support', ['r3']), revisions: [restored] });
    expect(await here.again()).toMatchObject({ kind: 'neutral', command: { code: 'begun-before' } });
    expect(here.runs).toEqual([]);
  });

  test('a run that was cancelled goes on when it is started again', async () => {
    const { outcome } = here;
    here.outcome = { kind: 'interrupted', passes: false, reason: 'It was ended.', changed: false, notes: [] };
    expect(await here.say('/rollback')).toMatchObject({ kind: 'interrupted', passes: false });
    expect(here.said()).toContain('### ❌ /rollback by mona');
    here.outcome = outcome;
    expect(await here.again()).toMatchObject({ kind: 'rolled-back' });
    expect(here.runs).toHaveLength(2);
    expect(here.runs[0]?.bound).toEqual(here.runs[1]?.bound);
  });

  test.each([
    ['its revision serves', '/rollback', {}, 60_000],
    ['it is late', '/deploy', {}, 35 * 60_000],
    ['it is edited', '/deploy', { body: '/rollback' }, 60_000],
  ])('what had begun is not said to be undone once %s', async (_, command, change, afterMs) => {
    here.outcome = { kind: 'interrupted', passes: false, reason: 'It was ended.', changed: true, notes: [] };
    await here.say(command);
    const made = revisionOf('r3', { created_at: '2026-03-01T12:00:45Z', updated_at: '2026-03-01T12:00:45Z' });
    here.deployments.splice(0, 1, { ...deploymentOf('support', ['r3']), revisions: [made] });
    Object.assign(here.github.comments[0] ?? {}, change);
    expect(await here.again({ afterMs })).toMatchObject({ command: { code: 'begun-before' } });
    expect(here.said()).toContain(
      'This attempt did nothing: an earlier attempt of this run had begun to change support',
    );
    expect(here.said()).not.toContain('othing was done');
    expect(here.runs).toHaveLength(1);
  });

  test('a promotion that took effect before its run was ended is said to be done', async () => {
    const hold = { address: 'https://r3.test', ends_at: '2026-03-01T13:00:00Z', decision: null };
    const { deployment, revisions } = deploymentOf('support', ['r2'], { latest_revision_id: 'r3' });
    const newest = (decision: string | null) => revisionOf('r3', { status: 'DEPLOYING', hold: { ...hold, decision } });
    here.deployments.splice(0, 1, { deployment, revisions: [newest(null), ...revisions] });
    await here.say('/promote');
    here.github.comments.splice(1);
    here.github.before = ({ method }) => (method === 'PATCH' ? { status: 502, body: {} } : undefined);
    await here.again();
    here.github.before = () => undefined;
    here.deployments.splice(0, 1, { deployment, revisions: [newest('promoted'), ...revisions] });
    expect(await here.again()).toMatchObject({ kind: 'started', command: { code: 'promoted' } });
  });

  test('a fault of the workflow closes nothing: once mended, the run does it', async () => {
    const files = new Map(here.github.files);
    here.github.files.clear();
    expect(await here.say('/rollback')).toMatchObject({ kind: 'refused', command: { code: 'no-file' } });
    for (const [name, text] of files) here.github.files.set(name, text);
    expect(await here.again()).toMatchObject({ kind: 'rolled-back' });
  });

  test.each([
    ['rights that are not told', '/permission', 403, 'rights-unread'],
    ['a deploy file that is not there', 'landfall.yml', 404, 'no-file'],
  ])('%s do not end what had begun: once mended, the run goes on', async (_, route, status, code) => {
    here.before = () => {
      throw new Error('killed');
    };
    await expect(here.say('/rollback')).rejects.toThrow('killed');
    here.before = () => undefined;
    here.github.before = ({ path }) => (path.includes(route) ? { status, body: { message: 'no' } } : undefined);
    expect(await here.again()).toMatchObject({ kind: 'refused', passes: false, command: { code } });
    expect(here.said()).toContain('his attempt did nothing: ');
    here.github.before = () => undefined;
    expect(await here.again()).toMatchObject({ kind: 'rolled-back' });
    expect(here.runs).toHaveLength(1);
  });

  test('requests have the same key in every attempt, and another for each comment', async () => {
    here.before = ({ bound }) => keys.push(bound.onceFor);
    const keys: unknown[] = [];
    here.outcome = { ...here.outcome, kind: 'deployed' };
    await here.say('/rollback');
    here.github.comments.splice(1);
    await here.again();
    await here.say('/rollback');
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[0]);
  });

  test('a person may not start the run of another again', async () => {
    here.before = () => {
      throw new Error('killed');
    };
    await expect(here.say('/rollback')).rejects.toThrow('killed');
    expect(await here.again({ rerunBy: 'octocat' })).toMatchObject({ command: { code: 'rerun-by-other' } });
    expect(here.runs).toEqual([]);
    here.before = () => undefined;
    expect(await here.again({ rerunBy: 'Mona' })).toMatchObject({ kind: 'rolled-back' });
  });

  test('nothing is done that can not be kept', async () => {
    here.github.before = ({ method, path }) =>
      method === 'POST' && path.endsWith('/comments')
        ? { status: 403, body: { message: 'not accessible' } }
        : undefined;
    expect(await here.say('/rollback')).toMatchObject({ kind: 'refused', passes: false });
    expect(here.runs).toEqual([]);
  });

  test('commands before are listed, and what is kept stays bounded', async () => {
    for (let count = 0; count < 50; count += 1) await here.say('/help');
    const [answer = ''] = here.answers();
    expect(here.answers()).toHaveLength(1);
    expect(answer.match(/^- <code>/gm)).toHaveLength(4);
    expect(answer.length).toBeLessThan(10_000);
  });
});

describe('who', () => {
  test.each([
    ['read', 'no-write'],
    ['none', 'no-write'],
  ])('a person with the permission %s is refused: %s', async (permission, code) => {
    here.github.people.set('mona', { permission, id: 5 });
    expect(await refusalOf('/rollback')).toBe(code);
  });

  test('a stranger is refused below the last answer, which stays', async () => {
    await here.say('/help');
    for (const login of ['eve', 'eve', 'mallory']) await here.say('/rollback', { login });
    expect(here.runs).toEqual([]);
    expect(here.said()).toMatch(
      /^### ✅ \/help[^]*- \/rollback by mallory, .*: nothing was done: mallory has no access/,
    );
    expect(here.said().match(/nothing was done/g)).toHaveLength(1);
    await here.say('/help');
    expect(here.said()).not.toContain('mallory');
  });

  test('a login that is of another person by now is refused', async () => {
    here.github.people.set('mona', { permission: 'admin', id: 6 });
    expect(await refusalOf('/rollback')).toBe('no-write');
  });

  test('a token that may not read rights lets no one act, and fails the step', async () => {
    here.github.before = ({ path }) =>
      path.endsWith('/permission') ? { status: 403, body: { message: 'not accessible' } } : undefined;
    expect(await here.say('/rollback')).toMatchObject({
      kind: 'refused',
      passes: false,
      command: { code: 'rights-unread' },
    });
    expect(here.runs).toEqual([]);
  });

  const withAdmins = (login: string) =>
    `name: support\nsource: github\nrepo-url: https://github.test/acme/agents\nrepo-ref: main\nadmins: [${login}]\nenvironment: production`;

  test('production is for the admins of the default branch alone', async () => {
    here.write(withAdmins('octocat'));
    here.write(withAdmins('mona'), head);
    for (const command of ['/rollback', '/deploy', '/promote', '/test'])
      expect(await here.say(command)).toMatchObject({ command: { code: 'not-admin' } });
    here.write(withAdmins('MONA'));
    expect(await here.say('/rollback')).toMatchObject({ command: { code: 'ran' } });
  });

  test('what the service calls production is production', async () => {
    here.write(withAdmins('octocat').replace('environment: production', ''));
    here.deployments.splice(
      0,
      1,
      deploymentOf('support', ['r2', 'r1'], { source_config: { deployment_type: 'prod' } }),
    );
    expect(await refusalOf('/rollback')).toBe('not-admin');
  });

  test('a file with a mistake names no admins, so that no one may act', async () => {
    here.write(`${withAdmins('mona')}\nadmin: [mona]`);
    expect(await refusalOf('/rollback')).toBe('deployment-refused');
    here.write('deployments: [');
    expect(await here.say('/rollback')).toMatchObject({ command: { code: 'file-wrong' } });
  });
});

describe('which comment', () => {
  test.each([
    ['another text', { body: '/rollback' }],
    ['an edit', { updated_at: since }],
  ])('%s is not what was written: it is refused', async (_, change) => {
    here.github.after = ({ method, path }, answered) =>
      method === 'GET' && /comments\/\d+$/.test(path)
        ? { ...answered, body: { ...(typeof answered.body === 'object' ? answered.body : {}), ...change } }
        : answered;
    expect(await refusalOf('/deploy')).toBe('edited');
  });

  test.each([
    ['was deleted', { status: 404, body: {} }],
    ['is of another person', { status: 200, body: { user: { id: 6 }, issue_url: '/issues/7' } }],
    ['is on another pull request', { status: 200, body: { user: { id: 5 }, issue_url: '/issues/77' } }],
  ])('one that %s is passed over', async (_, answer) => {
    here.github.before = ({ method, path }) => (method === 'GET' && /comments\/\d+$/.test(path) ? answer : undefined);
    expect(await here.say('/deploy')).toMatchObject({ kind: 'neutral' });
    expect([here.runs, here.answers(), here.reactions()]).toEqual([[], [], []]);
  });

  test.each([
    ['/deplyo', 'unknown-command'],
    ['/rollback now then', 'unknown-argument'],
    ['/dep\u200bloy', 'hidden-characters'],
    ['/d\u0435ploy', 'hidden-characters'],
    [`/deploy ${'x'.repeat(60_000)}`, 'too-long'],
  ])('%j is refused: %s', async (body, code) => expect(await refusalOf(body)).toBe(code));

  test.each([
    [31 * 60_000, '/rollback', 'late'],
    [31 * 60_000, '/status', 'status-shown'],
  ])('after %d ms %s is %s', async (afterMs, command, code) => {
    expect(await here.say(command, { afterMs })).toMatchObject({ command: { code } });
  });

  test.each([
    [{ state: 'closed' }, '/rollback', 'closed-unmerged'],
    [{ state: 'closed', merged: true }, '/preview', 'not-open'],
    [{ locked: true }, '/rollback', 'locked'],
  ])('on a pull request that is %o %s is refused: %s', async (pull, command, code) => {
    here.pull(pull);
    expect(await refusalOf(command)).toBe(code);
  });
});

describe('/deploy', () => {
  beforeEach(() => {
    here.outcome = { kind: 'deployed', passes: true, reason: 'It is live.', changed: true, notes: [] };
  });

  test('deploys the head that is read when it is taken, and no other', async () => {
    await here.say('/deploy support');
    expect(here.runs).toMatchObject([{ inputs: { mode: 'deploy', commit: mainHead }, branch: 'main' }]);
  });

  test.each([
    ['/deploy 1234567', 'not-head'],
    ['/deploy sales', 'unknown-deployment'],
    ['/cancel', 'cancel-by-workflow'],
    ['/promote', 'nothing-held'],
    ['/test', 'no-tests'],
    ['/preview', 'no-previews'],
  ])('%s is refused: %s', async (command, code) => expect(await refusalOf(command)).toBe(code));

  test('is refused after a push where an attempt had decided on the head before', async () => {
    here.before = () => {
      throw new Error('killed');
    };
    await expect(here.say('/deploy')).rejects.toThrow('killed');
    here.github.heads.set('heads/main', 'd'.repeat(40));
    expect(await here.again()).toMatchObject({ command: { code: 'begun-before' } });
  });

  test('of several deployments names one; of another repository or branch there is none', async () => {
    const entry = (name: string, over = '') => `  ${name}: { source: github, repo-ref: main${over} }`;
    here.write(
      [
        'deployments:',
        entry('support'),
        entry('sales'),
        entry('other', ', repo-url: https://github.test/eve/agents'),
      ].join('\n'),
    );
    here.deployments.push(deploymentOf('sales', ['s1']));
    expect(await refusalOf('/deploy')).toBe('several-deployments');
    expect(await here.say('/deploy other')).toMatchObject({ command: { code: 'unknown-deployment' } });
    await here.say('/deploy sales');
    expect(here.runs).toMatchObject([{ inputs: { deployment: 'sales' } }]);
    await here.say('/deploy', { only: 'support' });
    expect(here.runs.at(-1)).toMatchObject({ inputs: { deployment: 'support' } });
  });

  test('the branch of a fork is none of this repository', async () => {
    here.write('name: support\nsource: github\nrepo-url: https://github.test/acme/agents\nrepo-ref: next');
    here.github.heads.set('heads/next', head);
    await here.say('/deploy');
    expect(here.runs).toMatchObject([{ branch: 'next' }]);
    here.fork();
    expect(await here.say('/deploy')).toMatchObject({ command: { code: 'no-deployment' } });
  });

  test('is refused while its environment is frozen, unless it ignores that', async () => {
    const gate = '{ name: production, freeze: [{ from: 2026-01-01, until: 2026-12-31, reason: Holidays }] }';
    const entry = '{ source: github, repo-ref: main, environment: production }';
    here.write(`environments: [${gate}]\ndeployments:\n  support: ${entry}`);
    expect(await refusalOf('/deploy')).toBe('frozen');
    expect(await here.say('/rollback')).toMatchObject({ command: { code: 'ran' } });
    await here.say('/deploy ignore-freeze');
    expect(here.runs.at(-1)).toMatchObject({ inputs: { mode: 'deploy', 'ignore-freeze': 'true' } });
  });

  test('a folder is deployed while the head is what is checked out here', async () => {
    here.write('name: support\nsource: internal_source\nsource-dir: .\ngraph-config-path: x.json');
    await here.say('/deploy');
    expect(here.runs).toMatchObject([{ inputs: { mode: 'deploy' }, branch: 'main' }]);
    expect(here.runs[0]?.inputs).not.toHaveProperty('commit');
    here.github.heads.set('heads/main', 'd'.repeat(40));
    expect(await here.say('/deploy')).toMatchObject({ command: { code: 'checkout-outdated' } });
    const repo = { id: 4711, html_url: 'https://github.test/acme/agents', default_branch: 'main' };
    here.pull({ base: { ref: 'release', repo } });
    expect(await here.say('/deploy')).toMatchObject({ command: { code: 'no-deployment' } });
  });

  test('an image is of no commit', async () => {
    here.write('name: support\nsource: external_docker\nimage-uri: echo:1');
    expect(await refusalOf('/deploy 1234567')).toBe('no-commit');
    await here.say('/deploy');
    expect(here.runs.map(({ inputs }) => inputs)).toEqual([{ mode: 'deploy', 'ignore-freeze': 'false' }]);
  });

  test('without a deploy file the step fails, for no one can be told from an admin', async () => {
    here.github.files.clear();
    expect(await here.say('/deploy')).toMatchObject({ kind: 'refused', passes: false, command: { code: 'no-file' } });
    expect(here.said()).toContain('permissions: contents: read');
  });
});

describe('/promote', () => {
  const held = (over: object) => {
    const hold = { address: 'https://r3.test', ends_at: '2026-03-01T13:00:00Z', decision: null };
    const { deployment, revisions } = deploymentOf('support', ['r2', 'r1'], { latest_revision_id: 'r3' });
    const newest = revisionOf('r3', { status: 'DEPLOYING', hold, ...over });
    here.deployments.splice(0, 1, { deployment, revisions: [newest, ...revisions] });
  };

  test('promotes what is held', async () => {
    held({});
    expect(await here.say('/promote')).toMatchObject({ kind: 'started', changed: true, command: { code: 'promoted' } });
    expect(here.promoted).toEqual(['r3']);
  });

  test('is refused where another revision is held since', async () => {
    held({ created_at: since });
    expect(await refusalOf('/promote')).toBe('changed-since');
    expect(here.promoted).toEqual([]);
  });

  const writeTwoEnvironments = (): void => {
    const entry =
      'source: github, repo-url: https://github.test/acme/agents, repo-ref: main, graph-config-path: x.json';
    here.write(
      `environments: [staging, production]\ndeployments:\n  staging: { ${entry} }\n  production: { ${entry} }`,
    );
    here.deployments.push(deploymentOf('production', ['p1']));
  };

  test('goes on with what it deployed before its run was ended, which is held by now', async () => {
    writeTwoEnvironments();
    const keys: unknown[] = [];
    here.before = ({ bound }) => {
      keys.push(bound.onceFor);
      if (keys.length === 1) throw new Error('killed');
    };
    await expect(here.say('/promote production')).rejects.toThrow('killed');
    const { deployment, revisions } = deploymentOf('production', ['p1'], { latest_revision_id: 'p2' });
    const hold = { address: 'https://p2.test', ends_at: '2026-03-01T13:00:00Z', decision: null };
    const own = revisionOf('p2', { status: 'DEPLOYING', hold, created_at: '2026-03-01T12:00:45Z' });
    here.deployments.splice(1, 1, { deployment, revisions: [own, ...revisions] });
    await here.again();
    expect(here.runs).toMatchObject([{ inputs: { mode: 'deploy', deployment: 'production' } }]);
    expect(keys[1]).toBe(keys[0]);
    expect(here.promoted).toEqual([]);
  });

  test('deploys what the environment before has proven where nothing is held', async () => {
    writeTwoEnvironments();
    await here.say('/promote production');
    expect(here.runs).toMatchObject([{ inputs: { mode: 'deploy', deployment: 'production' } }]);
    expect(here.runs[0]?.inputs).not.toHaveProperty('commit');
  });
});

describe('what reads', () => {
  test('/status says what is live and what is newest', async () => {
    const { deployment, revisions } = deploymentOf('support', ['r2', 'r1'], { latest_revision_id: 'r3' });
    here.deployments.splice(0, 1, { deployment, revisions: [revisionOf('r3', { status: 'BUILDING' }), ...revisions] });
    await here.say('/status');
    expect(here.said()).toContain(
      '- **support** (from main): live is revision r2 of commit ccccccc; revision r3 is the newest: BUILDING',
    );
  });

  test('/help lists what a workflow does', async () => {
    expect(await here.say('/help')).toMatchObject({ kind: 'neutral', passes: true, command: { code: 'helped' } });
    expect(here.answers()[0]).toContain('`/rollback [deployment]`');
    expect(here.answers()[0]).not.toContain('/cancel');
  });

  test('/test runs each test so often against what is live', async () => {
    here.write(
      'name: support\nsource: github\nrepo-ref: main\nsmoke-tests: [{ name: answers, assistant: agent, input: {} }]',
    );
    await here.say('/test 3');
    expect(here.runs).toMatchObject([{ inputs: { mode: 'smoke' }, bound: { smokeTests: [{}, {}, {}] } }]);
    expect(await here.say('/test 20')).toMatchObject({ command: { code: 'ran' } });
  });

  test('/plan reads the file of the head, and not that of a fork', async () => {
    here.write('name: support\nsource: github\nrepo-ref: main\nrebuild: always', head);
    here.outcome = { kind: 'planned', passes: true, reason: 'The plan is a patch.', changed: false, notes: [] };
    await here.say('/plan');
    expect(here.runs).toMatchObject([{ inputs: { mode: 'plan' }, file: expect.stringContaining('always') }]);
    expect(here.said()).toContain('#### support');
    here.fork();
    expect(await here.say('/plan')).toMatchObject({ command: { code: 'fork-plan' } });
  });
});

describe('/preview', () => {
  beforeEach(() => {
    here.outcome = { kind: 'deployed', passes: true, reason: 'It is live.', changed: true, notes: [] };
    here.write(
      'name: support\nsource: github\nrepo-url: https://github.test/acme/agents\nrepo-ref: main\npreview: true',
    );
  });

  test('is of the head that is read when it is taken', async () => {
    await here.say('/preview');
    expect(here.runs).toMatchObject([{ inputs: { mode: 'preview' }, bound: { headSha: head }, branch: undefined }]);
    expect(here.runs[0]?.inputs).not.toHaveProperty('approved-commit');
  });

  test.each([
    ['/preview', 'fork-commit'],
    [`/preview ${head.slice(0, 39)}`, 'fork-commit'],
    [`/preview ${'f'.repeat(40)}`, 'not-pull-head'],
  ])('of a fork, %s is refused: %s', async (command, code) => {
    here.fork();
    expect(await refusalOf(command)).toBe(code);
  });

  test('of a fork is made of the commit that is named in full, by the file of the default branch', async () => {
    here.fork();
    here.write('name: support\nadmins: [eve]\npreview: { fork-secrets: [STOLEN=LANDFALL_API_KEY] }', head);
    await here.say(`/preview ${head}`);
    expect(here.runs).toMatchObject([
      { inputs: { mode: 'preview', 'approved-commit': head }, bound: { headSha: head } },
    ]);
    expect(here.runs[0]?.file).not.toContain('STOLEN');
  });

  test('of a folder is refused, for the files here are those of the default branch', async () => {
    here.write('name: support\nsource: internal_source\nsource-dir: .\npreview: true');
    expect(await refusalOf('/preview')).toBe('folder-preview');
  });
});
