import type { ReportContent } from '../../../app/work/report.ts';
import type { World } from '../../../app/world.ts';

/** Brings GitHub in line with one report. */
export async function tell(id: string, { store, hub, clock }: World): Promise<void> {
  const report = await store.report(id);
  if (!report || report.toldVersion >= report.version) return;
  const { wanted, repository, headSha, name, version } = report;
  const githubId = await told(wanted);
  await store.told(id, { githubId, version, at: clock.now(), told: {} });

  async function told({ kind, content }: ReportContent): Promise<number> {
    if (kind === 'check') {
      return hub.writeCheck({ repository, headSha, name, externalId: id }, report?.githubId, content);
    }
    const at = { repository, commit: headSha, externalId: id };
    const made = report?.githubId ?? (await hub.makeDeployment(at, content));
    await hub.writeDeploymentStatus(at, made, content);
    return made;
  }
}
