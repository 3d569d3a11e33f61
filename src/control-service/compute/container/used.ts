import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Which deployments something was made for by an engine: known also while the engine is away, and after a new start. An
 * empty file of the deployment's id says so.
 *
 * @param folder made when it is needed first.
 */
export function usedBy(folder: string): {
  /** To be called before anything is made for it. */
  note(deploymentId: string): Promise<void>;
  has(deploymentId: string): boolean;
  /** To be called when nothing is left of it. */
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
