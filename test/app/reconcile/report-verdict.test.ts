import { describe, expect, test } from 'vitest';
import { ends, serviceError } from '../../deploy/control-model.ts';
import { QueueFixture } from './queue-fixture.ts';
import { commitOf, tested } from './requests.ts';

const a = commitOf('a');

const reporting = async (): Promise<QueueFixture> => {
  const fixture = new QueueFixture();
  fixture.control.lacks.delete('verdicts');
  await fixture.push('a', { terms: tested });
  return fixture;
};

describe('the verdict on a revision', () => {
  test('is reported to a service that takes it, under the id of the intent', async () => {
    const fixture = await reporting();
    await fixture.run();
    const { id, revisionId } = await fixture.intent(a);
    expect(fixture.control.verdicts).toMatchObject([
      {
        key: `verdict-${id}`,
        revisionId,
        report: { kind: 'passed', reporter: 'app', tests: [{ name: 'greets', total_ms: 9 }] },
      },
    ]);
  });

  test('is not reported to another service', async () => {
    const fixture = await reporting();
    fixture.control.lacks.add('verdicts');
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect(fixture.control.count('report verdict')).toBe(0);
  });

  test('changes no outcome where it cannot be reported', async () => {
    const fixture = await reporting();
    fixture.control.fails('report verdict', serviceError('busy', 'report verdict', { status: 503 }), { times: 9 });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['deployed']);
    expect(fixture.logged.join()).toContain('The verdict could not be reported to the service');
  });
});

describe('the verdict on a revision that failed', () => {
  test('is reported while the rollback is under way', async () => {
    const fixture = await reporting();
    fixture.verdicts.set(a, 'failed');
    const { promise: rolledBack, resolve } = Promise.withResolvers<void>();
    const { control } = fixture;
    const report = control.reportVerdict.bind(control);
    control.reportVerdict = (...given) => rolledBack.then(() => report(...given));
    control.onWrite = () => control.calls.includes('redeploy') && resolve();
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['rolled-back', 'deployed']);
    expect(control.verdicts.map(({ revisionId, report: { kind } }) => [revisionId, kind])).toEqual([
      ['r2', 'failed'],
      ['r3', 'passed'],
    ]);
  });

  test('is not reported where another revision serves by then', async () => {
    const fixture = await reporting();
    fixture.verdicts.set(a, 'failed');
    fixture.context.step = (name) => {
      if (name === 'before-conclusion' && fixture.made === 1)
        fixture.control.push([{ after: 0, status: 'DEPLOYED', commit: commitOf('b') }]);
    };
    await fixture.run();
    expect(await fixture.ends(a)).toContain('broken');
    expect(fixture.control.verdicts).toEqual([]);
  });
});

describe('the check of a revision', () => {
  const page = /^https:\/\/control\.test\/console\/deployments\/d1\/revisions\/r2$/;

  test.each(['deployed', 'failed'] as const)('leads to its page in the console when it %s', async (end) => {
    const fixture = await reporting();
    fixture.control.consoleUrl = 'https://control.test/console';
    if (end === 'failed') fixture.control.goes.set(a, ends('BUILD_FAILED', a));
    await fixture.run();
    expect(await fixture.ends(a)).toEqual([end]);
    const check = await fixture.check(a);
    expect(check?.detailsUrl).toMatch(page);
    expect(check?.summary).toContain('[Open in the console](https://control.test/console/');
  });
});
