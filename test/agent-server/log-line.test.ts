import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { logLine } from '../../src/agent-server/log-line.ts';

test.each([
  ['a line stays as it is', 'The server rests.', ['The server rests.']],
  ['an answer to a command too', '{"event":"resting"}', ['{"event":"resting"}']],
  ['a stack stays below its error', 'failed: Error: no\n    at a.ts:1', ['failed: Error: no', '      at a.ts:1']],
  [
    'no line break begins another entry',
    'GET /\n{"event":"a"}\r{"event":"b"}\r\n{"event":"c"}\u2028{"event":"d"}',
    ['GET /', '  {"event":"a"}', '  {"event":"b"}', '  {"event":"c"}', '  {"event":"d"}'],
  ],
])('%s', async (_, text, lines) => {
  expect(await Array.fromAsync(createInterface({ input: Readable.from([logLine(text)]) }))).toEqual(lines);
});
