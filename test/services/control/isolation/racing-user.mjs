// A process of a deployment's user that keeps replacing its folders with symlinks to other ones and creating files
// while the service removes them. Prints `ready` once all folders exist.
//
//   racing-user.mjs <outside> <folder>…
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';

const [outside, ...folders] = process.argv.slice(2);
const attempt = (work) => {
  try {
    work();
  } catch {
    // The service removed it first or owns the folder now.
  }
};
let round = 0;
function exchange(folder) {
  const at = (name) => `${folder}/${name}`;
  round += 1;
  for (const name of ['entry.json', 'HEAD', 'node_modules']) {
    attempt(() => mkdirSync(at(`${name}/kept/${round % 7}`), { recursive: true }));
    attempt(() => writeFileSync(at(`${name}/kept/index.js`), 'of the user'));
    attempt(() => symlinkSync(outside, at(`${name}.link`)));
    attempt(() => renameSync(at(name), at(`${name}.aside`)));
    attempt(() => renameSync(at(`${name}.link`), at(name)));
    attempt(() => rmSync(at(name)));
    attempt(() => renameSync(at(`${name}.aside`), at(name)));
    // Replaces the folder below while the parent stays.
    attempt(() => renameSync(at(`${name}/kept`), at(`${name}/moved`)));
    attempt(() => symlinkSync(`${outside}/node_modules/kept`, at(`${name}/kept`)));
    attempt(() => rmSync(at(`${name}/kept`)));
    attempt(() => renameSync(at(`${name}/moved`), at(`${name}/kept`)));
  }
}
for (const folder of folders) exchange(folder);
console.log('ready');
for (;;) for (const folder of folders) exchange(folder);
