import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectAuditLog } from '../client/audit-log.ts';
import { connectControlRecords } from '../client/records.ts';
import { receipt as receiptShape, type Receipt } from '../contract/receipt.ts';
import { verifyReceipt } from '../deploy/machine/verify-receipt.ts';
import { statementOf } from '../deploy/words/receipt.ts';
import { systemClock } from '../kit/clock.ts';
import type { DemoEnvironment } from './environment.ts';
import { edit } from './repository.ts';
import { graph, requestsTo, type Scenario } from './scenarios.ts';
import { copyExample, upload } from './service-scenarios.ts';

const [planFile, receiptFile] = ['plan.json', 'receipt.json'];

/** A plan is refused once something else would be deployed, and applied as it was made; its receipt is checked. */
export const planScenario: Scenario = {
  title: 'a plan binds its deploy, which leaves a receipt',
  async play(environment, screen) {
    const folder = await copyExample(environment);
    const say = (words: string) => edit(join(folder, graph), /\$\{input\}[^`]*`/, `\${input}, ${words}\``);
    const step = (inputs: Record<string, string>) =>
      upload(environment, screen, folder, { ...inputs, 'plan-file': planFile });
    await say('as planned');
    const planned = await step({ mode: 'plan' });
    await say('as nobody planned');
    const refused = await step({});
    await say('as planned');
    const applied = await step({ receipt: receiptFile });
    const reply = await requestsTo(applied.outputs['deployment-url'] ?? '', environment.service).echo('world');
    const outcomes = [planned, refused, applied].map(({ outputs }) => outputs['outcome'] ?? 'none');
    const receipt = receiptShape.parse(JSON.parse(await readFile(join(folder, receiptFile), 'utf8')));
    const [genuine, forged] = [
      await refutedClaims(receipt, environment),
      await refutedClaims(edited(receipt), environment),
    ];
    screen.line(
      `   it says "${reply}"; of its receipt ${genuine.length} claims do not hold, of an edited one: ${forged.join()}`,
    );
    const isBound = outcomes.join() === 'planned,refused,deployed' && reply === 'hello world, as planned';
    return {
      isProven: isBound && genuine.length === 0 && forged.join() === 'source_digest',
      summary: outcomes.join(', '),
    };
  },
};

/** The same receipt for another folder. */
const edited = ({ predicate }: Receipt): Receipt =>
  statementOf({
    ...predicate,
    revision: predicate.revision && { ...predicate.revision, source_digest: `sha256:${'0'.repeat(64)}` },
  });

/** The claims of a receipt that the service contradicts. */
async function refutedClaims(receipt: Receipt, { control, service }: DemoEnvironment): Promise<string[]> {
  const { url: baseUrl, apiKey } = service;
  const settings = { baseUrl, apiKey, userAgent: 'landfall-demo' };
  const [records, audit] = [connectControlRecords(settings), connectAuditLog(settings)];
  try {
    const verifier = { service: baseUrl, control, records, audit, options: () => ({}), now: systemClock.now() };
    const { claims } = await verifyReceipt(receipt, false, verifier);
    return claims.filter(({ result }) => result === 'fails').map(({ claim }) => claim);
  } finally {
    await Promise.all([records.close(), audit.close()]);
  }
}
