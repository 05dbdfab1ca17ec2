import type { ReactNode } from 'react'
import { Avatar } from '../ui/avatar.tsx'
import { Row } from '../ui/layout.tsx'
import { SafeText } from '../ui/link.tsx'
import { Chip, StatusBadge } from '../ui/status-badge.tsx'
import { Tip } from '../ui/tip.tsx'

interface PersonCellProps {
  person: { name: string; email: string; email_verified: boolean }
  /** Badges after the name. */
  children?: ReactNode
}

/** A person in a table. */
export const PersonCell = ({ person: { name, email, email_verified }, children }: PersonCellProps) => (
  <Row gap={2.5} wrap={false}>
    <Avatar name={name} size={28} />
    <span className="lines">
      <Row gap={1.5}>
        <strong>
          <SafeText>{name}</SafeText>
        </strong>
        {children}
      </Row>
      <Row gap={1.5}>
        <bdi className="quiet small">{email}</bdi>
        {!email_verified && (
          <Tip text="The password was not set with a link that was sent to this address. Someone else may use the account.">
            <span>
              <Chip>Unverified</Chip>
            </span>
          </Tip>
        )}
      </Row>
    </span>
  </Row>
)

export const SecondFactor = ({ isOn }: { isOn: boolean }) =>
  isOn ? <StatusBadge status="on" icon="lock" /> : <StatusBadge status="off" />
