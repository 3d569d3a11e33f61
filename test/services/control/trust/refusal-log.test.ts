import { expect, test } from 'vitest';
import { createRefusalLog } from '../../../../src/services/control/trust/refusal-log.ts';
import { loggerTo } from '../../../logger.ts';

function logAt() {
  const lines: { message: string; fields: Record<string, unknown> }[] = [];
  const time = { now: 0 };
  const clock = { now: () => time.now, steadyNow: () => time.now };
  const log = loggerTo((message, fields) => lines.push({ message, fields }));
  return { lines, time, note: createRefusalLog({ log, clock }) };
}

test('logs a bounded number of refusals a minute, and counts the others', () => {
  const { lines, time, note } = logAt();
  for (let sent = 0; sent < 5_000; sent += 1) note({ status: 401, detail: `Refused ${sent}.` });
  expect(lines).toHaveLength(10);
  time.now = 60_000;
  note({ status: 403, detail: 'Refused again.' });
  expect(lines.slice(10)).toMatchObject([
    {
      message: 'No key for a token: Refused again. Before it, 4990 more were refused.',
      fields: { status: 403, refused: 5_001, omitted: 4_990 },
    },
  ]);
});

test('writes what a stranger claims as one short line', () => {
  const { lines, note } = logAt();
  note({ status: 403, detail: `The issuer a\r\n{"level":"error"}\u2028b\u202ec\u001b[31m${'x'.repeat(5_000)}` });
  expect(lines[0]?.message).toMatch(/^No key for a token: The issuer a {2}\{"level":"error"\} b c \[31mx+$/);
  expect(lines[0]?.message.length).toBeLessThan(700);
});
