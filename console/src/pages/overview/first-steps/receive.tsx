import { formatPhone } from '../../../lib/phone.ts'
import { useHere } from '../../../lib/session.ts'
import { useHandset } from '../../../parts/handset.ts'
import { personName, useConnectedSenders } from '../../../parts/recipient.tsx'
import { CopyField } from '../../../ui/copy-field.tsx'
import { PageLink } from '../../../ui/link.tsx'
import { LoadingLines, Notice } from '../../../ui/states.tsx'
import styles from '../onboarding.module.css'
import { useLatestReceived } from './received.queries.ts'

/** Waits for a message from a phone, and shows the latest one. */
export function ReceiveStep() {
  const here = useHere()
  const handset = useHandset()
  const [sender] = useConnectedSenders()
  const latest = useLatestReceived()
  if (latest === undefined) return <LoadingLines lines={2} />
  return (
    <div className={styles.fields}>
      {handset ? (
        <p>Write a message on the handset, for example “Hi!”.</p>
      ) : (
        sender && (
          <CopyField
            label="Write to this number from WhatsApp"
            text={`+${sender.phone_number}`}
            shown={formatPhone(sender.phone_number)}
          />
        )
      )}
      <div role="status">
        {latest ? (
          <Notice tone="good" title="A message was received.">
            <bdi>{latest.profile_name ?? personName(latest)}</bdi>: <bdi>{latest.preview ?? latest.type}</bdi>{' '}
            <PageLink to={here.path(`messages/${latest.id}`)}>View message</PageLink>
          </Notice>
        ) : (
          <span className="quiet">Waiting for a message…</span>
        )}
      </div>
    </div>
  )
}
