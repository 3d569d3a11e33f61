import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Records which deployments an engine created something for, also while the engine is unavailable and across restarts: an
 * empty file per deployment id.
 *
 * @param folder created on first use.
 */
export function usedBy(folder: string): {
  /** Call before anything is created for it. */
  note(deploymentId: string): Promise<void>;
  has(deploymentId: string): boolean;
  /** Call when nothing is left of it. */
  forget(deploymentId: string): Promise<void>;
} {
  const fileOf = (deploymentId: string): string => join(folder, deploymentId);
  return {
    async note(deploymentId) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(fileOf(deploymentId), '');
    },
    has: (deploymentId) => existsSync(fileOf(deploymentId)),
    forget: (deploymentId) => rm(fileOf(deploymentId), { force: true }),
  };
}
