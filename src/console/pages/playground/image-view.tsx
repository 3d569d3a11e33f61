import { useState } from 'preact/hooks';
import { shownText } from '../../parts/untrusted.tsx';
import type { MessageImage } from './images.ts';

interface ImageViewProps {
  image: MessageImage;
  alt: string;
}

/** An image of a message: at once where it is embedded, else after a click, since its server learns who looks at it. */
export function ImageView({ image: { address, isEmbedded }, alt }: ImageViewProps) {
  const [isWanted, setWanted] = useState(isEmbedded);
  const [hasFailed, setFailed] = useState(false);
  if (hasFailed) return <span class="muted">This image can’t be shown: {shownText(address, 100)}</span>;
  if (isWanted) {
    return (
      <img
        class="playground-image"
        src={address}
        alt={shownText(alt, 200)}
        referrerpolicy="no-referrer"
        onError={() => setFailed(true)}
      />
    );
  }
  return (
    <button type="button" class="button" title={shownText(address)} onClick={() => setWanted(true)}>
      Show the image of {shownText(new URL(address).host, 80)}
    </button>
  );
}
