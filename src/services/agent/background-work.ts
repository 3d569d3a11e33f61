import type { CronScheduler } from './crons/cron-scheduler.ts';
import type { Hold } from './runs/hold.ts';
import type { Recovery } from './runs/recovery.ts';
import type { RunExporter } from './tracing/run-exporter.ts';
import type { WebhookDelivery } from './webhooks/webhook-delivery.ts';

/** How long (ms) the shutdown may take to export and notify; the next process continues with the rest. */
const flushWithinMs = 1_000;

interface Sweep {
  begin(): void;
  end(): Promise<void>;
}

interface BackgroundDependencies {
  hold: Hold;
  recovery: Recovery;
  store: Sweep;
  sweep: Sweep;
  firing: CronScheduler;
  exporter: RunExporter | undefined;
  delivering: WebhookDelivery;
  endRuns: () => Promise<void>;
  close: () => Promise<void>;
}

/** What a serving instance does beside requests, until it ends. */
export class BackgroundWork {
  readonly #dependencies: BackgroundDependencies;
  #looking = Promise.resolve();
  #exporting = Promise.resolve();

  constructor(dependencies: BackgroundDependencies) {
    this.#dependencies = dependencies;
  }

  begin(): void {
    const { recovery, hold } = this.#dependencies;
    this.#looking = recovery.keepPolling();
    if (!hold.isHeld) this.#beginSharedWork();
  }

  async endHold(how: 'promote' | 'discard'): Promise<void> {
    const { hold } = this.#dependencies;
    if (!hold.isHeld) return;
    await hold[how]();
    if (how === 'promote') this.#beginSharedWork();
  }

  /** Takes part in the work that all processes of the deployment share, beside runs. */
  #beginSharedWork(): void {
    const { store, sweep, firing, exporter, delivering } = this.#dependencies;
    store.begin();
    sweep.begin();
    firing.begin();
    this.#exporting = exporter?.keepExporting() ?? this.#exporting;
    delivering.begin();
  }

  async end(): Promise<void> {
    const { recovery, store, sweep, firing, exporter, delivering, endRuns, close } = this.#dependencies;
    await firing.end();
    await endRuns();
    recovery.stop();
    await store.end();
    await sweep.end();
    await this.#looking;
    await exporter?.stop(flushWithinMs);
    await this.#exporting;
    await delivering.end(flushWithinMs);
    await close();
  }
}
