import { describe, expect, test } from 'vitest';
import { readDesired, readPushed } from '../../../src/deploy/file/read-desired.ts';
import { formatProblem } from '../../../src/kit/diagnostics/problem.ts';

const file = (text: string) => ({ text, path: 'landfall.yml' });

/** The deployments of a file with what each is promoted from, or its problems. */
function read(text: string, inputs = {}): unknown {
  const result = readDesired({ inputs, file: file(text), env: {} });
  if (!result.ok) return result.problems.map(formatProblem);
  return Object.fromEntries(result.deployments.map(({ desired, after }) => [desired.name, after]));
}

const ordered = (more: string, environments = '[staging, production]'): string => `
environments: ${environments}
defaults:
  repo-url: https://github.com/acme/agents
  repo-ref: main
  graph-config-path: langgraph.json
deployments:
  support-staging: { environment: staging }
${more}
`;

describe('environments in order', () => {
  test('a deployment is promoted from the one before that is built alike', () => {
    const text = ordered(`
  support: { environment: { name: Production, production: true } }
  billing-staging: { environment: staging, graph-config-path: billing/langgraph.json }
  billing: { environment: production, graph-config-path: billing/langgraph.json }
  alone: { build-on-push: true }`);
    expect(read(text)).toEqual({
      'support-staging': undefined,
      support: { name: 'support-staging' },
      'billing-staging': undefined,
      billing: { name: 'billing-staging' },
      alone: undefined,
    });
    expect(read(text, { deployment: 'billing' })).toEqual({ billing: { name: 'billing-staging' } });
  });

  test('three environments make a chain, and an id finds a deployment', () => {
    const text = ordered(
      `
  check: { environment: acceptance, deployment-id: 8B6E4C1E-0000-4000-8000-000000000001 }
  support: { environment: production }`,
      '[staging, acceptance, production]',
    );
    expect(read(text)).toEqual({
      'support-staging': undefined,
      check: { name: 'support-staging' },
      support: { name: 'check', deploymentId: '8b6e4c1e-0000-4000-8000-000000000001' },
    });
  });

  test.each(['build-on-push', 'repo-url', 'graph-config-path', 'install-command', 'build-command'])(
    'the input %s can not replace what makes it one',
    (name) => {
      const text = ordered('  support: { environment: production }');
      const given = { deployment: 'support', [name]: name === 'build-on-push' ? 'true' : 'other' };
      expect(read(text, given)).toEqual([expect.stringContaining(`${name} can't be given here`)]);
      const ofFirst = read(text, { ...given, deployment: 'support-staging' });
      expect(ofFirst).toHaveProperty('support-staging');
    },
  );

  test.each(['name', 'deployment-id'])('the input %s can not make one deployment another', (name) => {
    const given = { deployment: 'support-staging', [name]: '8b6e4c1e-0000-4000-8000-000000000001' };
    const text = ordered('  support: { environment: production }');
    expect(read(text, given)).toEqual([expect.stringContaining(`${name} can't be given here`)]);
  });

  test('the App reads the same', () => {
    const result = readPushed(file(ordered('  support: { environment: production }')));
    expect(result).toMatchObject({
      deployments: [{ name: 'support-staging' }, { read: { value: { after: { name: 'support-staging' } } } }],
    });
  });

  test.each([
    ['no list', ordered('', 'staging'), /2:15: .*environments.*must be a list, not text/],
    ['none', ordered('', '[]'), /2:15: .*must have at least 1 item/],
    ['one twice', ordered('', '[staging, Staging]'), /must name each environment once/],
    ['one without a name', ordered('', '[{ hold: true }]'), /2:16: `environments\[0\].name` is missing/],
    [
      'a slip in a field',
      ordered('', '[{ name: staging, hodl: true }]'),
      /2:\d+: `environments\[0\].hodl`.*mean `hold`/,
    ],
    ['one that no deployment has', ordered(''), /2:\d+: .*no deployment of this file has the environment `production`/],
    [
      'nothing to be promoted from',
      ordered('  support: { environment: production, graph-config-path: other.json }'),
      /9:3: .*exactly one deployment of the environment `staging` must have the `repo-url`.*there is none/,
    ],
    [
      'two to be promoted from',
      ordered('  other: { environment: staging }\n  support: { environment: production }'),
      /there are 2/,
    ],
    [
      'pushes to a later environment',
      ordered('  support: { environment: production, build-on-push: true }'),
      /9:39: .*pushes go to the first environment/,
    ],
    [
      'a slip in the name of an environment',
      ordered('  support: { environment: production }\n  billing: { environment: productoin }'),
      /10:14: is not among `environments`.*did you mean `production`/,
    ],
    [
      'an image in a later environment',
      ordered('  support: { environment: production, source: external_docker, image-uri: agent:1 }'),
      /9:\d+: .*are built from a repository/,
    ],
    ['no deployments', 'environments: [a, b]\nname: support', /`environments` is for the deployments under/],
  ])('refuses %s, where it is written', (_, text, problem) => {
    expect(read(text)).toEqual([expect.stringMatching(problem)]);
  });
});
