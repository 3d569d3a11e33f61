import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { newCanaryWord, sings } from './canary-word.ts';
import { root } from './fixture.ts';

const word = newCanaryWord();

test.each([
  ['as it is', `token: ${word}`],
  ['in base64, wherever it stands', Buffer.from(`user:${word}!`).toString('base64')],
  ['in base64 that addresses take', Buffer.from(`??${word}??`).toString('base64url')],
  ['in base64 by itself', Buffer.from(word).toString('base64')],
  ['in hexadecimal digits', Buffer.from(`-${word}`).toString('hex')],
  ['in an address', encodeURIComponent(`a b/${word}`)],
  ['as JSON in JSON', JSON.stringify(JSON.stringify({ token: `"${word}"` }))],
])('finds a canary %s', (_, reported) => {
  expect(sings(word, reported)).toBe(true);
});

test('finds no canary in other words', () => {
  expect(sings(word, `***, and ${newCanaryWord()}`)).toBe(false);
});

/** Runs one test under the reporter. */
async function run(body: string): Promise<{ code: number | null; output: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'landfall-canary-'));
  try {
    await mkdir(join(folder, 'test'));
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const reporter = join(root, 'test/journey/canary-reporter.ts');
    await writeFile(
      join(folder, 'test/one.test.js'),
      `import { expect, inject, test } from 'vitest';
       test('prints', () => { const word = inject('canaryWord'); ${body} });`,
    );
    await writeFile(
      join(folder, 'vitest.config.mjs'),
      `export default ${JSON.stringify({ test: { reporters: [reporter] } })};`,
    );
    const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder], {
      env: { ...process.env, CI: '1' },
    });
    const code = new Promise<number | null>((resolve) => child.on('close', resolve));
    const reported = await Promise.all([text(child.stdout), text(child.stderr)]);
    return { code: await code, output: reported.join('') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe.concurrent('the reporter', () => {
  test('passes a run that prints no secret', async () => {
    expect(await run('expect(word).toMatch(/^k[0-9a-f]{24}$/); console.log("nothing");')).toEqual({
      code: 0,
      output: '',
    });
  });

  test.each([
    ['prints it', 'console.log("the key is", word);', 'prints: in stdout'],
    ['prints it in base64', 'console.error(btoa("user:" + word));', 'prints: in stderr'],
    ['fails with it', 'expect({ seen: { token: word } }).toEqual({});', 'prints: in an error'],
  ])('fails a run that %s, and names the test', async (_, body, place) => {
    const { code, output } = await run(body);
    expect(output).toContain(`canaries: found a secret in 1 places\n  ${place}`);
    expect(code).toBe(1);
  });
});
