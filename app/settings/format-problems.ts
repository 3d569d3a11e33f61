import type { SettingProblem } from './read-settings.ts';

/** Formats configuration errors: every variable, what is wrong, and where to find its value. */
export function formatProblems(problems: readonly SettingProblem[], serviceless: boolean): string {
  const count = problems.length === 1 ? 'one variable is' : `${problems.length} variables are`;
  return [
    `The App did not start: ${count} missing or wrong. Set them in the environment or in a file .env here.`,
    '',
    ...problems.flatMap(({ variable, problem, where }) => [`  ${variable} ${problem}.`, `      ${where}`]),
    ...(serviceless ? ['', startOurs] : []),
  ].join('\n');
}

const startOurs = `No control service is named. To have one on this machine, run this in another terminal and copy what it prints:

  npm run local

    LANDFALL_BASE_URL is the address, LANDFALL_API_KEY the X-Api-Key, LANDFALL_TENANT_ID the X-Tenant-Id.`;
