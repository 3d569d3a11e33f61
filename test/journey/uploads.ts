// Tarballs of the talker that are uploaded to a deployment, and what the service acknowledged.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { uploadedFile } from '../../src/services/control/uploads/uploads.ts';
import { tarballOf } from '../services/control/builds/tarballs.ts';
import { linkPackages, linkScript } from '../installed-packages.ts';
import type { JourneyFixture } from './fixture.ts';

/** An upload with a 2xx response. */
export interface Uploaded {
  path: string;
  /** What its agent says. */
  word: string;
  sha256: string;
}

/** Makes a deployment of uploads, which has no source yet. @returns its id. */
export async function uploadDeployment(fixture: JourneyFixture, name: string): Promise<string> {
  const { id } = await fixture.control.createDeployment({
    name,
    source: 'internal_source',
    source_config: { install_command: linkPackages },
    source_revision_config: { graph_config_path: 'langgraph.json' },
    secrets: [],
  });
  return id;
}

/** Puts a tarball at a new address. @returns the response, whatever its status */
export async function putTarball(
  fixture: JourneyFixture,
  deploymentId: string,
  tarball: Buffer<ArrayBuffer>,
): Promise<{ status: number; text: string; path: string }> {
  const target = await fixture.control.requestUpload(deploymentId);
  const response = await fetch(target.upload_url, {
    method: 'PUT',
    headers: { 'content-type': 'application/gzip' },
    body: tarball,
    signal: AbortSignal.timeout(30_000),
  });
  return { status: response.status, text: await response.text(), path: target.object_path };
}

/** A client that uploads all the time, and the uploads that were acknowledged. */
export class UploadLedger {
  readonly acknowledged: Uploaded[] = [];
  /** Uploads without a 2xx, which promise nothing. */
  refused = 0;
  #count = 0;
  readonly #fixture: JourneyFixture;
  readonly #deploymentId: string;

  constructor(fixture: JourneyFixture, deploymentId: string) {
    this.#fixture = fixture;
    this.#deploymentId = deploymentId;
  }

  /** Uploads one tarball. Throws for any status but 2xx. */
  async upload(): Promise<Uploaded> {
    const word = `upload${++this.#count}`;
    const tarball = talker(word);
    const { status, text, path } = await putTarball(this.#fixture, this.#deploymentId, tarball);
    if (status >= 300) throw new Error(`${status} ${text}`);
    const uploaded = { path, word, sha256: createHash('sha256').update(tarball).digest('hex') };
    this.acknowledged.push(uploaded);
    return uploaded;
  }

  /** Uploads one after another until the signal aborts. */
  async write(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.upload().catch(() => {
        this.refused += 1;
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** The acknowledged uploads that the service does not store as they were sent. */
  missing(): string[] {
    return this.acknowledged
      .filter(({ path, sha256 }) => sha256 !== digestAt(uploadedFile(join(this.#fixture.folder, 'data'), path)))
      .map(({ path }) => `upload ${path}`);
  }
}

function digestAt(file: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(file)).digest('hex');
  } catch {
    return undefined;
  }
}

/** A tarball of the talker that says a word. */
function talker(word: string): Buffer<ArrayBuffer> {
  const folder = join(import.meta.dirname, 'agents/talker');
  const files = readdirSync(folder).map((name): [string, string] => [name, readFileSync(join(folder, name), 'utf8')]);
  const said = files.map(([name, text]): [string, string] => [name, text.replaceAll("'first'", `'${word}'`)]);
  return Buffer.from(tarballOf({ ...Object.fromEntries(said), 'link.mjs': linkScript }));
}
