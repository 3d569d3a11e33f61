import { Page } from '../../parts/page.tsx';

export default function Health() {
  return <Page title="Health">To be written.</Page>;
}
