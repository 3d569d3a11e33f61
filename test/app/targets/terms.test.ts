import { expect, test } from 'vitest';
import { termsOf } from '../../../app/targets/select-targets.ts';

const deployment = {
  id: 'd1',
  name: 'support',
  source: 'github',
  source_config: {},
  source_revision_config: {},
  tenant_id: 't1',
  created_at: '',
  updated_at: '',
  status: 'READY',
  latest_revision_id: null,
  active_revision_id: null,
};
const common = { builder: 'app', timeoutMs: 1 } as const;

test.each([
  ['says nothing of it', [], undefined],
  ['has mistakes', ['the deploy file has mistakes here'], true],
])('where the file %s, having no smoke test proves something or not', (_, notes, unread) => {
  expect(termsOf(deployment, undefined, notes, common).unread).toBe(unread);
});
