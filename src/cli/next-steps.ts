import { connectControlService } from '../client/control.ts';
import type { EntryOptions } from '../deploy/file/entry-options.ts';
import type { SmokeTest } from '../deploy/file/smoke-test.ts';
import type { Outcome } from '../deploy/machine/outcome-types.ts';
import { asLine } from '../deploy/words/sanitize.ts';
import { steadyClock } from '../kit/clock.ts';
import { withoutTrailingSlashes } from '../kit/plain-text.ts';
import { version } from '../kit/version.ts';
import { consoleAddress } from './commands/open.ts';

/** The longest input that a command line shows. */
const maxInputLength = 400;

/** What a person does after a deploy: the page, a request to the agent, a question, its log. */
export function nextSteps(
  { deploymentUrl, deploymentId }: Outcome,
  about: { name: string | undefined; smokeTests: readonly SmokeTest[]; hasKeyVariable: boolean },
  page: string | undefined,
): string[] {
  if (deploymentUrl === undefined) return [];
  const { name, smokeTests, hasKeyVariable } = about;
  const url = withoutTrailingSlashes(asLine(deploymentUrl, 300));
  const { path, body } = exampleRequest(smokeTests);
  const known = name ?? deploymentId ?? '';
  const key = `printf 'X-Api-Key: %s\\n' "$LANDFALL_API_KEY"`;
  return [
    'Next:',
    ...(page === undefined ? [] : [`  page  ${page}`]),
    // The key of a login is no variable that curl could take it from.
    ...(hasKeyVariable
      ? [
          `  call  ${key} | curl -sS -H @- -H 'Content-Type: application/json' ${quoted(`${url}${path}`)} -d ${quoted(body)}`,
        ]
      : []),
    `  ask   landfall ask ${known} "…"`,
    `  logs  landfall logs ${known} -f`,
  ];
}

/** Whether the key of a command is that of the environment: a stored login has another one. */
export const isKeyVariable = (key: string | undefined, env: NodeJS.ProcessEnv): boolean =>
  Boolean(key?.trim()) && key?.trim() === env['LANDFALL_API_KEY']?.trim();

/** The run of the first smoke test; without one the assistants are listed, because no input is known. */
function exampleRequest(smokeTests: readonly SmokeTest[]): { path: string; body: string } {
  for (const { assistant, input } of smokeTests) {
    const body = JSON.stringify({ assistant_id: assistant, input });
    if (body.length <= maxInputLength) return { path: '/runs/wait', body };
  }
  return { path: '/assistants/search', body: '{}' };
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** How long the address of the console is waited for (ms). */
const readMs = 5_000;

/** The console's page of the deployment; undefined where the service has none, or does not say so in time. */
export async function pageAfter(
  { deploymentId, consolePage }: Outcome,
  options: Pick<EntryOptions, 'baseUrl' | 'apiKey' | 'tenantId' | 'allowHttp' | 'spelling'>,
): Promise<string | undefined> {
  if (consolePage !== undefined || deploymentId === undefined) return undefined;
  const control = connectControlService({ ...options, userAgent: `landfall-cli/${version}` });
  const features = () => control.features({ deadline: steadyClock.now() + readMs });
  try {
    return await consoleAddress({ id: deploymentId }, { control: { features }, baseUrl: options.baseUrl });
  } catch {
    return undefined;
  } finally {
    await control.close();
  }
}
