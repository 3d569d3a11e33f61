import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { firstClosed, wayTo } from '../../../../src/kit/postgres/embedded/file-access.ts';

/** The user of the service: other than root if the checkout is open to others. */
const ordinaryUser = { uid: 65_534, gid: 65_534 };
const isOpen = firstClosed({ name: 'nobody', ...ordinaryUser }, wayTo(realpathSync(import.meta.dirname))) === undefined;
const whom = process.getuid?.() !== 0 ? 'the current user' : isOpen ? 'user 65534' : 'root';
const said = z.object({ done: z.literal(true), said: z.string() });
const seenSchema = z.object({
  ids: z.unknown(),
  environmentGiven: said,
  bounds: said,
  status: said,
  otherFolder: said,
  key: z.object({ done: z.boolean() }),
  environmentOfService: z.object({ done: z.boolean() }),
});

test(`a service (${whom}) that shares its user with agents can only limit them`, () => {
  const printed = execFileSync(process.execPath, [join(import.meta.dirname, 'ordinary-service.ts')], {
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: process.env.PATH, CANARY_OF_THE_SERVICE: 'canary-7d11' },
    ...(whom === 'user 65534' ? ordinaryUser : {}),
  });
  const { ids, environmentGiven, bounds, status, ...reached } = seenSchema.parse(JSON.parse(printed));
  expect(ids === null).toBe(whom !== 'root');
  expect(environmentGiven.said).not.toContain('canary-7d11');
  expect(bounds.said).toBe('0077\n0\n16384\n');
  const noNewPrivileges = existsSync('/usr/bin/setpriv') ? 1 : 0;
  expect(status.said).toMatch(new RegExp(`^NoNewPrivs:\\s+${noNewPrivileges}$`, 'm'));
  // Agents of the same user are not isolated, see SECURITY.md.
  expect(reached).toEqual({
    otherFolder: { done: true, said: 'two' },
    key: { done: true },
    environmentOfService: { done: true },
  });
});
