import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readDesired } from '../../src/deploy/file/read-desired.ts';
import { readGraphConfig } from '../../src/agent-folder/graph-config/read.ts';
import { root, runCli } from './run-cli.ts';

const examples = readdirSync(join(root, 'examples'));

function deployment(example: string) {
  const path = `examples/${example}/.github/landfall.yml`;
  const read = readDesired({ inputs: {}, file: { text: readFileSync(join(root, path), 'utf8'), path } });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const [only, ...more] = read.deployments;
  if (!only || more.length > 0) throw new Error(`${path} describes ${read.deployments.length} deployments`);
  return only;
}

function graphs(example: string): string[] {
  const path = `examples/${example}/langgraph.json`;
  const read = readGraphConfig(readFileSync(join(root, path), 'utf8'), path);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return Object.keys(read.value.graphs);
}

describe.each(examples)('the deploy file of %s', (example) => {
  test('describes one deployment from git with the name of the example', () => {
    expect(deployment(example).desired).toMatchObject({
      source: 'github',
      name: example,
      repoRef: 'main',
      graphConfigPath: 'langgraph.json',
      repoUrl: expect.stringMatching(/^https:/),
    });
  });

  test('passes landfall validate', async () => {
    const end = await runCli(['validate'], { cwd: join(root, 'examples', example) });
    expect(end).toMatchObject({ code: 0, err: '' });
    // Then what tests and conversations cost.
    expect(end.out.split('\n').slice(0, 2)).toEqual(['.github/landfall.yml: fine', 'langgraph.json: fine']);
  });

  test('rolls back if the agent fails its smoke tests', () => {
    expect(deployment(example).onFailure).toBe('rollback');
  });

  test('smoke-tests existing graphs, and checks more than their status', () => {
    const { smokeTests } = deployment(example);
    expect(smokeTests.length).toBeGreaterThanOrEqual(3);
    for (const { assistant } of smokeTests) expect(graphs(example)).toContain(assistant);
    expect(smokeTests[0]?.expect.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['status', 'value', 'nodes', 'first-event', 'total']),
    );
  });
});
