import { describe, expect, test } from 'vitest';
import type { Revision } from '../../../src/contract/control/revision.ts';
import type { StoredVerdict } from '../../../src/contract/control/verdict.ts';
import { first, github, hello, second, workflowOn } from './deploy-fixture.ts';
import { deadly, JournalInMemory, prepare, writes } from './killed-run.ts';

const onStaging: Revision = {
  id: 's1',
  status: 'DEPLOYED',
  source_revision_config: { repo_commit_sha: second },
};

const verdictOf = (kind: string): StoredVerdict => ({ id: 'v', created_at: '', kind, reporter: 'action', tests: [] });

/** A live production, and a staging that serves the second commit with a verdict that may change. */
async function production(builds: string) {
  const prepared = await prepare({ builds, keys: true });
  const { control } = prepared.fixture;
  control.pinsCommits = true;
  control.lacks.delete('verdicts');
  const live = control.service.deployment;
  if (!live) throw new Error('there is no deployment');
  control.others = [{ ...live, id: 'd9', name: 'staging', active_revision_id: 's1', latest_revision_id: 's1' }];
  const getRevision = control.getRevision.bind(control);
  control.getRevision = async (id, revisionId, options) =>
    revisionId === 's1' ? onStaging : getRevision(id, revisionId, options);
  const staging = { kind: 'passed' };
  const request = {
    smokeTests: [hello],
    agentAt: prepared.agentAt,
    after: { name: 'staging' },
    verdictsOf: async () => [verdictOf(staging.kind)],
  };
  return { fixture: prepared.fixture, control, request, staging };
}

describe('a deployment of a later environment', () => {
  test('is asked about again where a run was ended before it sent the change', async () => {
    const { fixture, control, request, staging } = await production(second);
    const journal = new JournalInMemory();
    const run = { ...request, workflow: workflowOn(second), journal };
    const { control: dying, died } = deadly(control, 1, 'before', 'patchDeployment');
    expect(await Promise.race([fixture.deploy({ ...run, control: dying }), died])).toBe('killed');
    expect(journal.kept?.deploy.state).toBe('sending');
    staging.kind = 'failed';
    expect(await fixture.deploy({ ...run, kept: journal.kept })).toMatchObject({ kind: 'refused' });
    expect(writes(control)).toEqual([]);
  });

  test.each([
    ['unchanged', github],
    ['deployed', { ...github, secrets: [{ name: 'TOKEN', value: 'rotated' }] }],
  ])('that serves the commit already is %s, whatever the one before says', async (kind, desired) => {
    const { fixture, request, staging } = await production(first);
    staging.kind = 'failed';
    expect(await fixture.deploy({ ...request, workflow: workflowOn(first), desired })).toMatchObject({ kind });
  });
});
