import { runAppProgram } from './program.ts';

await runAppProgram(async (resources) => {
  const { makeWork } = await import('./create-app-work.ts');
  return makeWork(resources);
});
