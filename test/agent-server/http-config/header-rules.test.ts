import { describe, expect, test } from 'vitest';
import { configurableHeaders, loggedHeaders } from '../../../src/agent-server/http/header-rules.ts';

const headers = new Headers({
  accept: '*/*',
  authorization: 'Bearer secret',
  cookie: 'session=secret',
  'user-agent': 'test',
  'x-api-key': 'secret',
  'x-landfall-agent-token': 'secret',
  'x-forwarded-prefix': '/agents/a',
  'x-user-id': 'ada',
  'X-User-Mood': 'calm',
});

describe('the headers that become keys of `configurable`', () => {
  test.each<[string, Parameters<typeof configurableHeaders>[0], string[]]>([
    ['where the configuration says nothing', undefined, ['user-agent', 'x-user-id', 'x-user-mood']],
    ['and one more that is named', { includes: ['accept'] }, ['accept', 'user-agent', 'x-user-id', 'x-user-mood']],
    ['without those of a pattern', { excludes: ['*-Mood', 'user-agent'] }, ['x-user-id']],
    ['an exclusion wins', { includes: ['x-user-id'], excludes: ['x-user-*'] }, ['user-agent']],
    [
      'no credential by a star',
      { includes: ['*'], excludes: ['x-f*'] },
      ['accept', 'user-agent', 'x-user-id', 'x-user-mood'],
    ],
    [
      'what proxies say, where that is asked',
      { includes: ['x-forwarded-*'], excludes: ['x-user*'] },
      ['user-agent', 'x-forwarded-prefix'],
    ],
    [
      'a credential that is spelled out',
      { includes: ['Authorization'], excludes: ['x-*'] },
      ['authorization', 'user-agent'],
    ],
    [
      'never the token of those in front',
      { includes: ['x-landfall-agent-token'], excludes: ['x-user*'] },
      ['user-agent'],
    ],
    ['none', { excludes: ['*'] }, []],
    ['a dot is a dot', { includes: ['a.cept'], excludes: ['x-*', 'user-agent'] }, []],
  ])('%s', (_, rules, names) => {
    expect(Object.keys(configurableHeaders(rules)(headers)).toSorted()).toEqual(names);
  });

  test('keep their values', () => {
    expect(configurableHeaders(undefined)(headers)).toMatchObject({ 'x-user-id': 'ada' });
  });
});

test('a header says nothing of who asked, whatever is included', () => {
  const forged = new Headers({ langgraph_auth_user_id: 'admin', 'x-user-id': 'ada' });
  expect(configurableHeaders({ includes: ['*', 'langgraph_auth_user_id'] })(forged)).toEqual({ 'x-user-id': 'ada' });
});

describe('the headers that the log shows', () => {
  test.each<[string, Parameters<typeof loggedHeaders>[0], string[]]>([
    ['all but credentials', {}, ['accept', 'user-agent', 'x-forwarded-prefix', 'x-user-id', 'x-user-mood']],
    ['those that are named', { includes: ['user-agent', 'cookie'] }, ['cookie', 'user-agent']],
    ['but those that are not wanted', { excludes: ['x-*'] }, ['accept', 'user-agent']],
  ])('%s', (_, rules, names) => {
    expect(Object.keys(loggedHeaders(rules)(headers)).toSorted()).toEqual(names);
  });
});
