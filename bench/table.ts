import { figureOf, targetWords, type Measured, type Times } from './figure.ts';

/** Measured figures as text for people: what was compared, the ratios, and whether the targets held. */
export function tableOf(measured: readonly Measured[]): string {
  return measured.map(block).join('\n');
}

function block(measured: Measured): string {
  const { figure, unit, ours, floor, peer, ratio_to_floor, ratio_to_peer } = figureOf(measured);
  const { notes, targets, spread, times } = measured;
  const noise = spread === undefined ? '' : `   rounds ±${Math.round(spread * 100)} %`;
  const line = (name: 'ours' | 'floor' | 'peer', value: number, ratio: number | null, what = '') =>
    [
      `  ${name.padEnd(6)}${number(value).padStart(12)}`,
      (ratio === null ? '' : `× ${ratio}`).padEnd(10),
      `${timed(times?.[name])}${what}`,
    ].join('  ');
  return [
    `${figure} (${unit})${noise}`,
    line('ours', ours, null, notes.ours),
    ...(floor === null ? [] : [line('floor', floor, ratio_to_floor, notes.floor)]),
    ...(peer === null ? [] : [line('peer', peer, ratio_to_peer, notes.peer)]),
    ...targets.map((target) => `  target ${targetWords(measured, target)}`),
    '',
  ].join('\n');
}

const timed = (times: Times | undefined): string =>
  times === undefined ? '' : `p50 ${shortly(times.p50)} ms, p99 ${shortly(times.p99)} ms; `;

const shortly = (value: number): string => String(Number(value.toPrecision(3)));

const number = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 4 });
