import { expect, test } from 'vitest';
import { masksOf } from '../../src/action/run.ts';

test.each<[string, string[], string[]]>([
  ['a key', ['sk-12345'], ['sk-12345']],
  ['every line of a key of many', ['line one\nline two'], ['line one\nline two', 'line one', 'line two']],
  ['a key without the line break that it was stored with', ['sk-12345\r\n'], ['sk-12345']],
  ['what JSON makes of it', ['a"quoted"b'], ['a\\"quoted\\"b']],
  ['what an address makes of it', ['a/b&c='], ['a%2Fb%26c%3D']],
  ['what base64 makes of it', ['hush~hush?'], ['aHVzaH5odXNoPw==', 'aHVzaH5odXNoPw']],
  ['an address with a password', ['https://me:pass@host'], ['https://me:pass@host']],
  ['the other lines beside an address', ['https://host\nsk-12345'], ['sk-12345']],
])('masked is %s', (_, secrets, masks) => expect(masksOf(secrets)).toEqual(expect.arrayContaining(masks)));

test.each<[string, string[]]>([
  ['no tiny string', ['abc', 'a\nb\n}']],
  ['no address, in no spelling', ['https://host/path']],
  ['nothing', ['', ' \n']],
])('masked is %s', (_, secrets) => {
  const unreadable = masksOf(secrets).filter((mask) => mask.trim().length < 4 || mask.includes('host'));
  expect(unreadable).toEqual([]);
});
