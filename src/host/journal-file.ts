import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import type { Mode } from '../deploy/file/entry-options.ts';
import { inputProblem } from '../deploy/file/inputs.ts';
import type { Environment } from '../deploy/file/secret-names.ts';
import { namedBy } from '../deploy/file/desired.ts';
import { type Journal, type JournalEntry, toJournalJson } from '../deploy/machine/journal.ts';
import type { Problem } from '../kit/diagnostics/problem.ts';
import { codeOf } from '../kit/errors.ts';
import { canonicalJson, isObject } from '../kit/json-object.ts';
import { fromJson } from '../kit/json-text.ts';
import type { DeployInputs } from './run-deployment.ts';
import { writeWhole } from './written-files.ts';

/** What a journal is about. A run goes on with one that is about the same. */
interface JournalSubject {
  /** The deployment and its service, as a digest. */
  deployment: string;
  /** What is deployed there: the mode, the commit, the fields and the secrets, as a digest. */
  content: string;
  /** Signs with the key of the service, without which nobody writes a journal. */
  seal: (text: string) => string;
}

/** A journal as it is written: what it is about, the process that writes it, and what it keeps until the run is over. */
interface JournalText extends Omit<JournalSubject, 'seal'> {
  version: 1;
  owner: { pid: number; host: string };
  kept?: JournalEntry | undefined;
}

/** Whether a text is a journal of this version. Its seal was checked already, so that nobody else wrote it. */
const isJournal = (value: unknown): value is JournalText => isObject(value) && value['version'] === 1;

type JournalInputs = Pick<DeployInputs, 'options' | 'subject' | 'workflow' | 'head' | 'commit' | 'tarball'>;

/** What a run is about. Its content is a digest that says nothing of the secrets to who does not have the key. */
function journalSubject({
  options: { baseUrl, tenantId, apiKey = '' },
  subject,
  workflow,
  head,
  commit,
  tarball,
}: JournalInputs): JournalSubject {
  const { deploymentId, name } = namedBy(subject);
  const seal = (text: string): string => createHmac('sha256', apiKey).update(text).digest('hex');
  const desired = 'desired' in subject ? subject.desired : undefined;
  return {
    deployment: createHash('sha256')
      .update(canonicalJson([baseUrl, tenantId, deploymentId ?? name]))
      .digest('hex'),
    content: seal(canonicalJson([subject.mode, desired, commit ?? head ?? workflow?.sha, tarball?.digest])),
    seal,
  };
}

/** Where the command line keeps the journal of a deployment: in the folder that a system has for the state of programs. */
function usualJournal({ deployment }: JournalSubject, env: Environment): string {
  const folder = env['XDG_STATE_HOME'] || join(env['HOME'] || homedir(), '.local', 'state');
  return join(folder, 'landfall', 'deploys', `${deployment.slice(0, 32)}.json`);
}

/** What is in a file: nothing at all, no journal that was sealed with this key, or one. */
async function readJournal(path: string, { seal }: JournalSubject): Promise<JournalText | 'absent' | 'unreadable'> {
  try {
    const [journal = '', signature = ''] = (await readFile(path, 'utf8')).split('\n');
    const [seen, own] = [Buffer.from(signature), Buffer.from(seal(journal))];
    const isOurs = seen.length === own.length && timingSafeEqual(seen, own);
    const read = isOurs ? fromJson(journal) : undefined;
    return isJournal(read) ? read : 'unreadable';
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'absent' : 'unreadable';
  }
}

/** The journal of a run, and what an earlier one left there; or what is wrong with a run that has to go on with one. */
export type OpenedJournal =
  { ok: true; journal?: Journal; kept?: JournalEntry; note?: string } | { ok: false; problem: Problem };

/** The modes whose runs can be gone on with. */
const keptModes: ReadonlySet<string> = new Set(['deploy', 'rollback'] satisfies Mode[]);

/**
 * Opens the journal of a run. One that is named by `path` is gone on with where it is of the same deploy, and a cancelled
 * run leaves its held revision to the next one. The usual one is gone on with only by `resume`, which fails without one.
 */
export async function openJournal(
  run: JournalInputs,
  { path, resume, env }: { path: string | undefined; resume: boolean; env: Environment },
): Promise<OpenedJournal> {
  if (!keptModes.has(run.subject.mode)) return { ok: true };
  const subject = journalSubject(run);
  const file = path ?? usualJournal(subject, env);
  const found = await readJournal(file, subject);
  const kept = typeof found === 'object' ? found.kept : undefined;
  const journal = journalFile(file, subject, kept, { isOptional: path === undefined });
  if (path === undefined && !resume) return { ok: true, journal };
  if (found === 'unreadable') {
    const message = `${file} is there and is no journal that was written with this key: name another file, or remove it`;
    return { ok: false, problem: inputProblem('journal', message) };
  }
  if (found !== 'absent' && isOfAnother(found)) {
    const message = `process ${found.owner.pid} goes on with this run: wait for its end, or end it`;
    return { ok: false, problem: inputProblem(path === undefined ? 'resume' : 'journal', message) };
  }
  if (found === 'absent' || !kept) {
    const nothing = 'no interrupted run of this deployment was found: run this without --resume';
    return resume ? { ok: false, problem: inputProblem('resume', nothing) } : { ok: true, journal };
  }
  if (found.deployment === subject.deployment && found.content === subject.content) return { ok: true, journal, kept };
  const what = found.deployment === subject.deployment ? 'another commit or of other fields' : 'another deployment';
  const other = `the run that was interrupted at ${new Date(kept.at).toISOString()} was of ${what}`;
  return resume
    ? { ok: false, problem: inputProblem('resume', `${other}: run this without --resume`) }
    : { ok: true, journal, note: `${other}, and this run begins anew` };
}

/** Whether another process of this machine, which is still there, writes a journal. */
function isOfAnother({ owner: { pid, host } }: JournalText): boolean {
  if (host !== hostname() || pid === process.pid) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/**
 * A journal in a file that only its owner may read, and that is there whole or not at all. One that nobody asked for is
 * removed once nothing is left to go on with; another says so, as a copy of it may have been kept elsewhere.
 */
function journalFile(
  path: string,
  subject: JournalSubject,
  left: JournalEntry | undefined,
  { isOptional }: { isOptional: boolean },
): Journal {
  // Another process leaves it alone from the first write of this one on.
  let isOurs = false;
  const keep: Journal['keep'] = async (kept, redact) => {
    try {
      const found = isOurs && kept ? undefined : await readJournal(path, subject);
      if (typeof found === 'object' && isOfAnother(found)) throw new Error(`process ${found.owner.pid} writes ${path}`);
      if (isOptional && !kept) return await rm(path, { force: true });
      const owner = { pid: process.pid, host: hostname() };
      const { deployment, content, seal } = subject;
      const journal = toJournalJson({ version: 1, deployment, content, owner, kept } satisfies JournalText, redact);
      await writeWhole(path, `${journal}\n${seal(journal)}\n`, 0o600);
      isOurs = true;
    } catch (error) {
      // Where nobody asked for it, a machine without a folder for it is none of the deploy's concern.
      if (!isOptional) throw error;
    }
  };
  return { leavesHeld: !isOptional, left, keep };
}
