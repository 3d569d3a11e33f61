// Prints the tests that fail of each mutant, in their order. Each is a project of Vitest that changes the source as it is
// loaded, and not on the disk.
import { join, relative, sep } from 'node:path';
import { startVitest } from 'vitest/node';
import { mutants, type Mutant } from './mutants.ts';

const root = join(import.meta.dirname, '../../../..');

/** Loads the file of the mutant with its mistake. */
const plant = ({ file, from, to }: Mutant) => ({
  name: 'plant',
  enforce: 'pre' as const,
  transform(code: string, id: string): string | undefined {
    if (relative(root, id.split('?')[0] ?? '').replaceAll(sep, '/') !== file) return undefined;
    const [before, after, ...others] = code.split(from);
    if (before === undefined || after === undefined || others.length > 0) {
      throw new Error(`${file} has not once: ${from}`);
    }
    return `${before}${to}${after}`;
  },
});

const vitest = await startVitest(
  'test',
  [],
  {
    root,
    config: false,
    watch: false,
    reporters: [],
    pool: 'forks',
    maxWorkers: 2,
    // It would return sources without their mistakes, and keep those with them.
    fsModuleCache: false,
    projects: mutants.map((mutant) => ({
      plugins: [plant(mutant)],
      test: { name: mutant.name, include: [mutant.test] },
    })),
  },
  {},
  {},
);
const modules = vitest.state.getTestModules();
const failed = mutants.map(({ name }) => {
  const own = modules.filter(({ project }) => project.name === name);
  return own.flatMap(({ children }) => [...children.allTests('failed')].map(({ fullName }) => fullName));
});
await vitest.close();
// Failed tests are what is expected here.
process.exitCode = 0;
console.log(JSON.stringify(failed));
