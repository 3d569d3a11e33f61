// The tables of docs/app.md and docs/commands.md: the commands that comments give, and why one is refused.
import { commandNames, commands, usageOf } from '../src/deploy/commands/definitions.ts';
import type { CommandRefusal, WorkflowRefusals } from '../src/deploy/commands/outcomes.ts';
import { refusalWords } from '../src/deploy/commands/words.ts';
import { capitalized } from '../src/kit/plain-text.ts';
import { table } from './markdown-table.ts';

const [deployment, commit, head] = ['support', '1a2b3c4', '5d6e7f8'.repeat(6)];

const earlier = { field: 'environments', name: 'support-staging' };

/** What only a workflow refuses. */
const ofWorkflows = {
  edited: { code: 'edited' },
  'rerun-by-other': { code: 'rerun-by-other', login: 'octocat', by: 'mona' },
  'rights-unread': { code: 'rights-unread', login: 'mona' },
  'no-file': { code: 'no-file', path: '.github/landfall.yml' },
  'file-wrong': { code: 'file-wrong', text: '.github/landfall.yml:3:1: `admin` is not a field of a deployment' },
  'cancel-by-workflow': { code: 'cancel-by-workflow' },
  'fork-plan': { code: 'fork-plan' },
  'folder-preview': { code: 'folder-preview' },
  'checkout-outdated': { code: 'checkout-outdated', branch: 'main', head },
  'no-commit': { code: 'no-commit', deployment },
  'begun-before': { code: 'begun-before', deployment },
} as const satisfies { [Code in keyof WorkflowRefusals]: Extract<CommandRefusal, { code: Code }> };

/** An example of each refusal. */
export const refusalExamples: { [Code in CommandRefusal['code']]: Extract<CommandRefusal, { code: Code }> } = {
  'no-write': { code: 'no-write', login: 'mona', permission: 'read' },
  'not-admin': { code: 'not-admin', login: 'mona', deployment },
  'unknown-command': { code: 'unknown-command', written: '/deplyo', meant: 'deploy' },
  'unknown-argument': { code: 'unknown-argument', command: 'rollback', written: 'now' },
  'hidden-characters': { code: 'hidden-characters' },
  'too-long': { code: 'too-long', most: 300 },
  locked: { code: 'locked' },
  late: { code: 'late', minutes: 45 },
  'not-open': { code: 'not-open' },
  'closed-unmerged': { code: 'closed-unmerged' },
  'no-deployment': { code: 'no-deployment', branches: ['main', 'next'] },
  'unknown-deployment': { code: 'unknown-deployment', written: 'suport', meant: deployment, names: [deployment] },
  'several-deployments': { code: 'several-deployments', names: [deployment, 'sales'] },
  'deployment-refused': { code: 'deployment-refused', deployment, why: 'build_on_push is off at the service' },
  'branch-gone': { code: 'branch-gone', branch: 'main' },
  'not-head': { code: 'not-head', commit, head, branch: 'main' },
  'no-rollback': { code: 'no-rollback', deployment, why: { code: 'nothing-live' } },
  'nothing-live': { code: 'nothing-live', deployment },
  'no-tests': { code: 'no-tests', deployment },
  'too-many-tests': { code: 'too-many-tests', tests: 80, most: 60 },
  'nothing-to-cancel': { code: 'nothing-to-cancel', deployment },
  'too-late': { code: 'too-late', deployment, commit: head },
  'nothing-held': { code: 'nothing-held', deployment },
  'only-promoted': { code: 'only-promoted', deployment, from: 'support-staging' },
  'promoted-already': { code: 'promoted-already', deployment, commit: head },
  'earlier-missing': { ...earlier, code: 'earlier-missing', matches: 0 },
  'earlier-not-live': { ...earlier, code: 'earlier-not-live' },
  'earlier-other-commit': { ...earlier, code: 'earlier-other-commit', commit: undefined, live: undefined },
  'earlier-unproven': { ...earlier, code: 'earlier-unproven', commit: head, verdict: undefined },
  'hold-over': { code: 'hold-over', deployment, revisionId: 'r3' },
  'changed-since': { code: 'changed-since', deployment, revisionId: 'r4' },
  'commit-unknown': { code: 'commit-unknown', deployment, revisionId: 'r3' },
  'file-unread': { code: 'file-unread', deployment },
  'previews-unread': { code: 'previews-unread' },
  frozen: {
    code: 'frozen',
    deployment,
    command: 'deploy',
    environment: 'production',
    until: Date.UTC(2026, 11, 27),
    reason: 'Holidays',
  },
  'requested-since': { code: 'requested-since', deployment, commit: head },
  'nothing-to-approve': { code: 'nothing-to-approve', deployment, commit: head },
  'not-reviewer': { code: 'not-reviewer', login: 'mona', environment: 'production', names: ['octocat', 'acme/ops'] },
  'own-review': { code: 'own-review', login: 'mona', environment: 'production' },
  'team-unread': { code: 'team-unread', login: 'mona', environment: 'production', team: 'acme/ops' },
  'no-label': { code: 'no-label', label: 'preview' },
  'no-previews': { code: 'no-previews' },
  'fork-commit': { code: 'fork-commit', head },
  'not-pull-head': { code: 'not-pull-head', commit, head },
  'service-error': { code: 'service-error', text: 'get deployment: answered 403' },
  ...ofWorkflows,
};

/** What only the App refuses. */
const ofApp = new Set<CommandRefusal['code']>([
  'nothing-to-cancel',
  'too-late',
  'commit-unknown',
  'file-unread',
  'previews-unread',
  'no-label',
  'only-promoted',
  'promoted-already',
  'earlier-missing',
  'earlier-not-live',
  'earlier-other-commit',
  'earlier-unproven',
  'requested-since',
  'nothing-to-approve',
  'not-reviewer',
  'own-review',
  'team-unread',
]);

/** The example of a workflow: whether pushes build a deployment is of no concern to it. */
const refusedByWorkflow: CommandRefusal = {
  ...refusalExamples['deployment-refused'],
  why: 'the service has several deployments of this name: give its deployment-id in the deploy file',
};

const permitted = { any: 'any', open: 'open ones', kept: 'open and merged ones' };

/** The commands, with who may give them and where. */
export const commandTable = (isOfWorkflow = false): string =>
  table(
    ['command', 'what it does', 'on pull requests', 'who'],
    commandNames.flatMap((name) => {
      const { does: byApp, byWorkflow = byApp, on, acts } = commands[name];
      const does = isOfWorkflow ? byWorkflow : byApp;
      if (does === null) return [];
      return [[`\`${usageOf(name)}\``, does, permitted[on], acts ? 'write; `admins` for production' : 'write']];
    }),
  );

/** Each refusal with an example of what is said, and what to do. */
export const refusalTable = (isOfWorkflow = false): string =>
  table(
    ['refusal', 'for example', 'what to do'],
    Object.values(refusalExamples)
      .filter(({ code }) => (isOfWorkflow ? !ofApp.has(code) : !Object.hasOwn(ofWorkflows, code)))
      .map((example) => {
        const refusal = isOfWorkflow && example.code === refusedByWorkflow.code ? refusedByWorkflow : example;
        const { why, advice } = refusalWords(refusal);
        return [`\`${refusal.code}\``, capitalized(why), advice];
      }),
  );
