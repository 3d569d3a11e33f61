import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { corsOf } from '../../../src/agent-server/http/cors.ts';
import { cpuOf } from '../../fuzz/cpu.ts';

const slow = 'https://(a+)+[.]test';

test('a pattern for origins takes no longer for an origin that a stranger made up', () => {
  const app = new Hono().use(corsOf({ allow_origin_regex: slow })).get('/', (c) => c.text('hello'));
  const cpu = (origin: string): number => cpuOf(() => app.request('/', { headers: { origin } }), 1);
  expect(cpu(`https://${'a'.repeat(28)}`)).toBeLessThan(20 * cpu('https://a.test'));
});

test.each([
  ['an origin that it describes', slow, 'https://aaa.test', 'https://aaa.test'],
  ['not one that only begins so', slow, 'https://aaa.test.example', null],
  [
    'what looks ahead, by the engine of the runtime',
    'https://(?!evil).*[.]test',
    'https://good.test',
    'https://good.test',
  ],
  ['not what looking ahead rules out', 'https://(?!evil).*[.]test', 'https://evil.test', null],
])('a pattern for origins allows %s', async (_, regex, origin, allowed) => {
  const app = new Hono().use(corsOf({ allow_origin_regex: regex })).get('/', (c) => c.text('hello'));
  const response = await app.request('/', { headers: { origin } });
  expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
});
