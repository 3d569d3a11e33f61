import { describe, expect, test } from 'vitest';
import { ends, goesLive, serviceError } from '../../deploy/machine/control-model.ts';
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
        key: `verdict-${id}-${revisionId}`,
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

test('a verdict is reported by the next process where this one ends meanwhile', async () => {
  const fixture = await reporting();
  const { control } = fixture;
  const leaving = new AbortController();
  const report = control.reportVerdict.bind(control);
  control.reportVerdict = async (...given) => {
    control.reportVerdict = report;
    leaving.abort();
    return report(...given);
  };
  await fixture.run(60_000, fixture.context, leaving.signal).catch(() => undefined);
  expect(leaving.signal.aborted).toBe(true);
  expect(control.verdicts).toEqual([]);
  fixture.jobs.push({ id: 'd1', at: fixture.clock.now() });
  await fixture.run();
  expect(await fixture.ends(a)).toEqual(['deployed']);
  expect(control.verdicts).toMatchObject([{ revisionId: 'r2', report: { kind: 'passed' } }]);
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

  test.each(['passed', 'failed'] as const)('is not reported where another one serves by then: %s', async (kind) => {
    const fixture = await reporting();
    fixture.verdicts.set(a, kind);
    fixture.context.step = (name) => {
      if (name === 'before-conclusion' && fixture.made === 1)
        fixture.control.push([{ after: 0, status: 'DEPLOYED', commit: commitOf('b') }]);
    };
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['superseded']);
    expect((await fixture.intent(a)).verdict).toMatchObject({ kind: 'unproven', tests: [{ name: 'greets' }] });
    expect(fixture.control.verdicts).toEqual([]);
    expect(fixture.control.count('redeploy')).toBe(0);
  });

  const busy = (operation: string) => serviceError('busy', operation, { status: 503 });
  const reported = ({ control }: QueueFixture) => control.verdicts.map(({ revisionId }) => revisionId);
  /** Reads of the deployment fail from the end of the tests on, `times` times. */
  const unreadable = (fixture: QueueFixture, times: number): void => {
    fixture.verdicts.set(a, 'failed');
    let isDone = false;
    fixture.context.step = (name) => {
      if (name !== 'before-conclusion' || isDone) return;
      isDone = true;
      fixture.control.fails('get', busy('get deployment'), { times });
    };
  };

  test('is reported once the deployment can be read again', async () => {
    const fixture = await reporting();
    unreadable(fixture, 3);
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['rolled-back', 'deployed']);
    expect(reported(fixture)).toEqual(['r2', 'r3']);
  });

  test('is rolled back in the end, unreported, where the deployment cannot be read for long', async () => {
    const fixture = await reporting();
    unreadable(fixture, 35);
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['rolled-back', 'deployed']);
    expect(reported(fixture)).toEqual(['r3']);
  });

  test.each([1, 3])('is reported once where the service does not take it at first: %s times', async (times) => {
    const fixture = await reporting();
    fixture.verdicts.set(a, 'failed');
    fixture.control.fails('report verdict', busy('report verdict'), { times, applied: times > 1 });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['rolled-back', 'deployed']);
    expect(reported(fixture)).toEqual(['r2', 'r3']);
    expect(fixture.control.count('report verdict')).toBe(times + 2);
  });

  test('is not reported with every look at the rollback where the service does not take it', async () => {
    const fixture = await reporting();
    fixture.verdicts.set(a, 'failed');
    fixture.control.fails('report verdict', busy('report verdict'), { times: 99 });
    await fixture.run();
    expect(await fixture.ends(a)).toEqual(['rolled-back', 'deployed']);
    // Shortly after the request, a while later, when the rollback ends, and for its own revision.
    expect(fixture.control.count('report verdict')).toBe(5);
  });

  test('is reported where the rollback is refused, and where another revision is on its way', async () => {
    const refusing = await reporting();
    refusing.verdicts.set(a, 'failed');
    refusing.control.lacks.add('redeploy');
    await refusing.run();
    expect(await refusing.ends(a)).toEqual(['broken', 'refused']);
    expect(reported(refusing)).toEqual(['r2']);
    const overtaken = await reporting();
    overtaken.verdicts.set(a, 'failed');
    await overtaken.run(31_000);
    overtaken.control.push(goesLive(commitOf('b')));
    await overtaken.run();
    expect(await overtaken.ends(a)).toEqual(['broken', 'skipped']);
    expect(reported(overtaken)).toEqual(['r2']);
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
