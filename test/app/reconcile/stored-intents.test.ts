import { expect, test } from 'vitest';
import * as z from 'zod';
import { nextStep } from '../../../app/reconcile/next-step.ts';
import { changedColumns, intentOf, type IntentRow } from '../../../app/reconcile/tables.ts';
import { checkOf, intentDeploymentReport } from '../../../app/reporting/intent-reports.ts';
import { recorded } from '../../recorded.ts';

const stored = z.array(z.object({ step: z.string().nullable(), row: z.custom<IntentRow>() }));
const rows = stored.parse(recorded('app-work/intents.json'));
const named = rows.map(({ step, row }, at) => ({ name: `${at}: ${row.state}`, step, row }));

test.each(named)('an intent of 20576c5a opens and goes on, $name', ({ step, row }) => {
  const intent = intentOf(row);
  const next = nextStep({ deploymentId: row.deployment_id }, [intent], new Map()).kind;
  expect(row.state === 'ended' ? null : next).toBe(step);
  const { state, body } = changedColumns(intent);
  expect(intentOf({ ...row, state, body: JSON.parse(body) })).toEqual(intent);
  const { content } = checkOf(intent, { now: intent.updatedAt }).wanted;
  expect(content).toMatchObject({ title: expect.stringMatching(/\w/), summary: expect.stringMatching(/\w/) });
  expect(intentDeploymentReport(intent) === undefined).toBe(!row.body.revisionId && !row.body.sentAt);
});
