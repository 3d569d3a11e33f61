import type { ReportContent } from '../../../app/work/report.ts';
import type { World } from '../../../app/world.ts';
import { branch, repository, type Delivery } from './house.ts';

/** What a delivery asks for, as the handlers understand it: heads are read, and every deployment of the branch gets a wish. */
export async function deliver({ guid, asks }: Delivery, world: World): Promise<void> {
  const { store, hub, targets, clock } = world;
  const cause = { kind: asks.kind, key: guid, at: clock.now() };
  const { targets: found } = await targets.targetsOf(repository, branch);
  if (asks.kind === 'push') {
    const head = await hub.head(repository, branch);
    const commits = new Set([head?.sha, asks.after].filter((sha) => sha !== undefined));
    for (const { deploymentId, terms } of found) {
      for (const commit of commits) {
        const sending = { kind: 'restate' as const, repoRef: branch };
        await store.wish({ deploymentId, repository, branch, commit, cause, terms, sending });
      }
    }
    return;
  }
  const target = found.find(({ deploymentId }) => deploymentId === asks.deploymentId);
  if (!target) return;
  const { deploymentId, terms } = target;
  const sending = asks.revisionId
    ? { kind: 'redeploy' as const, revisionId: asks.revisionId }
    : { kind: 'restate' as const, repoRef: branch };
  await store.wish({ deploymentId, repository, branch, commit: asks.commit, cause, terms, sending });
}

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
