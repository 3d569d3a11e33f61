import { shortCommit } from '../../contract/control/repo-ref.ts';
import { chooseDeployments, refusalOfHead } from '../../deploy/commands/decide.ts';
import type { Outcome } from '../../deploy/machine/outcome-types.ts';
import { readRevisions } from '../../deploy/machine/steps/read-deployment.ts';
import { asCode, asMarkdown } from '../../deploy/words/sanitize.ts';
import { detailsOf } from '../../deploy/words/summary.ts';
import { candidatesOf, type WorkflowCandidate } from './candidates.ts';
import { readFile } from './github-reads.ts';
import { chosen, lookUp, ranTo, refuse, type Performance, type Performed } from './performance.ts';

/** Says what the deploy file of the pull request's head would change. That of a fork is not read. */
export async function plan(performance: Performance): Promise<Performed> {
  const { pull, github, only, file } = performance;
  if (pull.isFork) return refuse({ code: 'fork-plan' });
  const text = await readFile(file.path, pull.headSha, github);
  if (text === undefined) return refuse({ code: 'no-file', path: file.path });
  const changed = { text, path: file.path };
  const read = candidatesOf(changed, only, pull);
  if (!read.ok) return refuse(read.refusal);
  const { candidates, refused, branches } = read.found;
  const [wrong] = refused;
  if (wrong) return refuse({ code: 'deployment-refused', ...wrong });
  if (candidates.length === 0) return refuse({ code: 'no-deployment', branches });
  const runs: Outcome[] = [];
  for (const each of candidates) {
    runs.push(await performance.run({ mode: 'plan', ...chosen(each) }, {}, { file: changed }));
  }
  return worstOf(runs, sectionsOf(candidates, runs));
}

const sectionsOf = (candidates: readonly WorkflowCandidate[], runs: readonly Outcome[]): string =>
  candidates
    .map(({ target }, index) => {
      const run = runs[index];
      const title = `#### ${asMarkdown(target.terms.deploymentName, 100)}`;
      return [title, ...(run ? [asMarkdown(run.reason, 1000), detailsOf(run)] : [])].filter(Boolean).join('\n\n');
    })
    .join('\n\n');

/** The first of several runs that did not pass, else the last. */
function worstOf(runs: readonly Outcome[], details?: string): Performed {
  const worst = runs.find(({ passes }) => !passes) ?? runs.at(-1);
  return worst ? ranTo(worst, details) : refuse({ code: 'no-previews' });
}

/** Makes the previews of the head that is read now: of a fork only of the commit that the person names in full. */
export async function preview(performance: Performance): Promise<Performed> {
  const { command, pull, file, found } = performance;
  const refusal = refusalOfHead(command, pull);
  if (refusal) return refuse(refusal);
  const previewed = found.candidates.filter(({ entry }) => entry.preview !== undefined);
  const candidates = previewed.filter(({ entry }) => entry.desired.source !== 'internal_source');
  if (candidates.length === 0) return refuse({ code: previewed.length > 0 ? 'folder-preview' : 'no-previews' });
  const { headSha } = pull;
  const before = await performance.begin({ commit: headSha }, 'the pull request');
  if (before) return refuse(before);
  const runs: Outcome[] = [];
  for (const each of candidates) {
    const inputs = { mode: 'preview', ...chosen(each), ...(pull.isFork ? { 'approved-commit': headSha } : {}) };
    runs.push(await performance.run(inputs, { headSha }, { file }));
  }
  // The part of the preview in the same comment has the rest.
  return worstOf(runs, '');
}

/** Says what is live, on its way or held, of the deployment that is named, or of all. */
export async function status(performance: Performance): Promise<Performed> {
  const chosenOnes = chooseDeployments(performance.command, performance.found);
  if (!chosenOnes.ok) return refuse(chosenOnes.refusal);
  const lines: string[] = [];
  for (const each of chosenOnes.value) lines.push(await lineOf(each, performance));
  return { outcome: { kind: 'done', code: 'status-shown', details: lines.join('\n') } };
}

async function lineOf(candidate: WorkflowCandidate, performance: Performance): Promise<string> {
  const { target, branch } = candidate;
  const start = `- **${asMarkdown(target.terms.deploymentName, 100)}** (from ${asCode(branch)}):`;
  const { deployment, matches } = await lookUp(candidate, performance);
  if (!deployment) return `${start} ${matches > 1 ? 'the service has several of this name' : 'it does not exist yet'}`;
  const { live, latest } = await readRevisions(deployment, performance);
  const commit = live?.revision?.source_revision_config.repo_commit_sha;
  const of = commit ? ` of commit ${asCode(shortCommit(commit))}` : '';
  const serves = live ? `live is revision ${asCode(live.id)}${of}` : 'nothing is live';
  if (!latest || latest.id === live?.id) return `${start} ${serves}`;
  const isHeld = latest.hold?.ends_at && latest.hold.decision === null;
  const newest = isHeld ? 'is held before traffic' : `is the newest: ${asMarkdown(latest.status, 100)}`;
  return `${start} ${serves}; revision ${asCode(latest.id)} ${newest}`;
}
