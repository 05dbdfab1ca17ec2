import type { ReactNode } from 'react'
import { Avatar } from '../ui/avatar.tsx'
import { Row } from '../ui/layout.tsx'
import { SafeText } from '../ui/link.tsx'
import { StatusBadge } from '../ui/status-badge.tsx'

/** A person in a table. The children, such as badges, come after the name. */
export const PersonCell = ({ name, email, children }: { name: string; email: string; children?: ReactNode }) => (
  <Row gap={2.5} wrap={false}>
    <Avatar name={name} size={28} />
    <span className="lines">
      <Row gap={1.5}>
        <strong>
          <SafeText>{name}</SafeText>
        </strong>
        {children}
      </Row>
      <bdi className="quiet small">{email}</bdi>
    </span>
  </Row>
)

export const SecondFactor = ({ isOn }: { isOn: boolean }) =>
  isOn ? <StatusBadge status="on" icon="lock" /> : <StatusBadge status="off" />
