// In the place of what the Action never reaches (rolldown.config.ts). Of undici: HTTP/2, for our client keeps to HTTP/1.1
// everywhere, SOCKS, for it refuses every proxy that does not speak HTTP, and forms, for it sends JSON and archives. Of
// yaml: what edits a file, for ours are only read.
module.exports = function leftOut() {
  throw new Error('this part of a package is not in the bundle');
};
