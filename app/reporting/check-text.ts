import { asCode, asCodeBlock } from '../../src/report/sanitize.ts';
import { logsSection, smokeSection } from '../../src/report/summary.ts';
import { timeline } from '../../src/report/timeline.ts';
import type { Intent } from '../reconcile/intent.ts';

/** The sections of a check's text, in escaped Markdown: plan, timeline, smoke tests, last log lines. */
export function textSections(intent: Intent): string[] {
  const seen = intent.rollout?.seen ?? [];
  return [
    planOf(intent),
    seen.length > 0 ? `### Timeline\n\n${asCodeBlock(timeline(seen))}` : '',
    smokeSection('Smoke tests', intent.verdict),
    logsSection(intent.end?.logs ? { logs: intent.end.logs } : {}),
  ].filter(Boolean);
}

function planOf({ decision, sending, terms, sends }: Intent): string {
  const name = asCode(terms.deploymentName, 100);
  if (decision?.kind === 'adopt') {
    return `### Plan: adopt\n\nRevision ${asCode(decision.revisionId)} is of this commit already: it is followed, none is made.`;
  }
  // Skip what was not decided or never sent: `sending` alone only says what would be sent.
  if (!sends && decision?.kind !== 'trigger') return '';
  if (terms.builder === 'service' && !sends) {
    return `### Plan: follow\n\nThe service makes the revision of ${name} by itself; nothing is sent.`;
  }
  return sending.kind === 'restate'
    ? `### Plan: patch\n\n| field | from | to | revision | why |\n|---|---|---|---|---|\n| ${asCode('source_revision_config.repo_ref')} | ${asCode(sending.repoRef)} | ${asCode(sending.repoRef)} | yes | stated again, so that its head is built |`
    : `### Plan: redeploy\n\nRevision ${asCode(sending.revisionId)} of ${name} is brought back; nothing is built from the branch.`;
}
