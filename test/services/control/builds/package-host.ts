import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { Files } from './repositories.ts';
import { rawTarball } from './tarballs.ts';

/** A server that serves one package. */
export interface PackageHost {
  origin: string;
  /** The files of a repository that depends on the package, with its npm lock file. */
  files: Files;
  /** The `Authorization` header of every request, `none` where there was none. */
  authorizations: string[];
}

/** Serves a package `dep` with the given script as its `postinstall`. */
export async function packageHost(postinstall: string, atTheEnd: (() => void)[]): Promise<PackageHost> {
  const manifest = { name: 'dep', version: '1.0.0', scripts: { postinstall: 'sh postinstall.sh' } };
  const tarball = rawTarball([
    { path: 'package/package.json', text: JSON.stringify(manifest) },
    { path: 'package/postinstall.sh', text: postinstall },
  ]);
  const authorizations: string[] = [];
  const server = createServer((request, response) => {
    authorizations.push(request.headers.authorization ?? 'none');
    response.end(tarball);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  atTheEnd.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  const origin = `http://127.0.0.1:${address.port}`;
  const dependencies = { dep: '1.0.0' };
  const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
  const packages = {
    '': { name: 'agent', version: '1.0.0', dependencies },
    'node_modules/dep': { version: '1.0.0', resolved: `${origin}/dep.tgz`, integrity, hasInstallScript: true },
  };
  const lock = { name: 'agent', version: '1.0.0', lockfileVersion: 3, requires: true, packages };
  return {
    origin,
    authorizations,
    files: {
      'package.json': JSON.stringify({ name: 'agent', version: '1.0.0', dependencies }),
      'package-lock.json': JSON.stringify(lock),
    },
  };
}
