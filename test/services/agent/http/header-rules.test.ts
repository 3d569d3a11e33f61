import { describe, expect, test } from 'vitest';
import { configurableHeaders, loggedHeaders } from '../../../../src/services/agent/http/header-rules.ts';

const headers = new Headers({
  accept: '*/*',
  authorization: 'Bearer secret',
  cookie: 'session=secret',
  'user-agent': 'test',
  'x-api-key': 'secret',
  'x-landfall-agent-token': 'secret',
  'x-landfall-thread-stream': 'true',
  'x-forwarded-prefix': '/agents/a',
  'x-user-id': 'ada',
  'X-User-Mood': 'calm',
});

describe('headers that become keys of `configurable`', () => {
  test.each<[string, Parameters<typeof configurableHeaders>[0], string[]]>([
    ['the default ones', undefined, ['user-agent', 'x-user-id', 'x-user-mood']],
    ['and an included one', { includes: ['accept'] }, ['accept', 'user-agent', 'x-user-id', 'x-user-mood']],
    ['without excluded patterns', { excludes: ['*-Mood', 'user-agent'] }, ['x-user-id']],
    ['exclusion wins over inclusion', { includes: ['x-user-id'], excludes: ['x-user-*'] }, ['user-agent']],
    [
      'no credentials by wildcard',
      { includes: ['*'], excludes: ['x-f*'] },
      ['accept', 'user-agent', 'x-user-id', 'x-user-mood'],
    ],
    [
      'proxy headers if included',
      { includes: ['x-forwarded-*'], excludes: ['x-user*'] },
      ['user-agent', 'x-forwarded-prefix'],
    ],
    [
      'a credential included by name',
      { includes: ['Authorization'], excludes: ['x-*'] },
      ['authorization', 'user-agent'],
    ],
    ['never the gateway’s token', { includes: ['x-landfall-agent-token'], excludes: ['x-user*'] }, ['user-agent']],
    ['by the singular spellings', { include: ['accept'], exclude: ['x-*'] }, ['accept', 'user-agent']],
    [
      'by both spellings',
      { includes: ['accept'], include: ['cookie'], excludes: ['x-*'] },
      ['accept', 'cookie', 'user-agent'],
    ],
    ['none', { excludes: ['*'] }, []],
    ['a dot matches literally', { includes: ['a.cept'], excludes: ['x-*', 'user-agent'] }, []],
  ])('%s', (_, rules, names) => {
    expect(Object.keys(configurableHeaders(rules)(headers)).toSorted()).toEqual(names);
  });

  test('keep their values', () => {
    expect(configurableHeaders(undefined)(headers)).toMatchObject({ 'x-user-id': 'ada' });
  });
});

test("a header can't forge the user, whatever is included", () => {
  const forged = new Headers({ langgraph_auth_user_id: 'admin', 'x-user-id': 'ada' });
  expect(configurableHeaders({ includes: ['*', 'langgraph_auth_user_id'] })(forged)).toEqual({ 'x-user-id': 'ada' });
});

describe('logged headers', () => {
  test.each<[string, Parameters<typeof loggedHeaders>[0], string[]]>([
    ['all but credentials', {}, ['accept', 'user-agent', 'x-forwarded-prefix', 'x-user-id', 'x-user-mood']],
    ['included ones', { includes: ['user-agent', 'cookie'] }, ['cookie', 'user-agent']],
    ['without excluded ones', { excludes: ['x-*'] }, ['accept', 'user-agent']],
    ['by the singular spellings', { include: ['user-agent', 'accept'], exclude: ['accept'] }, ['user-agent']],
  ])('%s', (_, rules, names) => {
    expect(Object.keys(loggedHeaders(rules)(headers)).toSorted()).toEqual(names);
  });
});
