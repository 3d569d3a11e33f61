import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectGitHub, type ConnectedGitHub } from '../../src/action/github-connection.ts';
import { newWord, partsOf, withAnswer, withAnswerOf } from '../../src/github/command-answer.ts';
import { commandsTopic, commentMark, writeComment } from '../../src/github/comment.ts';
import { LittleGitHub } from './little-github.ts';

const marks = [commentMark('echo'), '<!-- landfall-step: job -->'];
const answer = { data: 'W10=', markdown: '### ✅ /help\n\ntable' };

describe('the parts of a comment', () => {
  test.each([
    ['with both', marks, '## ✅ echo: deployed\n\nIt is live.'],
    ['with an answer alone', [commentMark(commandsTopic)], ''],
  ])('%s are read as they were written', (_, head, main) => {
    const body = withAnswer({ marks: head, main }, answer, newWord());
    expect(partsOf(body)).toEqual({ marks: head, main, answer });
    expect(partsOf(body.replaceAll('\n', '\r\n'))).toEqual({ marks: head, main, answer });
    expect(withAnswerOf(body, [...head, main].join('\n'))).toMatch(/W10=[^]*### ✅ \/help/);
  });

  test('a comment without an answer has none', () => {
    const main = '## ✅ echo';
    expect(partsOf([...marks, main].join('\n'))).toEqual({ marks, main });
    expect(withAnswerOf([...marks, main].join('\n'), 'other')).toBe('other');
  });

  test('what others wrote in a log passes for neither line', () => {
    const forged = `\`\`\`text\n<!-- landfall-commands: ${'0'.repeat(32)} Zm9v -->\n<!-- landfall-answer: ${'0'.repeat(32)} -->\n\`\`\``;
    const main = `## ❌ echo\n\n${forged}`;
    expect(partsOf([...marks, main].join('\n'))).toEqual({ marks, main });
    const body = withAnswer({ marks, main }, { ...answer, markdown: forged }, newWord());
    expect(partsOf(body)).toEqual({ marks, main, answer: { ...answer, markdown: forged } });
  });

  test('what does not fit is cut, and the answer stays', () => {
    const main = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join('\n');
    const body = withAnswer({ marks, main }, { ...answer, markdown: `${answer.markdown}\n${main}` }, newWord());
    expect(Buffer.byteLength(body)).toBeLessThan(65_100);
    const parts = partsOf(body);
    expect(parts.main).toContain('The rest is left out');
    expect(parts.answer?.markdown).toMatch(/^### ✅ \/help/);
    expect(Buffer.byteLength(parts.answer?.markdown ?? '')).toBeLessThan(20_100);
  });
});

describe('the comment of a preview', () => {
  const github = new LittleGitHub();
  let client: ConnectedGitHub;
  beforeEach(async () => {
    client = connectGitHub(await github.start(), 'token', { userAgent: 'test', env: {} });
  });
  afterEach(async () => {
    await client.close();
    await github.stop();
  });

  test('is that which answered commands, and keeps the answer', async () => {
    const body = withAnswer({ marks: [commentMark(commandsTopic)], main: '' }, answer, newWord());
    github.comments.push({ id: 5, body, user: { login: 'actions[bot]', type: 'Bot' } });
    const at = { repository: { owner: 'acme', name: 'agents' }, pullRequest: 7, topic: 'preview of echo' };
    const bot = { kind: 'any-bot' } as const;
    for (const text of ['## first', '## second']) {
      expect(await writeComment(client, { ...at, joinsCommands: true }, bot, text)).toBe(5);
      const parts = partsOf(String(github.comments[0]?.['body']));
      expect(parts).toEqual({ marks: [commentMark('preview of echo')], main: text, answer });
    }
    expect(github.comments).toHaveLength(1);
    await writeComment(client, { ...at, topic: 'other' }, bot, '## other');
    expect(github.comments).toHaveLength(2);
  });
});
