import { asSentence, capitalized } from '../../src/kit/plain-text.ts';
import { asCode, asLink, asMarkdown } from '../../src/deploy/words/sanitize.ts';
import { decisionWords, waitEndWords } from '../../src/deploy/words/decision.ts';
import type { Note } from '../../src/deploy/rules/note.ts';
import { noteText, notesOnBuild } from '../../src/deploy/words/note.ts';
import { consoleLink, notesSection } from '../../src/deploy/words/summary.ts';
import { durationText } from '../../src/deploy/words/verdict-table/words.ts';
import {
  awaitsApproval,
  type IntentFields,
  type IntentIn,
  type IntentOutcome,
  type IntentState,
  triesConversations,
} from '../reconcile/intent.ts';
import { elapsed, minutesLate, type CheckContext, type StateWords } from './title.ts';
import { isLiveInAnother } from './check-status.ts';
import { promotionSection } from './promotion-section.ts';
import { deploysCommit } from '../reconcile/deploy-request.ts';

/** The sections of a check's summary, in escaped Markdown; the first states the status in one sentence. */
export function summarySections<State extends IntentState>(intent: IntentIn<State>, about: CheckContext): string[] {
  const { rollout, end }: IntentFields = intent;
  return [
    sentences[intent.state](intent, about),
    adviceOf(intent),
    causeOf(intent),
    decisionOf(intent),
    ...(end ? standInOf(end) : []),
    factsOf(intent),
    promotionSection(intent),
    differencesOf(intent),
    notesSection([
      ...intent.terms.notes.map(shownNote),
      ...notesOnBuild(rollout ?? {}).map(noteText),
      ...conversationNotes(intent),
    ]),
  ].filter(Boolean);
}

const sentences: StateWords = {
  requested: () => 'This commit is recorded. The App reads the current state of the deployment next.',
  waiting: ({ branch, commit, decision }, { waitingFor }) =>
    waitingFor
      ? `Commit ${asCode(waitingFor.commit)}${waitingFor.revisionId ? ` (revision ${asCode(waitingFor.revisionId)})` : ''} is under way. It is finished first; then the newest commit of ${asCode(branch)} is built.`
      : decision?.kind === 'await'
        ? `Commit ${asCode(commit)} is deployed ${asMarkdown(waitEndWords(decision), 500)}. A newer commit takes its place.`
        : `The deployment is not free. Once it is, the newest commit of ${asCode(branch)} is built.`,
  paused: ({ decision }) =>
    `Nothing is deployed until a person presses **Redeploy**: ${asMarkdown(asSentence(decision ? decisionWords(decision) : 'the deployment is held after a rollback'), 1000)}`,
  measuring: ({ live }) =>
    `The live revision ${asCode(live.revisionId)} is sent the smoke tests first, because the answers of the new one are compared with its own. No revision is requested yet.`,
  sending: () =>
    'The request is on its way to the service. It is sent once. If no response arrives, the App checks the service for the revision.',
  expecting: ({ branch, deadline }) =>
    `The service builds pushes of ${asCode(branch)} by itself; its revision of this commit is looked for until ${new Date(deadline).toISOString()}.`,
  following: ({ rollout, terms }, { now }) => {
    const last = rollout.seen.at(-1);
    const message = rollout.statusMessage ? `: ${asMarkdown(asSentence(rollout.statusMessage), 1000)}` : '.';
    if (!last) return `The revision is made, and followed for at most ${durationText(terms.timeoutMs)}.`;
    return `The revision is ${asCode(last.status)}${elapsed(now - last.at)}${message}`;
  },
  testing: testedSentence,
  deciding: testedSentence,
  concluding: testedSentence,
  undoing: testedSentence,
  ended: ({ end }) => asMarkdown(asSentence(end.reason), 2000),
};

function testedSentence(intent: IntentFields): string {
  const { hold, terms } = intent;
  return hold
    ? `The revision is healthy and held: it gets no traffic until it is promoted, and is discarded at ${asMarkdown(hold.endsAt, 40)}. ${requested(terms.smokeTests.length)}${triedOf(intent)}.`
    : `The revision is live. ${requested(terms.smokeTests.length)}.`;
}

const requested = (tests: number): string =>
  tests === 0
    ? 'No smoke test is named for it'
    : `${tests} smoke test${tests === 1 ? ' runs' : 's run'} before this ends`;

const triedOf = (intent: IntentFields): string =>
  triesConversations(intent)
    ? `, and copies of the newest ${intent.terms.conversations?.newest} conversations are tried`
    : '';

const adviceOf = ({ end, state, sending, decision, terms }: IntentFields): string => {
  if (end?.advice && !isLiveInAnother(end)) return `**What to do:** ${asMarkdown(asSentence(end.advice), 2000)}`;
  if (state === 'paused')
    return `**What to do:** Press Redeploy once the agent is fixed. ${sending.kind === 'promote' ? 'Commits are promoted' : 'Pushes are deployed'} again from then on.`;
  if (state === 'waiting' && decision?.kind === 'await' && decision.code === 'frozen')
    return `**What to do:** Nothing: it goes on by itself at the end. What can't wait is deployed by the comment ${asCode(`/${terms.promotedFrom ? 'promote' : 'deploy'} ${terms.deploymentName} ignore-freeze`, 300)} on a pull request.`;
  if (awaitsApproval({ state, decision }))
    return '**What to do:** A reviewer of the environment presses **Approve**. A newer commit needs it again.';
  return end?.kind === 'unknown'
    ? '**What to do:** Look at the revisions of the deployment at the service. If none is of this commit, press Redeploy or Re-run.'
    : '';
};

function causeOf({ cause: { kind, by, lateMs }, sending }: IntentFields): string {
  const person = by === undefined ? 'A person' : asMarkdown(by, 100);
  const recovered =
    lateMs === undefined
      ? ''
      : `**Recovered, ${minutesLate(lateMs)} late**: the push was found by looking at the branch, not by its delivery.`;
  switch (kind) {
    case 'push':
    case 'promotion':
    case 'recovery':
      return recovered;
    case 'rerun':
      return `${person} requested ${sending.kind === 'test' ? 'its smoke tests; nothing was built' : 'a re-run'}.`;
    case 'redeploy':
      return `${person} requested ${sending.kind === 'promote' ? 'this promotion' : 'a redeploy'}.`;
    case 'rollback':
      return `${person} requested a rollback.`;
    case 'failure':
      return 'This goes back to the revision that served before a wrong answer.';
  }
}

const decisionOf = ({ decision, state }: IntentFields): string =>
  decision && state !== 'paused'
    ? `**Decision:** ${decision.kind}, because ${asMarkdown(asSentence(decisionWords(decision)), 1000)}`
    : '';

function standInOf(end: IntentOutcome): string[] {
  if (isLiveInAnother(end)) return [`It is live as part of commit ${asCode(end.liveIn ?? '')}.`];
  if (!end.by) return [];
  const { commit, contains } = end.by;
  const holds =
    contains === undefined
      ? 'whether it contains this one is unknown'
      : contains
        ? 'which contains this one; this check turns green once that one is live'
        : 'which does not contain this one';
  return [`In its place stands commit ${asCode(commit)}, ${holds}.`];
}

function factsOf({ revisionId, how, rollout, commit, agentUrl, consolePage, former, end }: IntentFields): string {
  const built = rollout?.builtCommit;
  const summary = how === undefined || how === 'triggered' ? '' : ` (${how}: it was there already)`;
  const facts = [
    revisionId ? `- Revision: ${asCode(revisionId)}${summary}` : '',
    built && built !== commit ? `- Built commit: ${asCode(built)}` : '',
    revisionId && former?.live ? `- Live before: ${asCode(former.live)}` : '',
    end?.rolledBackTo ? `- Serves again: ${asCode(end.rolledBackTo)}` : '',
    agentUrl ? `- Agent: ${asLink(agentUrl)}` : '',
    consolePage ? `- ${consoleLink(consolePage)}` : '',
  ];
  return facts.filter(Boolean).join('\n');
}

function differencesOf({ terms: { differences } }: IntentFields): string {
  if (differences.length === 0) return '';
  const value = (text: string | undefined): string => (text === undefined ? '' : asCode(text));
  return [
    '### The deploy file and the deployment differ',
    '',
    '| field | at the service | in the file |',
    '|---|---|---|',
    ...differences.map(({ field, from, to }) => `| ${asCode(field)} | ${value(from)} | ${value(to)} |`),
    '',
    'A push only builds; it changes no settings. Apply the file with the Action in a workflow of this repository, or with `npx landfall deploy`.',
  ].join('\n');
}

/** The App records no conversations before a change, so that only a held revision can be compared with the live one. */
function conversationNotes({ terms, sending, former, hold, verified, verdict, state }: IntentFields): string[] {
  const isTested = verdict !== undefined || state === 'testing';
  const isMeant = terms.conversations !== undefined && deploysCommit(sending) && !!former?.live;
  if (!isMeant || !isTested || hold || verified) return [];
  return [
    'The conversations are not tried: the App tries them only on a revision that is held before it gets traffic.',
  ];
}

const shownNote = (note: Note | string): string =>
  typeof note === 'string' ? note : note.code === 'uncompared' ? capitalized(noteText(note)) : noteText(note);
