import { StatusBadge, type Tone } from '../ui/status-badge.tsx'

const qualities: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  GREEN: ['High', 'good'],
  YELLOW: ['Medium', 'warn'],
  RED: ['Low', 'bad'],
}

/** WhatsApp's quality rating of a number or a template. */
export function Quality({ rating }: { rating: string | null }) {
  const [word, tone] = qualities[rating ?? ''] ?? []
  if (!rating || !word || !tone) return <span className="quiet">Not rated</span>
  return <StatusBadge status={rating} word={word} tone={tone} />
}
