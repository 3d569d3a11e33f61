import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { inputProblem } from '../deploy/file/inputs.ts';
import type { Desired } from '../deploy/file/desired.ts';
import type { Environment } from '../deploy/file/secret-names.ts';
import { namedBy } from '../deploy/file/desired.ts';
import type { Prepared } from '../deploy/machine/deploy-state.ts';
import type { Journal, KeptDeploy } from '../deploy/machine/journal.ts';
import type { RequestedCommit } from '../deploy/rules/commit.ts';
import type { Note } from '../deploy/rules/note.ts';
import type { ReportedPlan } from '../deploy/words/plan.ts';
import type { Rollout } from '../deploy/rules/rollout-types.ts';
import type { Sample, Verdict } from '../deploy/rules/verdict-types.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import { canonicalJson, isObject } from '../kit/json-object.ts';
import { fromJson } from '../kit/json-text.ts';
import type { DeployInputs } from './run-deployment.ts';

/** What a journal is about. A run goes on with one that is about the same. */
interface JournalSubject {
  /** The deployment and its service, as a digest. */
  deployment: string;
  /** What is deployed there: the mode, the commit and the fields, but no value of a secret; as a digest. */
  content: string;
}

const text = z.string();
const own = z.object({
  deploymentId: text,
  revisionId: text,
  how: z.enum(['created', 'patched', 'adopted', 'redeployed']),
  ownsHold: z.boolean(),
});
const result = z.object({
  verdict: z.custom<Verdict>((value) => isObject(value) && Array.isArray(value['tests'])),
  verified: z.enum(['before-traffic', 'after-traffic']),
});
const prepared = z.custom<Prepared>(
  (value) => isObject(value) && isObject(value['change']) && isObject(value['sought']),
);
const restoring = { undone: z.object({ own, result }).optional(), deploymentId: text, target: text };

const keptState = z.discriminatedUnion('state', [
  z.object({ state: z.literal('sending'), tries: z.number(), prepared, key: text }),
  z.object({ state: z.literal('following'), own }),
  z.object({ state: z.literal('held'), own, address: text, endsAt: text }),
  z.object({
    state: z.literal('deciding'),
    own,
    decision: z.enum(['promoted', 'discarded']),
    result: result.optional(),
  }),
  z.object({ state: z.literal('decided'), own, result: result.optional() }),
  z.object({ state: z.literal('live'), own, result: result.optional() }),
  z.object({
    state: z.literal('restoring'),
    ...restoring,
    former: text.nullable(),
    key: text,
    mayBeSent: z.boolean(),
  }),
  z.object({ state: z.literal('returning'), ...restoring, revisionId: text }),
]) satisfies z.ZodType<KeptDeploy['deploy']>;

const fileSchema = z.object({
  version: z.literal(1),
  deployment: text,
  content: text,
  kept: z.object({
    at: z.number(),
    deploy: keptState,
    plan: z.custom<ReportedPlan>(isObject).optional(),
    commit: z.custom<RequestedCommit>(isObject).optional(),
    formerLive: text.optional(),
    before: z.object({ of: text, answers: z.array(z.tuple([text, z.array(z.custom<Sample>(isObject))])) }).optional(),
    rollout: z.custom<Rollout>(isObject).optional(),
    changed: z.boolean(),
    notes: z.array(z.custom<Note>(isObject)),
  }) satisfies z.ZodType<KeptDeploy>,
});

const digest = (value: unknown): string => createHash('sha256').update(canonicalJson(value)).digest('hex');

type JournalInputs = Pick<DeployInputs, 'options' | 'subject' | 'workflow' | 'head' | 'commit' | 'tarball'>;

/** What a run is about. */
function journalSubject({
  options: { baseUrl, tenantId },
  subject,
  workflow,
  head,
  commit,
  tarball,
}: JournalInputs): JournalSubject {
  const { deploymentId, name } = namedBy(subject);
  const { secrets = [], ...fields }: Partial<Desired> = 'desired' in subject ? subject.desired : {};
  return {
    deployment: digest({ baseUrl, tenantId, deployment: deploymentId ?? name }),
    content: digest({
      mode: subject.mode,
      fields,
      secrets: secrets.map((secret) => secret.name),
      commit: commit ?? head ?? workflow?.sha,
      folder: tarball?.digest,
    }),
  };
}

/** Where the command line keeps the journal of a deployment: in the folder that a system has for the state of programs. */
function usualJournal({ deployment }: JournalSubject, env: Environment): string {
  const folder = env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state');
  return join(folder, 'landfall', 'deploys', `${deployment.slice(0, 32)}.json`);
}

/** What an interrupted run left: nothing, something that can't be read or is about something else, or what is gone on with. */
type FoundJournal =
  { kind: 'none' } | { kind: 'unreadable' } | { kind: 'other'; at: number } | { kind: 'same'; kept: KeptDeploy };

/** Reads the journal of a run. */
async function readJournal(path: string, { deployment, content }: JournalSubject): Promise<FoundJournal> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return { kind: 'none' };
  const read = fileSchema.safeParse(fromJson(text));
  if (!read.success) return { kind: 'unreadable' };
  const { kept } = read.data;
  const isSame = read.data.deployment === deployment && read.data.content === content;
  return isSame ? { kind: 'same', kept } : { kind: 'other', at: kept.at };
}

/** The journal of a run, and what an earlier one left there; or what is wrong with a run that has to go on with one. */
export type OpenedJournal =
  { ok: true; journal: Journal; kept?: KeptDeploy; note?: string } | { ok: false; problem: Problem };

/**
 * Opens the journal of a run. One that was asked for is gone on with where it is of the same deploy, and its held
 * revision is left to the next run on cancellation; the usual one only with `resume`, which refuses to begin anew.
 */
export async function openJournal(
  run: JournalInputs,
  { path, resume, env }: { path: string | undefined; resume: boolean; env: Environment },
): Promise<OpenedJournal> {
  const subject = journalSubject(run);
  const file = path ?? usualJournal(subject, env);
  const journal = journalFile(file, subject, { isOptional: path === undefined });
  if (path === undefined && !resume) return { ok: true, journal };
  const found = await readJournal(file, subject);
  if (found.kind === 'same') return { ok: true, journal, kept: found.kept };
  const why = whyNotResumed[found.kind](found.kind === 'other' ? new Date(found.at).toISOString() : file);
  if (resume) return { ok: false, problem: inputProblem('resume', `${why}: run this without --resume`) };
  return { ok: true, journal, ...(found.kind === 'none' ? {} : { note: `${why}, and this run begins anew` }) };
}

const whyNotResumed: Record<Exclude<FoundJournal['kind'], 'same'>, (what: string) => string> = {
  none: () => 'no interrupted run of this deployment was found',
  unreadable: (file) => `the journal ${file} cannot be read`,
  other: (at) => `the run that was interrupted at ${at} was of another commit or of other fields`,
};

/**
 * A journal in a file, that only its owner may read, and that is there whole or not at all. It is removed once nothing is
 * left to go on with.
 */
const journalFile = (path: string, subject: JournalSubject, { isOptional }: { isOptional: boolean }): Journal => ({
  leavesHeld: !isOptional,
  async keep(kept, redact) {
    const shown = (_: string, value: unknown): unknown => (typeof value === 'string' ? redact(value) : value);
    try {
      await (kept ? write(path, JSON.stringify({ version: 1, ...subject, kept }, shown)) : rm(path, { force: true }));
    } catch (error) {
      // Where nobody asked for it, a machine without a folder for it is none of the deploy's concern.
      if (!isOptional) throw error;
    }
  },
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(next, path);
}
