import { runAppProgram } from './program.ts';

await runAppProgram(async (resources) => {
  const { createAppWork } = await import('./create-app-work.ts');
  return createAppWork(resources);
});
