import { describe, expect, test } from 'vitest';
import { goesLive } from './control-model.ts';
import { first, github, running, second, type DeployFixture } from './deploy-fixture.ts';

const twoLive = async (): Promise<DeployFixture> => {
  const fixture = await running();
  fixture.control.push(goesLive(second));
  return fixture.passes(60_000);
};

describe('a rollback that was decided upon', () => {
  const expected = { active_revision_id: 'r2', latest_revision_id: 'r2' };

  test('is done while all is as it was', async () => {
    const fixture = await twoLive();
    expect(await fixture.deploy({ mode: 'rollback', expected })).toMatchObject({
      kind: 'rolled-back',
      rollback: { kind: 'done', toRevisionId: 'r1' },
    });
    const again = await fixture.deploy({ mode: 'rollback', expected });
    expect(again).toMatchObject({ kind: 'refused', changed: false });
    expect(again.rollback).toEqual({
      kind: 'impossible',
      reason: { code: 'other-serves', active: 'r3', broken: 'r2' },
    });
    expect(fixture.control.count('redeploy')).toBe(1);
  });

  test('is refused where another revision is on its way since', async () => {
    const fixture = await twoLive();
    fixture.control.push(goesLive(first));
    expect((await fixture.deploy({ mode: 'rollback', expected })).rollback).toEqual({
      kind: 'impossible',
      reason: { code: 'other-on-its-way', revisionId: 'r3' },
    });
    expect(fixture.control.count('redeploy')).toBe(0);
  });
});

describe('a run that is started again', () => {
  const desired = { ...github, rebuild: 'always' } as const;
  const revisionsAfter = async (...causes: (string | undefined)[]) => {
    const fixture = await running();
    fixture.control.honoursKeys = true;
    const ends = [];
    for (const onceFor of causes) ends.push(await fixture.deploy({ desired, onceFor }));
    return ends.map(({ activeRevisionId }) => activeRevisionId);
  };

  test('for the same cause makes no other revision', async () => {
    expect(await revisionsAfter('comment 1', 'comment 1')).toEqual(['r2', 'r2']);
  });

  test('for another cause makes another', async () => {
    expect(await revisionsAfter('comment 1', 'comment 2', undefined, undefined)).toEqual(['r2', 'r3', 'r4', 'r5']);
  });
});
