import type { ComponentChildren } from 'preact';

/** A value with its name, in a list of class `facts`. */
export const Fact = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);
