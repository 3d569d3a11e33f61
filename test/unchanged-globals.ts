// Unit tests share a process with those of other files. A file that leaves a global changed fails, and not the next one.
import { Socket } from 'node:net';
import { afterAll } from 'vitest';

const readGlobals = (): Map<string, unknown> =>
  new Map<string, unknown>([
    ['fetch', globalThis.fetch],
    ['Socket.prototype.connect', Reflect.get(Socket.prototype, 'connect')],
    ['Date', globalThis.Date],
    ['setTimeout', globalThis.setTimeout],
    ['the working directory', process.cwd()],
    ...Object.entries(process.env),
  ]);

const before = readGlobals();

afterAll(() => {
  const after = readGlobals();
  const changed = new Set([...before.keys(), ...after.keys()])
    .values()
    .filter((name) => before.get(name) !== after.get(name));
  const names = [...changed].join(', ');
  if (names !== '')
    throw new Error(`These are not as they were before: ${names}. Restore them, or name the file *.isolated.test.ts.`);
});
