import type { OperatedUpdate } from '@parley/contract/console/network-updates'
import type { IconName } from '../../ui/icon.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'

type Outcome = OperatedUpdate['outcome']

export const outcomes: Record<Outcome, { title: string; tone: Tone; icon: IconName; meaning: string }> = {
  unknown_field: {
    title: 'Unknown field',
    tone: 'note',
    icon: 'info',
    meaning: 'Parley does not read this field. The update is stored as it arrived, and published as network.update.',
  },
  not_understood: {
    title: 'Not understood',
    tone: 'bad',
    icon: 'crossCircle',
    meaning: 'Parley reads this field, but found nothing in the update that it knows. It is stored as it arrived.',
  },
  partly_understood: {
    title: 'Partly understood',
    tone: 'warn',
    icon: 'warning',
    meaning: 'Parley published what it read. The members below are not in those events.',
  },
  notice: {
    title: 'Notice',
    tone: 'calm',
    icon: 'bell',
    meaning: 'The notice changes nothing in Parley, or less than it says.',
  },
}

export function OutcomeBadge({ outcome }: { outcome: Outcome }) {
  const { title, tone, icon } = outcomes[outcome]
  return <StatusBadge status={outcome} word={title} tone={tone} icon={icon} />
}
