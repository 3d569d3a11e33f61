import { createHash } from 'node:crypto';
import type { Manifest } from './manifests.ts';

/** All inputs of an install. */
export interface InstallFacts {
  /** The command with its arguments. */
  command: readonly string[];
  managerVersion: string;
  /** `process.version` of the Node.js that runs install scripts. */
  nodeVersion: string;
  /** The target of compiled code: `linux-x64-glibc`. */
  platform: string;
  /** The variables that decide where packages come from, and with which credentials. */
  registry: Readonly<Record<string, string>>;
  /** The user that installs: entries that one user's processes wrote are never given to another. */
  uid: number | undefined;
  files: readonly Manifest[];
}

/** Increase it to invalidate all existing entries. */
const format = 1;

/** The name of a store entry: equal only where every input is equal. */
export function storeKey(facts: InstallFacts): string {
  const { command, managerVersion, nodeVersion, platform, registry, uid, files } = facts;
  const sorted = files
    .map(({ path, bytes }) => [path, createHash('sha256').update(bytes).digest('hex')] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  const settings = Object.entries(registry).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const all = [format, command, managerVersion, nodeVersion, platform, settings, uid ?? null, sorted];
  return createHash('sha256').update(JSON.stringify(all)).digest('hex');
}
