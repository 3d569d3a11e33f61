// Builds dist/ for the Action, and what is made from the tables of fields and inputs: action.yml, the tables of the pages,
// and the schemas of the deploy file, which editors read, and of receipts. All of it is committed.
//   npm run build
//   node scripts/ready.mjs scripts/build.ts --package    bin/lib, with the console and the guide, and bin/agent; npm runs it before it packs
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'rolldown';
import { builds, outputs, type Product } from '../rolldown.config.ts';
import { bundleConsole } from '../src/services/control/console/bundle.ts';
import { writeDeployFileSchema } from './deploy-file-schema.ts';
import { writeReceiptSchema } from './receipt-schema.ts';
import { writeGuide } from './guide/write.ts';
import { writeReferenceTables } from './reference-tables.ts';

/** Builds a product below `base`, from nothing. */
export async function buildInto(base: string, product: Product): Promise<void> {
  const folder = outputs(base)[product];
  await rm(folder, { recursive: true, force: true });
  await build(builds(base)[product]);
  // People copy dist/ into a repository of theirs, whose own package.json may say that .js is CommonJS.
  if (product === 'action') await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
}

/** Writes the console beside the command line. */
async function writeConsole(base: string): Promise<void> {
  for (const [name, bytes] of await bundleConsole()) {
    const path = join(outputs(base).cli, 'console', name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }
}

if (import.meta.main) {
  const root = dirname(import.meta.dirname);
  if (process.argv.includes('--package')) {
    await buildInto(root, 'cli');
    await buildInto(root, 'agent');
    await writeConsole(root);
    await writeGuide(join(outputs(root).cli, 'guide'));
  } else {
    await buildInto(root, 'action');
    await writeDeployFileSchema(root);
    await writeReceiptSchema(root);
    await writeReferenceTables(root);
  }
}
