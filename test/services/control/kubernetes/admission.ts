/** Validation that the API server does beyond its schemas, as far as our objects need it. Pure. */
import * as z from 'zod';
import { isObject } from '../../../../src/kit/json-object.ts';
import type { Json } from './apply.ts';

const texts = z.record(z.string(), z.string()).default({});
const amounts = z.looseObject({ requests: texts, limits: texts }).prefault({});
const container = z.looseObject({
  name: z.string(),
  image: z.string().optional(),
  env: z
    .array(z.looseObject({ name: z.string(), value: z.string().default(''), valueFrom: z.unknown().optional() }))
    .default([]),
  resources: amounts,
  volumeMounts: z.array(z.looseObject({ name: z.string() })).default([]),
  ports: z.array(z.looseObject({ name: z.string().optional() })).default([]),
  imagePullPolicy: z.enum(['Always', 'Never', 'IfNotPresent']).optional(),
  restartPolicy: z.string().optional(),
});
const podSpec = z.looseObject({
  containers: z.array(container).min(1),
  initContainers: z.array(container).default([]),
  volumes: z.array(z.looseObject({ name: z.string() })).default([]),
});
const meta = z.looseObject({ name: z.string().default(''), labels: texts, annotations: texts });
const workload = z.looseObject({
  replicas: z.number().default(1),
  selector: z.looseObject({ matchLabels: texts }),
  template: z.looseObject({ metadata: meta.prefault({}), spec: podSpec }),
});
const scaler = z.looseObject({ minReplicas: z.number().default(1), maxReplicas: z.number() });

const dnsLabel = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const serviceName = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const subdomain = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const labelName = /^([A-Za-z0-9][-\w.]*)?[A-Za-z0-9]$/;
const quantity = /^\d+(\.\d+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;
const factors: Record<string, number> = {
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** A quantity as a number: cores or bytes. */
function amountOf(text: string): number {
  const [, number = '', unit = ''] = /^([\d.]+)(.*)$/.exec(text) ?? [];
  return Number(number) * (factors[unit] ?? 1);
}

/** Validation errors of the API server for an object; `before` is its former state. Every error starts with the field. */
export function admissionProblems(object: Json, before: Json | undefined): string[] {
  const { kind, spec } = object;
  const { name, labels } = meta.parse(object['metadata']);
  const form = kind === 'Service' ? serviceName : subdomain;
  const longest = kind === 'Service' ? 63 : 253;
  const problems = form.test(name) && name.length <= longest ? [] : [`metadata.name: Invalid value: "${name}"`];
  problems.push(...labelProblems('metadata.labels', labels));
  if (kind === 'Deployment' || kind === 'StatefulSet') {
    const { replicas, selector, template } = workload.parse(spec);
    if (replicas < 0) problems.push('spec.replicas: must be greater than or equal to 0');
    for (const [key, value] of Object.entries(selector.matchLabels)) {
      if (template.metadata.labels[key] !== value) {
        problems.push('spec.template.metadata.labels: Invalid value: `selector` does not match template `labels`');
      }
    }
    problems.push(...labelProblems('spec.template.metadata.labels', template.metadata.labels));
    problems.push(...podProblems(template.spec, 'spec.template.spec'));
    problems.push(...fixed(['selector'], spec, before?.['spec']));
    if (kind === 'StatefulSet')
      problems.push(...fixed(['serviceName', 'podManagementPolicy', 'volumeClaimTemplates'], spec, before?.['spec']));
  }
  if (kind === 'HorizontalPodAutoscaler') {
    const { minReplicas, maxReplicas } = scaler.parse(spec);
    if (minReplicas < 1) problems.push('spec.minReplicas: must be greater than or equal to 1');
    if (maxReplicas < minReplicas) problems.push('spec.maxReplicas: must be greater than or equal to `minReplicas`');
  }
  if (kind === 'PersistentVolumeClaim') problems.push(...claimProblems(spec, before?.['spec']));
  return problems;
}

function labelProblems(at: string, labels: Record<string, string>): string[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const parts = key.split('/');
    const isKey =
      parts.length <= 2 && labelName.test(parts.at(-1) ?? '') && (parts.length === 1 || subdomain.test(parts[0] ?? ''));
    const isValue = value === '' || (labelName.test(value) && value.length <= 63);
    return isKey && isValue ? [] : [`${at}: Invalid value: "${isKey ? value : key}"`];
  });
}

function podProblems({ containers, initContainers, volumes }: z.infer<typeof podSpec>, at: string): string[] {
  const problems: string[] = [];
  const names = new Set<string>();
  for (const [field, all] of [
    ['containers', containers],
    ['initContainers', initContainers],
  ] as const) {
    for (const [index, one] of all.entries()) {
      const here = `${at}.${field}[${index}]`;
      if (!dnsLabel.test(one.name) || one.name.length > 63) problems.push(`${here}.name: Invalid value: "${one.name}"`);
      if (names.has(one.name)) problems.push(`${here}.name: Duplicate value: "${one.name}"`);
      names.add(one.name);
      if (!one.image) problems.push(`${here}.image: Required value`);
      if (one.restartPolicy !== undefined && (field === 'containers' || one.restartPolicy !== 'Always')) {
        problems.push(`${here}.restartPolicy: Forbidden: may not be set for non-init containers`);
      }
      problems.push(...containerProblems(one, here, new Set(volumes.map(({ name }) => name))));
    }
  }
  const given = volumes.map(({ name }) => name);
  for (const name of given.filter((one, index) => given.indexOf(one) !== index)) {
    problems.push(`${at}.volumes: Duplicate value: "${name}"`);
  }
  return problems;
}

function containerProblems(one: z.infer<typeof container>, here: string, volumes: ReadonlySet<string>): string[] {
  const problems: string[] = [];
  for (const { name, value, valueFrom } of one.env) {
    if (!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name)) problems.push(`${here}.env.name: Invalid value: "${name}"`);
    if (value !== '' && isObject(valueFrom))
      problems.push(`${here}.env.valueFrom: may not be specified when \`value\` is not empty`);
  }
  const { requests, limits } = one.resources;
  for (const [name, amount] of [...Object.entries(requests), ...Object.entries(limits)]) {
    if (!quantity.test(amount)) problems.push(`${here}.resources.${name}: Invalid value: "${amount}"`);
  }
  for (const [name, amount] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit !== undefined && amountOf(amount) > amountOf(limit)) {
      problems.push(
        `${here}.resources.requests: Invalid value: "${amount}": must be less than or equal to ${name} limit of ${limit}`,
      );
    }
  }
  for (const { name } of one.volumeMounts) {
    if (!volumes.has(name)) problems.push(`${here}.volumeMounts.name: Not found: "${name}"`);
  }
  return problems;
}

const claim = z.looseObject({ resources: z.looseObject({ requests: z.looseObject({ storage: z.string() }) }) });

function claimProblems(spec: unknown, before: unknown): string[] {
  const size = (of: unknown): number => amountOf(claim.parse(of).resources.requests.storage);
  const problems = fixed(['accessModes', 'storageClassName'], spec, before);
  if (before === undefined || size(spec) >= size(before)) return problems;
  return [...problems, 'spec.resources.requests.storage: Forbidden: field can not be less than previous value'];
}

function fixed(fields: readonly string[], spec: unknown, before: unknown): string[] {
  if (!isObject(spec) || !isObject(before)) return [];
  return fields
    .filter((field) => JSON.stringify(spec[field]) !== JSON.stringify(before[field]))
    .map((field) => `spec.${field}: Invalid value: field is immutable`);
}
