import { beApp } from './program.ts';

await beApp(async (ground) => {
  const { makeWork } = await import('./work-of.ts');
  return makeWork(ground);
});
