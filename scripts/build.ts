// Builds what people run, dist/ for the Action and bin/ for the command line, and the schema of the deploy file that
// their editors read. All are committed.
import { chmod, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'rolldown';
import { builds, outputs } from '../rolldown.config.ts';
import { writeDeployFileSchema } from './deploy-file-schema.ts';

/** Builds both products below `base`, from nothing. */
export async function buildInto(base: string): Promise<void> {
  for (const folder of Object.values(outputs(base))) await rm(folder, { recursive: true, force: true });
  for (const product of builds(base)) await build(product);
  // People copy dist/ into a repository of theirs, whose own package.json may say that .js is CommonJS.
  await writeFile(join(outputs(base).action, 'package.json'), '{ "type": "module" }\n');
  // npx runs what `bin` names as a program.
  await chmod(join(outputs(base).cli, 'landfall.cjs'), 0o755);
}

if (import.meta.main) {
  const root = dirname(import.meta.dirname);
  await buildInto(root);
  await writeDeployFileSchema(root);
}
