import { expect, test } from 'vitest';
import { isEndedFromOutside } from '../../../app/worker/worker.ts';

test.each([
  ['the kernel, for want of memory', null, 'SIGKILL', true],
  ['a supervisor', null, 'SIGTERM', true],
  ['a person at the terminal', null, 'SIGINT', true],
  ['a terminal that closed', null, 'SIGHUP', true],
  ['a signal that a shell reports as a code', 137, null, true],
  ['a signal that an init reports as a code', 143, null, true],
  ['V8, out of heap', null, 'SIGABRT', false],
  ['V8, out of heap, as a code', 134, null, false],
  ['V8, out of memory for its compiler', null, 'SIGTRAP', false],
  ['V8, at a broken assumption', null, 'SIGILL', false],
  ['the end of the stack', null, 'SIGSEGV', false],
  ['a fault of memory', null, 'SIGBUS', false],
  ['an uncaught error', 1, null, false],
  ['a fatal error of V8', 5, null, false],
  ['an exit without a reason', 0, null, false],
  ['nothing that is known', null, null, false],
] as const)('a process ended by %s (%s, %s) was ended from outside: %s', (_, code, signal, expected) => {
  expect(isEndedFromOutside({ code, signal })).toBe(expected);
});
