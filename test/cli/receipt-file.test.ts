import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readReceipts } from '../../src/cli/receipt-file.ts';
import { receiptType } from '../../src/contract/receipt.ts';
import { receiptOf, receiptText } from '../../src/deploy/words/receipt.ts';
import { folderOf, runHere } from './run-cli.ts';

const folder = folderOf({});
afterAll(() => folder.remove());

const receipt = receiptOf(
  { kind: 'deployed', reason: '', passes: true, changed: true, deploymentId: 'd1', notes: [] },
  {
    mode: 'deploy',
    service: 'https://host',
    program: 'cli',
    startedAt: 0,
    endedAt: 1,
    version: '0.1.0',
    mask: (text) => text,
  },
);
const text = receipt ? receiptText(receipt) : '';

function read(content: string, name = 'receipt.json') {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return readReceipts(path);
}

/** What is wrong with a text. */
function faultsOf(content: string): string[] {
  const found = read(content);
  return found.ok ? [] : found.problems.map(({ message }) => message);
}

const envelope = (payload: string) =>
  JSON.stringify({ payloadType: 'application/vnd.in-toto+json', payload: Buffer.from(payload).toString('base64') });
const bundle = (payload: string) => `{"dsseEnvelope":${envelope(payload)}}`;

test.each([
  ['a receipt', text, false],
  ['a receipt in one line', JSON.stringify(receipt), false],
  ['an envelope', envelope(text), true],
  ['a bundle of Sigstore', bundle(text), true],
  ['lines of bundles', `${bundle('{"predicateType":"https://slsa.dev/provenance/v1"}')}\n${bundle(text)}\n`, true],
])('reads %s', (_, content, isSigned) => {
  expect(read(content)).toEqual({ ok: true, receipts: [{ receipt, isSigned }] });
});

test.each<[string, string, string | RegExp]>([
  ['nothing', '', /^this is no receipt/],
  ['no JSON', 'hello', /^this is no receipt/],
  ['a list', '[]', /^this is no receipt/],
  ['another statement', '{"predicateType":"https://slsa.dev/provenance/v1"}', /^this is no receipt/],
  ['a bundle of another statement', bundle('{"predicateType":"x"}'), /^this is no receipt/],
  ['a payload that is no JSON', bundle('\u001b[2J'), /^this is no receipt/],
  ['a key twice', text.replace('"passes"', '"passes": true, "passes"'), '`passes` is written twice'],
  [
    'a key twice in an envelope',
    envelope(text.replace('"passes"', '"passes": true, "passes"')),
    '`passes` is written twice',
  ],
  ['a key of a prototype', text.replace('"passes"', '"__proto__": {"a": 1}, "passes"'), /__proto__/],
  ['an unknown key', text.replace('"passes"', '"constructor": 1, "passes"'), /constructor/],
  ['a missing key', text.replace(/"passes": true,\s*/, ''), '`predicate.passes` is missing'],
  ['an invented outcome', text.replace('"deployed"', '"proven-safe"'), /predicate.outcome/],
  ['an id that leads elsewhere', text.replace('"d1"', '".."'), /deployment.id/],
  ['no id', text.replace('"d1"', '""'), /deployment.id/],
  ['a long text', text.replace('"d1"', `"${'x'.repeat(501)}"`), /at most 500/],
  ['a long statement', JSON.stringify({ predicateType: receiptType, a: 'x'.repeat(2 ** 20) }), /^this is longer than/],
])('refuses %s', (_, content, message) => {
  expect(faultsOf(content)[0]).toMatch(message);
});

test.each([
  [
    'a file of 100 MB',
    'large.json',
    (path: string) => (writeFileSync(path, ''), truncateSync(path, 100_000_000)),
    /larger/,
  ],
  ['a folder', '.', () => undefined, /^this is not a file/],
  ['a file that is not there', 'missing.json', () => undefined, /^there is no such file/],
])('refuses %s', (_, name, prepare, message) => {
  const path = join(folder.path, name);
  prepare(path);
  const found = readReceipts(path);
  expect(found.ok ? '' : found.problems[0]?.message).toMatch(message);
});

test('the command ends with 2 where the file is no receipt, and shows nothing of it', async () => {
  writeFileSync(join(folder.path, 'hostile.json'), '{"\u001b]0;title\u0007": "::set-output name=x::y"}');
  const env = { LANDFALL_BASE_URL: 'https://host.test', LANDFALL_API_KEY: 'k' };
  const { code, out, err } = await runHere(['receipt', 'verify', 'hostile.json'], { cwd: folder.path, env });
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).not.toMatch(/\u001b|set-output/);
});
