import { runAppProgram } from './program.ts';

await runAppProgram(async (resources) => {
  const { makeWork } = await import('./work-of.ts');
  return makeWork(resources);
});
