import { expect, test } from 'vitest';
import { createLogger, type Logger } from '../../src/kit/logger.ts';
import { createProgramLogger } from '../../src/kit/program-logger.ts';

function logged(env: Record<string, string>, isTerminal: boolean): string[] {
  const lines: string[] = [];
  const log = createProgramLogger({ name: 'app', env, isTerminal, write: (line) => void lines.push(line) });
  log.debug('Detail.');
  log.info({ event: 'push', count: 1 }, 'Handled.');
  log.warn({ branch: 'a\u202eb\u009b' }, '\u001b[2JGone\u009b1m');
  log.error('a\nb');
  return lines.map((line) => line.replace(/(\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d(\.\d+Z)?/, 'now'));
}

const asJson = [
  '{"level":"info","time":"now","name":"app","event":"push","count":1,"msg":"Handled."}',
  '{"level":"warn","time":"now","name":"app","branch":"a\u202eb\u009b","msg":"\\u001b[2JGone\u009b1m"}',
  '{"level":"error","time":"now","name":"app","msg":"a\\nb"}',
];

test('a program logs JSON where no person reads it', () => {
  expect(logged({}, false)).toEqual(asJson);
  expect(logged({ LOG_FORMAT: 'json' }, true)).toEqual(asJson);
});

test.each([
  ['in a terminal', {}, true],
  ['where LOG_FORMAT asks for it', { LOG_FORMAT: 'pretty' }, false],
])('a line is for people %s, and no control character reaches the terminal', (_, env, isTerminal) => {
  expect(logged(env, isTerminal)).toEqual([
    '[now] INFO: Handled.\n    event: "push"\n    count: 1',
    '[now] WARN: \uFFFD[2JGone\uFFFD1m\n    branch: "a\uFFFDb\uFFFD"',
    '[now] ERROR: a\n    b',
  ]);
});

test.each([
  ['error', 1],
  ['WARN', 2],
  ['debug', 4],
  ['silent', 0],
  ['all of it', 3],
])('with LOG_LEVEL=%s it logs %i of four lines', (level, count) =>
  expect(logged({ LOG_LEVEL: level }, false)).toHaveLength(count),
);

test.each([
  ['alone', (log: Logger, message: string) => log.error(message)],
  ['after fields', (log: Logger, message: string) => log.error({ attempt: 1 }, message)],
])('a message %s is cut where readers would cut its line', (_, write) => {
  const lines: string[] = [];
  const log = createLogger({ name: 'app', destination: { write: (line) => void lines.push(line) } });
  write(log, `${'\n'.repeat(6_000)}and more`);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    level: 'error',
    msg: `${'\n'.repeat(3_000)} [...]\n${'\n'.repeat(2_992)}and more`,
  });
  expect(lines[0]?.length).toBeLessThan(16_384);
});

test('a message that is short once it is masked is not cut', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const key = 'k'.repeat(4_000);
  createLogger({ name: 'app', destination, mask: (text) => text.replaceAll(key, '***') }).error(
    `${key}${'x'.repeat(3_000)}`,
  );
  expect(JSON.parse(lines[0] ?? '').msg).toBe(`***${'x'.repeat(3_000)}`);
});

test('a message is masked before it is cut, and one that grows as JSON is cut earlier', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ name: 'app', destination, mask: (text) => text.replaceAll('a-secret', '***') });
  log.error(`${'x'.repeat(5_997)}a-secret and more`);
  log.error('\u0001'.repeat(6_000));
  const messages = lines.map((line) => String(JSON.parse(line).msg));
  expect(messages[0]).toBe(`${'x'.repeat(5_997)}*** [...]`);
  expect(messages[1]).toBe(`${'\u0001'.repeat(2_500)} [...]`);
});
