/** A container's environment in the forms that no process list and no file shows. */
export interface PassedEnvironment {
  /** Lines for `--env-file`. */
  file: string;
  /** Variables that the engine's command takes from its own environment, by their names. */
  inherited: Readonly<Record<string, string>>;
}

/** Variables that an engine's command reads itself: a container's variable must not override them. */
const readByEngines =
  /^(PATH|HOME|USER|LOGNAME|TMPDIR|TZ|LANG|LC_|XDG_|DOCKER_|BUILD|COMPOSE_|CONTAINER|PODMAN|STORAGE_|REGISTRY_|_|HTTPS?_PROXY|NO_PROXY|ALL_PROXY|https?_proxy|no_proxy|all_proxy|SSL_|SSH_|LD_|GO|NOTIFY_|LISTEN_|DBUS_|KUBE|OTEL_|CLICOLOR|NO_COLOR|TERM)/;
/** The longest line in bytes that engines read. */
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
