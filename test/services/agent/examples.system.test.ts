import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endWithTest } from '../../child-process.ts';
import { describePython } from '../../python/needs-python.ts';
import { serveAgent, type Serving } from './serving.ts';

const root = join(import.meta.dirname, '../../..');
const page = readFileSync(join(root, 'docs/agents.md'), 'utf8');
const [, ask = ''] = /^(ask\(\) \{.*\})$/m.exec(page) ?? [];

/** The examples of a language on the page, in their order: one request, and a stream on a thread. */
const examplesOf = (name: string): string[] =>
  [...page.matchAll(new RegExp(`^### ${name}\\n+\`\`\`\\w*\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code = '']) => code,
  );

let serving: Serving;
beforeAll(async () => {
  serving = await serveAgent();
});
afterAll(() => serving.close());

/** Runs an example, and returns what it prints. */
async function run(program: string, args: readonly string[], example: string): Promise<string> {
  const env = {
    PATH: process.env.PATH,
    AGENT: serving.url,
    KEY: 'any',
    NO_PROXY: '127.0.0.1',
    LANGSMITH_TRACING: 'false',
  };
  const child = endWithTest(spawn(program, args, { env, cwd: root }));
  child.stdin.end(example);
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(errors).toBe('');
  return output;
}

function expectAnswers(
  program: () => readonly [program: string, args: readonly string[], before?: string],
  name: string,
): void {
  test('has one request and a stream', () => expect(examplesOf(name)).toHaveLength(2));

  test('prints the answer', async () => {
    const [command, args, before = ''] = program();
    expect((await run(command, args, before + (examplesOf(name)[0] ?? ''))).trim()).toBe('hello Ada');
  });

  test('prints the steps as they run', async () => {
    const [command, args, before = ''] = program();
    const output = await run(command, args, before + (examplesOf(name)[1] ?? ''));
    expect(output).toMatch(/prepare[\s\S]*hello Ada/);
  });
}

describe('the examples in curl', () => {
  expectAnswers(() => ['bash', ['-s'], `${ask}\n`], 'curl');
});
describe('the examples in JavaScript', () => {
  expectAnswers(() => [process.execPath, ['--input-type=module', '-']], 'JavaScript');
});
describePython('the examples in Python', (python) => {
  expectAnswers(() => [python, ['-']], 'Python');
});
