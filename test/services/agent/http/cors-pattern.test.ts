import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { corsOf } from '../../../../src/services/agent/http/middleware.ts';
import { cpuOf } from '../../../fuzz/cpu.ts';

const slow = 'https://(a+)+[.]test';

test('an origin pattern is immune to slow matching by a crafted origin', () => {
  const app = new Hono().use(corsOf({ allow_origin_regex: slow })).get('/', (c) => c.text('hello'));
  const cpu = (origin: string): number => cpuOf(() => app.request('/', { headers: { origin } }), 1);
  expect(cpu(`https://${'a'.repeat(28)}`)).toBeLessThan(20 * cpu('https://a.test'));
});

test.each([
  ['a matching origin', slow, 'https://aaa.test', 'https://aaa.test'],
  ['not an origin that only starts with a match', slow, 'https://aaa.test.example', null],
  ['a lookahead, by the runtime’s engine', 'https://(?!evil).*[.]test', 'https://good.test', 'https://good.test'],
  ['not what a lookahead excludes', 'https://(?!evil).*[.]test', 'https://evil.test', null],
])('an origin pattern allows %s', async (_, regex, origin, allowed) => {
  const app = new Hono().use(corsOf({ allow_origin_regex: regex })).get('/', (c) => c.text('hello'));
  const response = await app.request('/', { headers: { origin } });
  expect(response.headers.get('access-control-allow-origin')).toBe(allowed);
});
