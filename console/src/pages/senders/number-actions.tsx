import type { ConsoleSender } from '@parley/contract/console/senders'
import { formatPhone } from '../../lib/phone.ts'
import { Menu } from '../../ui/menu.tsx'
import { NameDialog, PinDialog, ProfileDialog } from './sender-dialogs.tsx'

export type NumberAction = 'register' | 'pin' | 'name' | 'profile'

/** What an admin can do to a number. A deleted number has no actions. */
export const NumberMenu = ({ sender, act }: { sender: ConsoleSender; act: (action: NumberAction) => void }) =>
  sender.status === 'DELETED' ? null : (
    <Menu
      label={`Actions for ${formatPhone(sender.phone_number)}`}
      groups={[
        [
          sender.status !== 'CONNECTED' && { title: 'Register…', icon: 'check', onSelect: () => act('register') },
          { title: 'Set two-step PIN…', icon: 'lock', onSelect: () => act('pin') },
        ],
        [
          { title: 'Change display name…', icon: 'edit', onSelect: () => act('name') },
          { title: 'Business profile…', icon: 'building', onSelect: () => act('profile') },
        ],
      ]}
    />
  )

/** The dialog of the chosen action. */
export function NumberDialog({
  sender,
  action,
  onClose,
}: {
  sender: ConsoleSender
  action: NumberAction
  onClose: () => void
}) {
  if (action === 'name') return <NameDialog sender={sender} onClose={onClose} />
  if (action === 'profile') return <ProfileDialog sender={sender} onClose={onClose} />
  return <PinDialog sender={sender} registers={action === 'register'} onClose={onClose} />
}
