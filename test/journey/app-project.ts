// One team's project on GitHub, deployed already: what its people do, and what they see of it.
import * as z from 'zod';
import type { Revision } from '../../src/contract/control/revision.ts';
import { checkName, commitCheckName } from '../../app/reconcile/report.ts';
import type { ShownRun } from '../../src/demo/github/people.ts';
import type { Clone } from '../demo/github/github.ts';
import type { DeploymentOfCommit } from '../demo/github/whole-github.ts';
import { people, type AppFixture } from './app-fixture.ts';

/** How a project differs from the usual. */
export interface ProjectOptions {
  /** Fields of the deploy file in addition to the defaults; `null` for a repository without one. */
  file?: Readonly<Record<string, unknown>> | null;
  /** The deployed branch; `main` when absent. The file is read from `main` in any case. */
  branch?: string;
}

/** A repository, its deployment with the first commit live, and a clone to push from. */
export interface Project {
  fullName: string;
  /** Of the deployment. */
  name: string;
  deploymentId: string;
  /** The commit that is live at the start. */
  first: string;
  clone: Clone;
  /** Commits these files. @returns the commit */
  commit(message: string, files?: Record<string, string>): Promise<string>;
  /** Commits and pushes. @returns the commit */
  push(message: string, files?: Record<string, string>): Promise<string>;
  /** The newest check run of the deployment on a commit; the one for the commit as a whole when a name is given. */
  check(commit: string, name?: string): Promise<ShownRun | undefined>;
  /** The same, once it is completed with this conclusion and its title matches. */
  concluded(commit: string, conclusion: string, title?: RegExp, name?: string): Promise<ShownRun>;
  /** All that a check run says: title, summary and text, as its page shows their signs. */
  wordsOf(run: Pick<ShownRun, 'id'>): Promise<string>;
  annotations(run: Pick<ShownRun, 'id'>): Promise<unknown>;
  /** Oldest first, without the one that was live at the start. */
  revisions(): Promise<Revision[]>;
  /** Resolves when the newest revision is being built. */
  building(): Promise<void>;
  /** The commit that serves. */
  liveCommit(): Promise<string | null | undefined>;
  /** The GitHub Deployments of a commit, oldest first. */
  deploymentsOf(commit: string): readonly DeploymentOfCommit[];
  /** The only one of a commit, once its last state is this. */
  deployed(commit: string, state: string): Promise<DeploymentOfCommit>;
  /** Resolves when the deployment has no open work and every delivery was processed. */
  quiet(): Promise<void>;
}

const shownOutput = z.object({
  output: z.object({ title: z.string(), summary: z.string(), text: z.string().nullable() }),
});

/** The smoke test of every project: its agent is greeted, and greets back. */
const saysHello = {
  name: 'says hello',
  assistant: 'talk',
  thread: true,
  input: { input: 'Ada' },
  expect: { values: [{ path: '$.said', equals: 'hello Ada' }] },
  attempts: 1,
};

/** Makes a project of an organization, deploys its first commit, and installs the App there. */
export async function openProject(fixture: AppFixture, owner: string, options: ProjectOptions = {}): Promise<Project> {
  const { demo, github, service } = fixture;
  const { file = {}, branch = 'main' } = options;
  const fullName = `${owner}/agents`;
  const name = `${owner}-talk`;
  const repoUrl = github.gitUrl(fullName);
  const entry = {
    source: 'github',
    'repo-url': repoUrl,
    'repo-ref': branch,
    'graph-config-path': 'langgraph.json',
    'build-on-push': true,
    'smoke-tests': [saysHello],
    ...file,
  };
  const from = await demo.files({
    'langgraph.json': JSON.stringify({ node_version: '24', graphs: { talk: './graph.ts:graph' } }),
    'says.txt': 'hello\n',
    ...(file === null ? {} : { '.github/landfall.yml': JSON.stringify({ deployments: { [name]: entry } }, null, 2) }),
  });
  const { head: first = '' } = await github.createRepository(fullName, { from, writers: [people.writer] });
  const clone = await demo.clone(fullName);
  if (branch !== 'main') {
    await clone.git('checkout', '--quiet', '-b', branch);
    await clone.push();
  }
  const { id } = await service.control.createDeployment({
    name,
    source: 'github',
    source_config: { repo_url: repoUrl, build_on_push: true },
    source_revision_config: { repo_ref: branch, graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  const deployment = () => service.control.getDeployment(id);
  await fixture.until('the first revision', async () => (await deployment()).active_revision_id !== null);
  await github.install(owner);
  const read = async (path: string): Promise<unknown> => {
    const headers = { authorization: `token ${github.tokenOf(people.admin)}` };
    return (await fetch(`${github.url}${path}`, { headers })).json();
  };
  const project: Project = {
    fullName,
    name,
    deploymentId: id,
    first,
    clone,
    commit: (message, files = { 'notes.txt': `${message}\n` }) => clone.commit(message, files),
    async push(message, files) {
      const commit = await project.commit(message, files);
      await clone.push();
      return commit;
    },
    async check(commit, wanted = checkName(name)) {
      return (await github.checkRuns(project.fullName, commit)).find((run) => run.name === wanted);
    },
    concluded: (commit, conclusion, title = /./, wanted = checkName(name)) =>
      fixture.untilSeen(project.fullName, `${wanted} of ${commit} to be ${conclusion} ${title}`, async () => {
        const run = await project.check(commit, wanted);
        return run?.status === 'completed' && run.conclusion === conclusion && title.test(run.title) ? run : undefined;
      }),
    annotations: ({ id: runId }) => read(`/repos/${project.fullName}/check-runs/${runId}/annotations`),
    async wordsOf({ id: runId }) {
      const { output } = shownOutput.parse(await read(`/repos/${project.fullName}/check-runs/${runId}`));
      const text = `${output.title}\n${output.summary}\n${output.text ?? ''}`;
      return text.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
    },
    async revisions() {
      return (await service.control.listRevisions(id, { limit: 100 })).resources.toReversed().slice(1);
    },
    async building() {
      await fixture.until(`${project.fullName} to be built`, async () => {
        return (await project.revisions()).at(-1)?.status === 'BUILDING';
      });
    },
    async liveCommit() {
      const { active_revision_id: active } = await deployment();
      return active ? (await service.control.getRevision(id, active)).source_revision_config.repo_commit_sha : null;
    },
    deploymentsOf: (commit) => github.deploymentsOf(project.fullName).filter(({ sha }) => sha === commit),
    deployed: (commit, state) =>
      fixture.untilSeen(project.fullName, `the deployment of ${commit} to be ${state}`, async () => {
        const made = project.deploymentsOf(commit);
        return made.length === 1 && made[0]?.statuses.at(-1)?.['state'] === state ? made[0] : undefined;
      }),
    async quiet() {
      await github.settled();
      await fixture.until(`${project.fullName} to be quiet`, async () => {
        const { resources, context: work } = fixture.app;
        const open = await resources.database.pool.query(
          `select 1 from pgboss.job where name like 'delivery%' and state in ('created', 'retry', 'active') limit 1`,
        );
        return open.rowCount === 0 && (await work.store.openIntents(id)).length === 0;
      });
    },
  };
  return project;
}

/** Name of the check for a commit as a whole. */
export const ofCommit = commitCheckName;
