import type { AppContext, Target } from '../../../app/context.ts';
import type { InstallationRepository } from '../../../app/github/github-api.ts';
import { lookAtPull } from '../../../app/previews/look-at-pull.ts';
import type { PreviewContext } from '../../../app/previews/preview-context.ts';
import { previewJobs, pullJob } from '../../../app/previews/preview-store.ts';
import { workOnPreview } from '../../../app/previews/work-on-preview.ts';
import { type DeployFile, readDeployFile } from '../../../app/targets/file-entries.ts';
import { createOwnership } from '../../../app/targets/ownership.ts';
import { selectTargets } from '../../../app/targets/select-targets.ts';
import type { ReportLocks } from '../../../app/reporting/send-report.ts';
import { markOf, previewName } from '../../../src/deploy/rules/preview.ts';
import { judgeHere } from '../../../src/deploy/smoke/judge.ts';
import { previewed } from '../previews/a-preview.ts';
import { MemoryPreviews } from '../previews/memory-previews.ts';
import type { ModelJob } from './model-jobs.ts';
import type { ModelProcess } from './model-process.ts';
import { ownUrl } from './model-git.ts';
import type { Simulation } from './simulation.ts';
import { branch, repository } from './terms.ts';

/** What the deploy file says of previews. */
export interface PreviewSetting {
  when: string;
  expiresAfter: string;
  max: number;
}

const noFile: DeployFile = { entries: [], notes: [] };

function notThere(): never {
  throw new Error('no preview of these histories needs it');
}

/** What a simulation has for previews: their store, what the deploy file says of them, and their jobs. */
export class Previewing {
  readonly store: MemoryPreviews;
  /** The deployment that the previews are of. */
  readonly entry: string;
  /** The preview is taken out of the deploy file. */
  isOutOfFile = false;
  /** What the names of previews begin with, as the deploy file says. */
  base: string | undefined;
  /** When the App was uninstalled (ms since the epoch). */
  uninstalledAt: number | undefined;
  readonly #world: Simulation;

  constructor(world: Simulation) {
    this.#world = world;
    this.store = new MemoryPreviews({
      now: () => world.clock.now(),
      send: (name, key, at) => world.jobs.send(name, JSON.stringify(key), at),
      putReports: (reports) => {
        for (const report of reports) void world.store.putReport(report);
      },
    });
    this.entry = world.deploymentIds.length > 0 ? 'd1' : 'support';
    if (world.setting.previews) this.#putOthers();
  }

  /** Deployments that are not the App's, whatever they are named and marked. */
  #putOthers(): void {
    const own = { repositoryId: repository.repositoryId, number: 1 };
    const foreign = markOf({ repositoryId: 99, number: 1, entry: 'x' });
    for (const [index, { name, mark }] of [
      { name: 'support', mark: undefined },
      { name: previewName({ ...own, entry: 'unmarked' }), mark: undefined },
      { name: 'of-another-repository', mark: foreign },
      { name: previewName({ ...own, repositoryId: 99, entry: 'x' }), mark: foreign },
    ].entries()) {
      this.#world.control.put(`e${index}000000-0000-4000-8000-000000000000`, {
        name,
        source: 'github',
        source_config: { repo_url: ownUrl },
        source_revision_config: { repo_ref: branch, graph_config_path: 'langgraph.json' },
        secrets: [
          { name: 'PRODUCTION_KEY', value: 'production-value' },
          ...(mark === undefined ? [] : [{ name: 'LANDFALL_PREVIEW', value: mark }]),
        ],
      });
    }
  }

  /** What the App's other work has of previews. */
  forApp(process: ModelProcess): Pick<AppContext, 'previews' | 'previewFile'> {
    if (!this.#world.setting.previews) return {};
    return { previews: process.reaching('store', this.store), previewFile: this.#reached(process).deployFile };
  }

  contextOf(process: ModelProcess, context: AppContext, locks: ReportLocks): PreviewContext {
    const { clock, random, githubApi, agentAt, log } = context;
    return {
      clock,
      random,
      previews: process.reaching('store', this.store),
      githubApi,
      control: process.reaching('control', this.#world.control),
      agentAt,
      judge: judgeHere,
      gradersOf: () => ({ judge: notThere, similarity: notThere, close: async () => undefined }),
      ...this.#reached(process),
      secretOf: (_, name) => ({ OWN_KEY: 'preview-value', FORK_KEY: 'fork-value' })[name],
      hostedIdOf: (id) => id,
      refusalOf: () => undefined,
      locks,
      log,
      leaving: new AbortController().signal,
      serviceAddress: 'https://control.test',
      credentials: [],
    };
  }

  #reached(process: ModelProcess): Pick<PreviewContext, 'deployFile' | 'installed'> {
    const { deployFile, installed } = process.reaching('githubApi', {
      deployFile: async () => readDeployFile({ text: this.#file() }),
      installed: async (): Promise<ReadonlyMap<number, InstallationRepository>> =>
        new Map(this.uninstalledAt === undefined ? [[repository.repositoryId, repository]] : []),
    });
    return { deployFile, installed };
  }

  /** Works on one of its jobs. */
  async work({ name, id }: ModelJob, context: PreviewContext): Promise<void> {
    if (name === pullJob) await lookAtPull(JSON.parse(id), context);
    else await workOnPreview(JSON.parse(id), context, new AbortController().signal);
  }

  isItsJob = ({ name }: ModelJob): boolean =>
    name === pullJob || name === previewJobs.deploy || name === previewJobs.gone;

  /** What pushes would deploy beside the deployments that they are for, by the App's own selection. */
  strayTargets(): Target[] {
    const deployments = this.#world.control.alive
      .filter(({ id }) => !this.#world.deploymentIds.includes(id))
      .map((each) => each.response());
    const common = { builder: this.#world.setting.builder, timeoutMs: 30 * 60_000 };
    const ownership = createOwnership('github.com', []);
    const at = { repository, branch, defaultBranch: branch };
    return [...selectTargets({ ...at, deployments, areAll: true, file: noFile, ownership, common }).targets];
  }

  #file(): string {
    const { when, expiresAfter, max } = this.#world.setting.previews ?? { when: 'never', expiresAfter: '7d', max: 1 };
    if (this.isOutOfFile) return previewed('false', this.entry);
    const named = this.base === undefined ? '' : `name: ${this.base}, `;
    const terms = `when: ${when}, expires-after: ${expiresAfter}, max: ${max}`;
    return previewed(`{ ${named}${terms}, secrets: [OWN_KEY], fork-secrets: [FORK_KEY] }`, this.entry);
  }
}
