import { describe, expect, test } from 'vitest';
import { logLevels, logPageQuery } from '../../../../src/services/control/validation/queries.ts';

describe('the requested log level', () => {
  test.each(['info', 'ERROR', 'Warning', 'CRITICAL'])('accepts %s, in any case', (level) => {
    expect(logPageQuery.parse({ level })).toMatchObject({ level: level.toLowerCase() });
  });

  test.each([{ level: '' }, { level: null }, {}])('%j selects all levels', (query) => {
    expect(logPageQuery.parse(query)).toMatchObject({ level: undefined });
  });

  test.each(['eror', 'warn ing', '3'])('%s is refused with the valid levels', (level) => {
    const [problem] = logPageQuery.safeParse({ level }).error?.issues ?? [];
    expect(problem?.path).toEqual(['level']);
    for (const known of logLevels) expect(problem?.message).toContain(known);
  });
});
