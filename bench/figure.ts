/** What a ratio should be; a figure may have none. */
export interface Target {
  /** `ours` over the floor, `ours` over the peer, `ours` itself in the figure's unit, or p99 over p50 of ours. */
  of: 'ours' | 'floor' | 'peer' | 'p50';
  most?: number;
  least?: number;
}

/** How long each of many took (ms): what half of them, and what all but the slowest hundredth, took at most. */
export interface Times {
  p50: number;
  p99: number;
}

/** One figure, measured in one run: ours, the least that the task can cost here, and what others take. */
export interface Measured {
  /** Its name, for example `poll-cpu`. */
  figure: string;
  /** What `ours`, `floor` and `peer` count, for example `us CPU`. */
  unit: string;
  ours: number;
  floor?: number;
  peer?: number;
  /** What the three are, for the printed table. */
  notes: { ours: string; floor?: string; peer?: string };
  targets: readonly Target[];
  /** Of what is counted by the second: how long each took. */
  times?: { ours: Times; floor?: Times; peer?: Times };
  /** How far the rounds of `ours` lie apart: half the distance between the quartiles, over the median. */
  spread?: number;
}

/** One line of `--json FILE`: null where there is none. */
export interface Figure {
  figure: string;
  unit: string;
  ours: number;
  floor: number | null;
  peer: number | null;
  ratio_to_floor: number | null;
  ratio_to_peer: number | null;
}

/** The line that is written down. A ratio is `ours` over the other; there is none over nothing. */
export function figureOf({ figure, unit, ours, floor, peer }: Measured): Figure {
  return {
    figure,
    unit,
    ours: rounded(ours),
    floor: floor === undefined ? null : rounded(floor),
    peer: peer === undefined ? null : rounded(peer),
    ratio_to_floor: ratio(ours, floor),
    ratio_to_peer: ratio(ours, peer),
  };
}

/** All the lines that a figure is written down as: its times are figures of their own, `-p50` and `-p99`. */
export function figuresOf(measured: Measured): Figure[] {
  const { figure, times } = measured;
  if (times === undefined) return [figureOf(measured)];
  const timed = (part: keyof Times): Figure =>
    figureOf({
      figure: `${figure}-${part}`,
      unit: 'ms',
      notes: measured.notes,
      targets: [],
      ours: times.ours[part],
      ...(times.floor === undefined ? {} : { floor: times.floor[part] }),
      ...(times.peer === undefined ? {} : { peer: times.peer[part] }),
    });
  return [figureOf(measured), timed('p50'), timed('p99')];
}

/** Whether a target holds, in words: `at most 1.25 of the floor: held`. */
export function targetWords(measured: Measured, { of, most, least }: Target): string {
  const { ratio_to_floor, ratio_to_peer, ours } = figureOf(measured);
  const value = { ours, floor: ratio_to_floor, peer: ratio_to_peer, p50: tail(measured) }[of];
  const bound = [
    ...(most === undefined ? [] : [`at most ${most}`]),
    ...(least === undefined ? [] : [`at least ${least}`]),
  ];
  const unit = of === 'ours' ? ` ${measured.unit}` : of === 'p50' ? ' times p50' : ` of the ${of}`;
  const held = value !== null && value <= (most ?? Infinity) && value >= (least ?? -Infinity);
  return `${of === 'p50' ? 'p99 ' : ''}${bound.join(' and ')}${unit}: ${value === null ? 'not measured' : held ? 'held' : 'MISSED'}`;
}

/** How much longer the slowest take than the middle. */
const tail = ({ times }: Measured): number | null => (times ? ratio(times.ours.p99, times.ours.p50) : null);

const ratio = (ours: number, other: number | undefined): number | null =>
  other === undefined || other === 0 ? null : rounded(ours / other);

/** Four digits that mean something, and no fraction where there are more. */
const rounded = (value: number): number => (Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
