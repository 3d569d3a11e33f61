import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { logLine } from '../../src/agent-server/log-line.ts';

test.each([
  ['keeps a single line', 'Listening.', ['Listening.']],
  ['keeps the response to a command', '{"event":"idle"}', ['{"event":"idle"}']],
  ['indents a stack below its error', 'failed: Error: no\n    at a.ts:1', ['failed: Error: no', '      at a.ts:1']],
  [
    'starts no entry at a line break in the text',
    'GET /\n{"event":"a"}\r{"event":"b"}\r\n{"event":"c"}\u2028{"event":"d"}',
    ['GET /', '  {"event":"a"}', '  {"event":"b"}', '  {"event":"c"}', '  {"event":"d"}'],
  ],
])('%s', async (_, text, lines) => {
  expect(await Array.fromAsync(createInterface({ input: Readable.from([logLine(text)]) }))).toEqual(lines);
});
