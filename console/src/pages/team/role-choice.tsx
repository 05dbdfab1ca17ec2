import type { Role } from '@parley/contract/console/permissions'
import { Radio } from '../../ui/fields.tsx'
import { Stack } from '../../ui/layout.tsx'
import styles from './team.module.css'

export const roles: Record<Role, { title: string; description: string }> = {
  admin: { title: 'Admin', description: 'Full access: keys, webhooks, secrets, credits, team and settings.' },
  developer: {
    title: 'Developer',
    description: 'Logs, test events, retries and test messages. Can view keys and webhooks but not change them.',
  },
  member: { title: 'Member', description: 'Messages, templates, orders and form submissions. No developer pages.' },
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
            label={roles[role].title}
            description={roles[role].description}
            disabled={disabled.includes(role)}
            {...(disabled.includes(role) ? { className: styles.closed ?? '' } : {})}
          />
        ))}
      </Stack>
    </Radio.Group>
  )
}
