import type { Clock } from '../../kit/clock.ts';
import type { SmokeTest } from '../file/smoke-test.ts';
import { agentAddress, type Deployment } from '../../contract/control/deployment.ts';
import { classOfRevisionStatus } from '../../contract/control/revision-status.ts';
import type { Revision } from '../../contract/control/revision.ts';
import { allEntriesOf } from '../../contract/control/pages.ts';
import { textsToMask } from '../../contract/control/secret.ts';
import type { ControlService } from '../../contract/control/service.ts';
import { messageOf } from '../../kit/errors.ts';
import { holdStateOf } from '../rules/hold-state.ts';
import { notFoundByName } from '../words/outcomes.ts';
import type { Named } from '../file/desired.ts';
import { findDeployment } from '../machine/find-deployments.ts';
import { type KeptBaseline, readBaselines } from './kept-baselines.ts';
import { endOfTests } from './open-test.ts';
import { tryCall } from './try-call.ts';

/** An agent as it was requested: an address, a revision, or what the deployment has in its place. */
export type RequestedAgent =
  { kind: 'address'; address: string } | { kind: 'revision'; id: string } | { kind: 'usual' };

/** An agent to send tests to: at an address only, or of a revision that serves, or is held until `until`. */
export type ComparedAgent =
  | { kind: 'address'; address: string }
  | { kind: 'live'; address: string; revisionId: string }
  | { kind: 'held'; address: string; revisionId: string; until: number };

/** The answers of a revision that serves no more, which stand for it. */
export interface KeptAnswers {
  kind: 'kept';
  revisionId: string;
  answers: ReadonlyMap<SmokeTest, KeptBaseline>;
}

/** The agents, and the deployment that has them; or why one can't be compared, in two sentences. */
export type FoundAgents =
  | { ok: true; live: ComparedAgent | KeptAnswers; changed: ComparedAgent; deployment?: Deployment }
  | { ok: false; which: 'live' | 'new' | 'deployment'; problem: string };

/** Where agents are looked for. */
export interface AgentSearch {
  live: RequestedAgent;
  changed: RequestedAgent;
  tests: readonly SmokeTest[];
  /** The control service and the deployment; undefined where both agents are addresses. */
  service: SearchedService | undefined;
  clock: Clock;
  signal?: AbortSignal | undefined;
  mask: (secret: string) => void;
  note: (text: string) => void;
}

interface SearchedService {
  deployment: Named;
  control: Pick<ControlService, 'getDeployment' | 'getRevision' | 'listDeployments' | 'listRevisions'> &
    Pick<ControlService, 'features' | 'getBaseline'>;
}

/** When the oldest of the answers were taken. */
export const takenAtOf = ({ answers }: KeptAnswers): string =>
  [...answers.values()].map(({ takenAt }) => takenAt).toSorted()[0] ?? '';

/** Why something can't be compared, in two sentences. */
class NotComparable extends Error {}

/** Finds the agents: two addresses, or revisions of a deployment. Rejects with the service's error. */
export async function findAgents(search: AgentSearch): Promise<FoundAgents> {
  const { live, changed, service } = search;
  if (live.kind === 'address' && changed.kind === 'address') return { ok: true, live, changed };
  if (!service) throw new Error('a revision is found at a service only');
  let which: 'live' | 'new' | 'deployment' = 'deployment';
  try {
    const found = await findDeployment(service.deployment, service.control, search.signal);
    if (!found.ok) throw new NotComparable(notFoundByName(service.deployment.name, found.matches));
    const { deployment } = found;
    for (const text of textsToMask(deployment.secrets)) search.mask(text);
    const within = { ...search, control: service.control, deployment };
    which = 'live';
    const former = await liveAgent(within);
    which = 'new';
    const latter = await newAgent(within);
    if ('revisionId' in former && 'revisionId' in latter && former.revisionId === latter.revisionId) {
      throw new NotComparable(
        `Revision ${latter.revisionId} would be compared with itself. Give another revision, or an address.`,
      );
    }
    return { ok: true, live: former, changed: latter, deployment };
  } catch (error) {
    if (!(error instanceof NotComparable)) throw error;
    return { ok: false, which, problem: error.message };
  }
}

type SearchWithin = AgentSearch & { control: SearchedService['control']; deployment: Deployment };

async function liveAgent(search: SearchWithin): Promise<ComparedAgent | KeptAnswers> {
  const { live, deployment, tests, note } = search;
  if (live.kind === 'address') return live;
  const id = live.kind === 'revision' ? live.id : deployment.active_revision_id;
  if (!id) {
    throw new NotComparable(`Deployment ${deployment.name} has no live revision. Deploy it first, or give an address.`);
  }
  const found = await agentOf(id, search);
  if (found.ok) return found.agent;
  const missed = (error: unknown): void =>
    note(`what is kept of revision ${id} could not be read: ${messageOf(error)}`);
  const context = { ...search, deploymentId: deployment.id, revisionId: id, missed };
  const answers = await readBaselines(tests, context);
  if (answers.size > 0) return { kind: 'kept', revisionId: id, answers };
  throw notServing(found.revision, deployment, ', and no answers of it to these smoke tests are kept');
}

async function newAgent(search: SearchWithin): Promise<ComparedAgent> {
  const { changed, control, deployment, signal } = search;
  if (changed.kind === 'address') return changed;
  if (changed.kind === 'revision') {
    const found = await agentOf(changed.id, search);
    if (found.ok) return found.agent;
    throw notServing(found.revision, deployment);
  }
  const revisions = await allEntriesOf((page) => control.listRevisions(deployment.id, page, { signal }));
  const held = revisions.flatMap((each) => heldAgent(each) ?? []);
  const [only, ...more] = held;
  if (only && more.length === 0) return only;
  if (only)
    throw new NotComparable(`Deployment ${deployment.name} has ${held.length} held revisions. Give the id of one.`);
  throw new NotComparable(`Deployment ${deployment.name} has no held revision. ${howToHold()}`);
}

/** The agent of a revision that answers at an address, or else the revision as it is. */
async function agentOf(
  id: string,
  { deployment, control, signal }: SearchWithin,
): Promise<{ ok: true; agent: ComparedAgent } | { ok: false; revision: Revision }> {
  if (id === deployment.active_revision_id) return { ok: true, agent: servingAgent(deployment, id) };
  const read = await tryCall(control.getRevision(deployment.id, id, { signal }));
  if (!read.ok && read.error.kind !== 'missing') throw read.error;
  if (!read.ok) {
    throw new NotComparable(
      `Deployment ${deployment.name} has no revision ${id}. Look at its revisions, and give the id of one.`,
    );
  }
  const agent = heldAgent(read.value);
  return agent ? { ok: true, agent } : { ok: false, revision: read.value };
}

function servingAgent(deployment: Deployment, revisionId: string): ComparedAgent {
  const address = agentAddress(deployment);
  if (address && URL.canParse(address)) return { kind: 'live', address, revisionId };
  throw new NotComparable(
    `The service does not report where revision ${revisionId} answers. Give the address of its agent instead.`,
  );
}

function heldAgent(revision: Revision): ComparedAgent | undefined {
  const hold = holdStateOf(revision);
  if (hold.kind !== 'held' || !URL.canParse(hold.address)) return undefined;
  return { kind: 'held', address: hold.address, revisionId: revision.id, until: endOfTests(hold.endsAt) };
}

const howToHold = (first = 'Deploy it'): string =>
  `${first}, held before traffic (\`verify: before-traffic\`, or the header Landfall-Hold), and compare it while it is held.`;

/** That a revision serves nowhere: what it is, and what to do. */
function notServing(revision: Revision, deployment: Deployment, more = ''): NotComparable {
  const { id, status } = revision;
  const hold = holdStateOf(revision);
  const kind = classOfRevisionStatus(status);
  if (hold.kind === 'pending') {
    return new NotComparable(`Revision ${id} is not held yet (${status})${more}. Run this again once it is healthy.`);
  }
  if (kind === 'in-progress' || kind === 'unknown') {
    return new NotComparable(`Revision ${id} does not serve yet (${status})${more}. Run this again once it is live.`);
  }
  if (hold.kind === 'discarded') {
    return new NotComparable(
      `Revision ${id} was discarded before it got traffic${more}. ${howToHold('Deploy it again')}`,
    );
  }
  if (kind === 'failed') {
    return new NotComparable(
      `Revision ${id} failed (${status})${more}. Read its log, correct what it names, and deploy it again.`,
    );
  }
  const active = deployment.active_revision_id;
  const instead = active ? `: revision ${active} does` : '';
  return new NotComparable(
    `Revision ${id} does not serve (${status})${more}${instead}. ${howToHold('Deploy it again')}`,
  );
}
