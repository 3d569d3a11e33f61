import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../../cli/run-cli.ts';

/** Copies this checkout as it is, without its tests, and links its packages: a build there changes nothing here. */
export function copyCheckout(folder: string): void {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0');
  for (const name of names.filter((each) => each !== '' && !each.startsWith('test/'))) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(root, name), join(folder, name));
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}
