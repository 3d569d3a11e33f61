import { describe, expect, test } from 'vitest';
import { defaultSkipWords } from '../../../src/deploy/file/push-fields.ts';
import { agents, deployed, resolverOf, idOf, intruder, missing } from './models.ts';

const victim = deployed('support');
const mine = deployed('play', { config: { repo_url: 'https://github.com/mallory/play' } });
const deployments = [victim, mine];

/** What a push to mallory/play leads to, whatever its file says. */
async function attack(file: string, all = deployments, parts: Parameters<typeof resolverOf>[2] = {}) {
  const { targets, refused } = await resolverOf(all, { 'mallory/play': file }, parts).targetsOf(intruder, 'main');
  return { targets: targets.map(({ deploymentId }) => deploymentId), refused };
}

describe('a file that reaches for a deployment of another repository', () => {
  const claim = 'repo-url: https://github.com/mallory/play, repo-ref: main, build-on-push: true';
  test.each<[sentence: string, file: string]>([
    ['by its name', 'deployments: { support: {} }'],
    ['by its name, under another key', 'deployments: { play2: { name: support } }'],
    ['by its name, with spaces around it', 'deployments: { play2: { name: " support " } }'],
    ['by its id', `deployments: { x: { deployment-id: ${victim.id} } }`],
    ['by its id under the name of an own one', `deployments: { play: { deployment-id: ${victim.id} } }`],
    ['and says that it is its own', `deployments: { support: { ${claim} } }`],
    ['by its id, and says that it is its own', `deployments: { x: { deployment-id: ${victim.id}, ${claim} } }`],
    ['and has mistakes besides', 'deployments: { support: { on-failure: explode } }'],
    ['and names its repository as it is', 'deployments: { support: { repo-url: https://github.com/acme/agents } }'],
  ])('%s is refused', async (_, file) => {
    const { targets, refused } = await attack(file);
    expect(targets).toEqual([mine.id]);
    expect(refused).toEqual([
      { deployment: expect.any(String), why: expect.stringContaining('is not this repository') },
    ]);
  });

  test.each<[sentence: string, name: string]>([
    ['in other letters', 'Support'],
    ['in letters of another alphabet', 'ѕupport'],
    ['in full-width letters', 'ｓｕｐｐｏｒｔ'],
    ['with something that cannot be seen', 'sup\u200Bport'],
    ['with a mark that is put together otherwise', 'suppo\u0301rt'],
  ])('nothing is found by its name %s', async (_, name) => {
    const { targets, refused } = await attack(`deployments: { x: { name: "${name}" } }`);
    expect(targets).toEqual([mine.id]);
    expect(refused).toEqual([{ deployment: name, why: expect.stringContaining('has no deployment of this name') }]);
  });

  test('nothing of the other repository is shown', async () => {
    const { refused } = await attack('deployments: { support: { graph-config-path: x.json, repo-ref: main } }');
    expect(JSON.stringify(refused)).not.toMatch(/acme|agents|langgraph|sk-canary/);
  });

  test.each([
    'https://github.com/mallory/play-2',
    'https://github.com/not-mallory/play',
    'https://github.com/acme/mallory/play',
    'https://evil.example/mallory/play',
    'https://github.com.evil.example/mallory/play',
    'git@evil.example:mallory/play.git',
    'https://evil.example/github.com/mallory/play',
    'git@github.com:mallory/\u017Fplay',
  ])('a deployment of an address that only looks alike is no own one: %s', async (address) => {
    const alike = deployed('alike', { config: { repo_url: address } });
    expect(await attack('deployments: { alike: {} }', [alike])).toEqual({
      targets: [],
      refused: [{ deployment: 'alike', why: expect.stringContaining('is not this repository') }],
    });
    expect((await attack('name: play', [alike, mine])).targets).toEqual([mine.id]);
  });

  test('what the operator binds to one repository is not bound to another', async () => {
    const bindings = [{ repository: 'acme/web', deployment: 'support' }];
    expect((await attack('deployments: { support: {} }', deployments, { bindings })).targets).toEqual([mine.id]);
  });

  test('what the operator binds to it, it may build', async () => {
    const bindings = [{ repository: 'Mallory/play', deployment: 'support' }];
    const { targets, refused } = await attack('deployments: { support: {} }', deployments, { bindings });
    expect(targets).toEqual([victim.id, mine.id]);
    expect(refused).toEqual([]);
  });

  test('the file of one repository says nothing of the pushes of another', async () => {
    const resolver = resolverOf(deployments, { 'mallory/play': 'deployments: { support: { after-rollback: hold } }' });
    const { targets } = await resolver.targetsOf(agents, 'main');
    expect(targets.map(({ terms }) => terms.rules)).toEqual([
      { skipWords: defaultSkipWords, afterRollback: 'continue' },
    ]);
  });

  test('on another branch it is not even reported', async () => {
    const resolver = resolverOf(deployments, { 'mallory/play': 'deployments: { support: {} }' });
    expect(await resolver.targetsOf(intruder, 'dev')).toEqual({ targets: [], refused: [] });
  });

  test('an id that is no uuid is never requested', async () => {
    const requested: string[] = [];
    const resolver = resolverOf(
      [],
      { 'mallory/play': `deployments: { a: { deployment-id: ../x }, b: { deployment-id: ${idOf(7)} } }` },
      {
        control: {
          listDeployments: async () => {
            throw missing();
          },
          getDeployment: async (id) => {
            requested.push(id);
            return victim;
          },
        },
      },
    );
    const { targets } = await resolver.targetsOf(intruder, 'main');
    expect(requested).toEqual([idOf(7)]);
    expect(targets).toEqual([]);
  });
});
