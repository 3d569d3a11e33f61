import { basename } from 'node:path';
import type { RevisionPackages } from '../../../contract/control/revision-packages.ts';
import { readKeptPackages } from '../builds/python/kept-packages.ts';
import type { ServiceSettings } from '../service/settings.ts';
import { tenantFinders } from './service.ts';

/** What a revision was built with: an addition of ours. */
export function packageOperations(settings: ServiceSettings) {
  const { ownRevision } = tenantFinders(settings);
  const { pythonPackages } = settings;
  return {
    async listRevisionPackages(id: string, revisionId: string): Promise<RevisionPackages> {
      const path = `/v2/deployments/${id}/revisions/${revisionId}/packages`;
      const call = { operation: 'list revision packages', method: 'GET', path };
      const { id: own, build_folder, redeploy_of } = await ownRevision(call, id, revisionId);
      // They are kept by the build, which several revisions may use, and which may have been removed.
      const builds = [build_folder === null ? null : basename(build_folder), own, redeploy_of];
      for (const build of builds) {
        const kept = build === null ? undefined : pythonPackages?.(build);
        if (kept !== undefined) return readKeptPackages(kept);
      }
      return { python: null, packages: [] };
    },
  };
}
