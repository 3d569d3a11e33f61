import { describe, expect, test } from 'vitest';
import { redeployKind } from '../../../../src/services/control/revisions/insert-revision.ts';

const revision = (id: string, build_folder: string | null = `builds/${id}`) => ({ id, build_folder });
const of = (id: string, build_folder: string | null = `builds/${id}`) => ({ redeploy_of: id, build_folder });

describe('the redeploy', () => {
  test.each([
    ['of the only revision', of('r1'), [revision('r1')], 'redeploy'],
    ['of the latest while an older one serves', of('r2'), [revision('r2'), revision('r1')], 'redeploy'],
    ['of the live one after a failure', of('r1'), [revision('r2', null), revision('r1')], 'redeploy'],
    ['of another with the live build', of('r1'), [revision('r3', 'builds/r1')], 'redeploy'],
    ['of an older build', of('r1'), [revision('r3'), revision('r2')], 'rollback'],
    ['of an older image', of('r1', null), [revision('r3', null), revision('r2', null)], 'rollback'],
    ['of the live image', of('r2', null), [revision('r3', null), revision('r2', null)], 'redeploy'],
    ['where nothing is live', of('r1'), [], 'rollback'],
  ] as const)('%s', (_, earlier, current, kind) => {
    expect(redeployKind(earlier, current)).toBe(kind);
  });
});
