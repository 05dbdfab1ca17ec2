import { StatusBadge, type Tone } from '../ui/status-badge.tsx'

const qualities: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  GREEN: ['High', 'good'],
  YELLOW: ['Medium', 'warn'],
  RED: ['Low', 'bad'],
}

/** The word and the tone of a rating. */
export const qualityOf = (rating: string | null) => qualities[rating ?? ''] ?? (['Not rated', 'calm'] as const)

/** WhatsApp's quality rating of a number or a template. */
export function Quality({ rating }: { rating: string | null }) {
  if (!rating || !(rating in qualities)) return <span className="quiet">Not rated</span>
  const [word, tone] = qualityOf(rating)
  return <StatusBadge status={rating} word={word} tone={tone} />
}
