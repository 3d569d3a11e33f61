import { describe, expect, test } from 'vitest';
import { query, segment } from '../../src/client/call.ts';

describe('a path', () => {
  test('takes an id as one segment, whatever is in it', () => {
    expect(segment('the id', 'a/b?c#d e')).toBe('a%2Fb%3Fc%23d%20e');
  });

  test.each(['', '.', '..'])('is never built from the id %j', (id) => {
    expect(() => segment('the thread id', id)).toThrow('the thread id');
  });

  test('has a query of what is there', () => {
    expect(query({ limit: 10, name: 'a b&c', status: undefined, deployment_ids: ['a', 'b'] })).toBe(
      '?limit=10&name=a+b%26c&deployment_ids=a%2Cb',
    );
    expect(query({ name: undefined })).toBe('');
  });
});
