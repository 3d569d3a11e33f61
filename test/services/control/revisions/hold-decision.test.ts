import { describe, expect, test } from 'vitest';
import {
  checkHold,
  judgeHoldDecision,
  nextHoldStep,
} from '../../../../src/services/control/revisions/hold-decision.ts';

const held = {
  status: 'DEPLOYING',
  hold_seconds: 600,
  hold_ends_at: new Date(1_000),
  hold_decision: null,
} as const;

describe('a rollout with a hold', () => {
  test.each([
    ['waits until the end of the hold', held, 400, { kind: 'wait', ms: 600 }],
    ['is over at the end', held, 1_000, { kind: 'over' }],
    ['is over where no end was recorded', { ...held, hold_ends_at: null }, 0, { kind: 'over' }],
    ['goes on when promoted', { ...held, hold_decision: 'promoted' }, 400, { kind: 'promoted' }],
    [
      'goes on when promoted in time, though read late',
      { ...held, hold_decision: 'promoted' },
      2_000,
      { kind: 'promoted' },
    ],
    ['ends when discarded', { ...held, hold_decision: 'discarded' }, 400, { kind: 'ended' }],
    ['ends when interrupted', { ...held, status: 'INTERRUPTED' }, 400, { kind: 'ended' }],
    ['ends when removed', undefined, 400, { kind: 'ended' }],
  ] as const)('%s', (_, revision, now, step) => expect(nextHoldStep(revision, now)).toEqual(step));
});

describe('a promotion', () => {
  const refused = (words: RegExp) => ({ refused: { status: 409, detail: expect.stringMatching(words) } });
  test.each([
    ['of a held revision is recorded', held, 'record'],
    ['while the service starts it again is recorded', { ...held, status: 'AWAITING_DEPLOY' }, 'record'],
    ['is recorded once', { ...held, hold_decision: 'promoted' }, 'repeated'],
    ['is repeated after the switch', { ...held, hold_decision: 'promoted', status: 'DEPLOYED' }, 'repeated'],
    ['contradicts a discard', { ...held, hold_decision: 'discarded' }, refused(/discarded already\. Make/)],
    ['needs a hold', { ...held, hold_seconds: null, hold_ends_at: null }, refused(/without a hold\. Make/)],
    ['needs a revision on its way', { ...held, status: 'INTERRUPTED' }, refused(/ended INTERRUPTED\. Make/)],
    ['needs a healthy agent', { ...held, hold_ends_at: null }, refused(/not held yet\. Wait/)],
  ] as const)('%s', (_, revision, judged) => expect(judgeHoldDecision(revision, 'promoted')).toEqual(judged));
});

describe('a hold', () => {
  const facts = { holds: true, listener: false, image: false };
  const refused = (words: RegExp) => ({
    ok: false,
    refusal: { status: 400, detail: expect.stringMatching(words) },
  });
  test.each([
    ['is not requested', undefined, { ...facts, listener: true }, { ok: true, value: undefined }],
    ['of a second', 1, facts, { ok: true, value: 1 }],
    ['of a day', 86_400, facts, { ok: true, value: 86_400 }],
    ['of no seconds', 0, facts, refused(/^Landfall-Hold is no whole number from 1 to 86400\. Send/)],
    ['of more than a day', 86_401, facts, refused(/^Landfall-Hold is no/)],
    ['of no number', NaN, facts, refused(/^Landfall-Hold is no/)],
    ['in a cluster', 60, { ...facts, listener: true }, refused(/cluster of a listener can not be held\. Send/)],
    ['of an image', 60, { ...facts, image: true }, refused(/image can not be held\. Send/)],
    ['in containers', 60, { ...facts, holds: false }, refused(/in containers\. Send/)],
  ])('%s', (_, seconds, known, judged) => expect(checkHold(seconds, known)).toEqual(judged));
});
