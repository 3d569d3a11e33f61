import { beforeEach, describe, expect, test } from 'vitest';
import { goesLive } from '../../deploy/machine/control-model.ts';
import { readIntent, toStored } from '../../../app/reconcile/stored-intent.ts';
import { anIntent } from '../an-intent.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, tested } from './requests.ts';

const o = commitOf('0');
const a = commitOf('a');
const b = commitOf('b');
const c = commitOf('c');

let fixture: QueueFixture;
beforeEach(() => {
  fixture = new QueueFixture();
});

describe('a wrong response', () => {
  beforeEach(() => fixture.verdicts.set(a, 'failed'));

  test('is reported without a rollback by default', async () => {
    await fixture.push('a', { terms: { ...tested, onFailure: 'keep' } });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['broken']);
    expect(fixture.serving).toBe(a);
  });

  test('restores the previous revision, and does not retry the commit by itself', async () => {
    await fixture.push('a', { terms: tested });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['rolled-back', 'deployed']);
    expect((await fixture.intent(a)).end).toMatchObject({ kind: 'rolled-back', rolledBackTo: 'r1' });
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'failure' });
    expect(fixture.serving).toBe(o);
    await fixture.request(a, { terms: tested });
    await fixture.run();
    expect(fixture.made).toBe(2);
    expect(await fixture.check(a)).toMatchObject({ conclusion: 'failure' });
    await fixture.push('b', { terms: tested });
    await fixture.run();
    expect(fixture.serving).toBe(b);
  });

  test('whose rollback was requested by an earlier version is taken back too', async () => {
    await fixture.push('a', { terms: tested });
    while ((await fixture.intent(a)).state !== 'undoing') await fixture.run(100);
    const { isUndoing, verdictDueAt: _, ...stored } = toStored(anIntent('undoing', await fixture.intent(a)));
    const read = readIntent(stored);
    expect([isUndoing, read.state]).toEqual([true, 'concluding']);
    fixture.store.intents.set(read.id, read);
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['rolled-back', 'deployed']);
    expect(fixture.serving).toBe(o);
  });

  test('holds pushes if configured, until a person requests Redeploy', async () => {
    const holding = { ...tested, rules: { ...tested.rules, afterRollback: 'hold' as const } };
    await fixture.push('a', { terms: holding });
    await fixture.run();
    await fixture.push('b', { terms: holding });
    await fixture.run();
    expect(await fixture.ends(b)).toEqual(['paused']);
    expect(await fixture.check(b)).toMatchObject({ conclusion: 'action_required' });
    await fixture.push('c', { terms: holding });
    await fixture.run();
    expect([await fixture.ends(b), await fixture.ends(c)]).toEqual([['superseded'], ['paused']]);
    await fixture.request(c, { kind: 'redeploy', terms: holding });
    await fixture.run();
    expect(await fixture.ends(c)).toEqual(['joined', 'deployed']);
    expect(fixture.serving).toBe(c);
    expect(await fixture.store.deploymentQueue('d1')).toEqual({ deploymentId: 'd1' });
  });

  test('is also reported for the restored revision', async () => {
    fixture.verdicts.set(o, 'failed');
    await fixture.push('a', { terms: tested });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['broken', 'broken']);
    expect((await fixture.intent(a)).end?.reason).toContain('which did not help');
    expect(fixture.made).toBe(2);
  });

  test('is reported with the reason if the service refuses the rollback', async () => {
    fixture.control.lacks.add('redeploy');
    await fixture.push('a', { terms: tested });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['broken', 'refused']);
    expect((await fixture.intent(a)).end?.reason).toContain('Not rolled back');
  });

  test('is left alone if another revision is about to go live', async () => {
    await fixture.push('a', { terms: tested });
    await fixture.run(31_000);
    fixture.control.push(goesLive(b));
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['broken', 'skipped']);
    await fixture.control.getDeployment('d1');
    expect(fixture.serving).toBe(b);
  });
});
