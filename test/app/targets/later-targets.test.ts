import { describe, expect, test } from 'vitest';
import { agents, deployed, intruder, resolverOf, type More } from './models.ts';

const unpushed = (more: More = {}): More => ({ ...more, config: { build_on_push: false, ...more.config } });

const staging = deployed('staging');
const production = deployed('production', unpushed());
const ordered = 'environments: [staging, production]\ndeployments: { staging: {}, production: {} }';

const later = async (deployments: Parameters<typeof resolverOf>[0], text = ordered, branch = 'main') => {
  const resolver = resolverOf(deployments, { 'acme/agents': text });
  const { later: found = [], targets, refused } = await resolver.targetsOf(agents, branch);
  return {
    later: found.map(({ terms }) => `${terms.deploymentName} after ${terms.promotedFrom.name}`),
    pushed: targets.map(({ terms }) => [terms.deploymentName, ...(terms.promotesTo ?? [])].join(' > ')),
    refused: refused.map(({ deployment, why }) => `${deployment}: ${why}`),
  };
};

describe('deployments of later environments', () => {
  test('follow the one before, and pushes are not for them', async () => {
    expect(await later([staging, production])).toEqual({
      later: ['production after staging'],
      pushed: ['staging > production'],
      refused: [],
    });
  });

  test('follow the branch of the first environment, whatever their own ref is', async () => {
    const text =
      'environments: [one, two, three]\ndeployments: { one: { repo-ref: next }, two: {}, three: { repo-ref: stable } }';
    const deployments = [
      deployed('one', { revision: { repo_ref: 'next' } }),
      deployed('two', unpushed()),
      deployed('three', unpushed({ revision: { repo_ref: 'stable' } })),
    ];
    const found = await later(deployments, text, 'next');
    expect(found.later).toEqual(['two after one', 'three after two']);
    expect(found.pushed).toEqual(['one > two']);
    expect((await later(deployments, text, 'main')).later).toEqual([]);
  });

  test.each<[string, Parameters<typeof later>[0]]>([
    ['that pushes build at the service', [staging, deployed('production')]],
    ['of an image', [staging, deployed('production', unpushed({ source: 'external_docker' }))]],
    ['built from a tag', [staging, deployed('production', unpushed({ revision: { repo_ref: 'refs/tags/v1' } }))]],
    ['being deleted', [staging, deployed('production', unpushed({ status: 'AWAITING_DELETE' }))]],
    ['without the one before', [production]],
    ['that are not there', [staging]],
  ])('leaves out those %s', async (_, deployments) => {
    expect((await later(deployments)).later).toEqual([]);
  });

  test('never get the build of a deployment of another repository', async () => {
    const theirs = deployed('theirs', { config: { repo_url: 'https://github.com/acme/agents' } });
    const mine = deployed('mine', unpushed({ config: { repo_url: 'https://github.com/mallory/play' } }));
    const text = `environments: [first, last]
deployments:
  theirs: { environment: first, repo-url: 'https://github.com/mallory/play' }
  mine: { environment: last, repo-url: 'https://github.com/mallory/play' }`;
    const resolver = resolverOf([theirs, mine], { 'mallory/play': text });
    const { later: found = [], refused } = await resolver.targetsOf(intruder, 'main');
    expect(found).toEqual([]);
    expect(refused.map(({ why }) => why)).toContainEqual(
      expect.stringMatching(/^it comes after theirs, and of that one its repo_url is not this repository/),
    );
  });

  test('of another repository are no targets', async () => {
    const theirs = deployed('mine', unpushed({ config: { repo_url: 'https://github.com/acme/other' } }));
    const text = 'environments: [staging, mine]\ndeployments: { staging: {}, mine: {} }';
    expect((await later([staging, theirs], text)).later).toEqual([]);
  });
});
