import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { firstClosed, wayTo } from '../../../src/postgres/embedded/reach.ts';

/** Whom the service is of: of another user than root where this checkout is open to one. */
const nobodyUser = { uid: 65_534, gid: 65_534 };
const isOpen = firstClosed({ name: 'nobody', ...nobodyUser }, wayTo(realpathSync(import.meta.dirname))) === undefined;
const whom = process.getuid?.() !== 0 ? 'who runs this test' : isOpen ? 'user 65534' : 'root, without users';
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

test(`a service whose agents are of its own user (${whom}) gives them little, and is not kept from them`, () => {
  const printed = execFileSync(process.execPath, [join(import.meta.dirname, 'ordinary-service.ts')], {
    cwd: '/',
    encoding: 'utf8',
    env: { PATH: process.env.PATH, CANARY_OF_THE_SERVICE: 'canary-7d11' },
    ...(whom === 'user 65534' ? nobodyUser : {}),
  });
  const { ids, environmentGiven, bounds, status, ...reached } = seenSchema.parse(JSON.parse(printed));
  expect(ids === null).toBe(whom !== 'root, without users');
  expect(environmentGiven.said).not.toContain('canary-7d11');
  expect(bounds.said).toBe('0077\n0\n16384\n');
  const noNewPrivileges = existsSync('/usr/bin/setpriv') ? 1 : 0;
  expect(status.said).toMatch(new RegExp(`^NoNewPrivs:\\s+${noNewPrivileges}$`, 'm'));
  // One user is one user: SECURITY.md says so.
  expect(reached).toEqual({
    otherFolder: { done: true, said: 'two' },
    key: { done: true },
    environmentOfService: { done: true },
  });
});
