import { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { addInputOptions, givenInputs, helpHeadings, environmentVariables } from '../../src/cli/deploy-flags.ts';
import { deploymentFieldNames } from '../../src/deploy/file/deployment-fields.ts';
import { inputs } from '../../src/deploy/file/input-table.ts';
import { root, runHere } from './run-cli.ts';

const action = z
  .object({ inputs: z.record(z.string(), z.object({ description: z.string(), default: z.string().optional() })) })
  .parse(parse(readFileSync(join(root, 'action.yml'), 'utf8')));

function commandWithOptions(): Command {
  const command = new Command('plan').exitOverride();
  addInputOptions(command, () => true);
  return command;
}

const given = (...args: string[]) => {
  const command = commandWithOptions();
  command.parse(args, { from: 'user' });
  return givenInputs(command);
};

const optionNames = commandWithOptions().options.map(({ long }) => long?.slice('--'.length) ?? '');

const helpOf = async (mode: string): Promise<string> => (await runHere([mode, '--help'])).out.replace(/\s+/g, ' ');

describe('the options of a deploy run', () => {
  test('are the inputs of action.yml, except for the mode and what is of a workflow', () => {
    const ofWorkflows = ['mode', ...[...inputs].flatMap(([name, { group }]) => (group === 'workflow' ? [name] : []))];
    expect(optionNames).toEqual(Object.keys(action.inputs).filter((name) => !ofWorkflows.includes(name)));
  });

  test.each([
    ['deploy', optionNames.filter((name) => name !== 'keep-tracing-project')],
    ['plan', ['name', 'source', 'secrets', 'smoke-tests', 'on-failure', 'timeout-minutes', 'config']],
    ['smoke', ['name', 'base-url', 'agent-url', 'grader-keys', 'smoke-tests']],
    ['rollback', ['deployment', 'wait', 'poll-seconds', 'on-superseded', 'smoke-tests']],
    ['delete', ['deployment-id', 'wait', 'timeout-minutes', 'dry-run', 'keep-tracing-project']],
  ])('%s explains those that apply to it in the words of action.yml', async (mode, names) => {
    const help = await helpOf(mode);
    for (const name of names) {
      const { description = '', default: value } = action.inputs[name] ?? {};
      expect(help).toContain(`--${name} `);
      expect(help).toContain(inputs.get(name)?.option ?? description);
      expect(help).toContain(value === undefined ? '' : `(default: ${value})`);
    }
  });

  test.each([
    ['deploy', ['keep-tracing-project']],
    ['plan', ['keep-tracing-project', 'dry-run', 'wait', 'poll-seconds', 'on-superseded']],
    ['smoke', ['keep-tracing-project', 'dry-run', 'wait', 'source', 'secrets']],
    ['rollback', ['keep-tracing-project', 'dry-run', 'source', 'secrets']],
    ['delete', ['source', 'secrets', 'smoke-tests', 'on-superseded']],
  ])('%s leaves out those that do not', async (mode, names) => {
    const help = await helpOf(mode);
    for (const name of names) expect(help).not.toContain(`--${name} `);
  });

  test('are accepted also where they do not apply', async () => {
    const end = await runHere(['smoke', '--keep-tracing-project', '--config', 'none.yml']);
    expect(end.err).not.toContain('unknown option');
  });

  test('prefer the environment for the key, and say why', async () => {
    expect(await helpOf('deploy')).toMatch(/--api-key <key> .*Set LANDFALL_API_KEY .*list of processes.* --base-url/);
  });

  test('are grouped by topic in the help', () => {
    const fields = commandWithOptions()
      .options.filter(({ helpGroupHeading }) => helpGroupHeading === helpHeadings.deployment)
      .map(({ long }) => long?.slice(2));
    expect(new Set(fields)).toEqual(new Set(deploymentFieldNames));
  });

  test.each([
    ['a value', ['--name', 'support'], { name: 'support' }],
    ['a flag alone, which is true', ['--allow-http'], { 'allow-http': 'true' }],
    ['a flag with a word', ['--wait', 'false'], { wait: 'false' }],
    [
      'several secrets, one a line as the input has them',
      ['--secrets', 'A', '--secrets', 'B=C'],
      { secrets: 'A\nB=C' },
    ],
    ['nothing', [], {}],
  ])('read %s', (_, args, inputs) => expect(given(...args)).toEqual(inputs));

  test.each([
    ['api-key', 'LANDFALL_API_KEY'],
    ['base-url', 'LANDFALL_BASE_URL'],
    ['tenant-id', 'LANDFALL_TENANT_ID'],
    ['field-names', 'LANDFALL_FIELD_NAMES'],
    ['allow-http', 'LANDFALL_ALLOW_HTTP'],
    ['config', 'LANDFALL_CONFIG'],
    ['deployment', 'LANDFALL_DEPLOYMENT'],
  ])('%s may be set by %s', (name, variable) => expect(environmentVariables.get(name)).toBe(variable));

  test('that identify one deployment have no variable', () => {
    expect(deploymentFieldNames.filter((name) => environmentVariables.has(name))).toEqual([]);
  });
});
