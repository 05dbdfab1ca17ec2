import type { Role } from '@parley/contract/console/permissions'
import { Radio } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import styles from './team.module.css'

export const roleWords: Record<Role, { title: string; may: string }> = {
  admin: { title: 'Admin', may: 'Everything: keys, webhooks and their secrets, credits, the team and the settings.' },
  developer: {
    title: 'Developer',
    may: 'Logs, test events, retries and test messages. Sees keys and webhooks, changes none.',
  },
  member: { title: 'Member', may: 'Messages, templates, orders and form submissions. No developer pages.' },
}

const order: readonly Role[] = ['admin', 'developer', 'member']

export function RoleChoice({
  value,
  error,
  onChange,
  disabled = [],
}: {
  value: Role
  error?: string | undefined
  onChange: (role: Role) => void
  disabled?: readonly Role[]
}) {
  return (
    <Radio.Group label="Role" value={value} error={error} onChange={(role) => onChange(role as Role)}>
      <Stack gap={2.5}>
        <span />
        {order.map((role) => (
          <Radio
            key={role}
            value={role}
            label={roleWords[role].title}
            description={roleWords[role].may}
            disabled={disabled.includes(role)}
            {...(disabled.includes(role) ? { className: styles.closed ?? '' } : {})}
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}
