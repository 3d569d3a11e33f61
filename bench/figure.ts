/** What a ratio should be; a figure may have none. */
export interface Target {
  /** `ours` over the floor, `ours` over the peer, or `ours` itself in the figure's unit. */
  of: 'ours' | 'floor' | 'peer';
  most?: number;
  least?: number;
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
  told: { ours: string; floor?: string; peer?: string };
  targets: readonly Target[];
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

/** Whether a target holds, in words: `at most 1.25 of the floor: held`. */
export function targetWords(measured: Measured, { of, most, least }: Target): string {
  const { ratio_to_floor, ratio_to_peer, ours } = figureOf(measured);
  const value = of === 'ours' ? ours : of === 'floor' ? ratio_to_floor : ratio_to_peer;
  const bound = [
    ...(most === undefined ? [] : [`at most ${most}`]),
    ...(least === undefined ? [] : [`at least ${least}`]),
  ];
  const unit = of === 'ours' ? ` ${measured.unit}` : ` of the ${of}`;
  const held = value !== null && value <= (most ?? Infinity) && value >= (least ?? -Infinity);
  return `${bound.join(' and ')}${unit}: ${value === null ? 'not measured' : held ? 'held' : 'MISSED'}`;
}

const ratio = (ours: number, other: number | undefined): number | null =>
  other === undefined || other === 0 ? null : rounded(ours / other);

/** Four digits that mean something, and no fraction where there are more. */
const rounded = (value: number): number => (Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(4)));
