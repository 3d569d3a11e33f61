/** An environment on its way into a container, which no list of processes and no file ever shows. */
export interface PassedEnvironment {
  /** Lines for `--env-file`. */
  file: string;
  /** Variables that the engine's command takes out of its own environment, by their names. */
  inherited: Readonly<Record<string, string>>;
}

/** Names that an engine's command reads itself: a container's variable of that name must not become its own. */
const readByEngines =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LC_|XDG_|DOCKER_|BUILD|COMPOSE_|CONTAINER|PODMAN|STORAGE_|REGISTRY_|_|HTTPS?_PROXY|NO_PROXY|ALL_PROXY|https?_proxy|no_proxy|all_proxy|SSL_|SSH_|LD_|GO|NOTIFY_|LISTEN_|DBUS_|KUBE|OTEL_|CLICOLOR|NO_COLOR|TERM)/;
/** Longer lines than this many bytes engines do not read. */
const longestLine = 60_000;

/** Splits an environment into what fits on a line and what does not; returns the names that can't be passed at all. */
export function passEnvironment(
  env: Readonly<Record<string, string>>,
): { ok: true; passed: PassedEnvironment } | { ok: false; names: string[] } {
  const lines: string[] = [];
  const inherited: Record<string, string> = {};
  const names: string[] = [];
  for (const [name, value] of Object.entries(env)) {
    if (!/[\r\n]/.test(value) && Buffer.byteLength(value) < longestLine) lines.push(`${name}=${value}`);
    else if (!readByEngines.test(name)) inherited[name] = value;
    else names.push(name);
  }
  if (names.length > 0) return { ok: false, names };
  return { ok: true, passed: { file: lines.map((line) => `${line}\n`).join(''), inherited } };
}
