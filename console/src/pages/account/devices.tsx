import type { SessionRow } from '@parley/contract/console/session'
import { useState } from 'react'
import { deviceOf, isHandheld } from '../../lib/device.ts'
import { plural } from '../../lib/format.ts'
import { useLast } from '../../lib/last.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Item, ItemList } from '../../ui/item-list.tsx'
import { Section } from '../../ui/layout.tsx'
import { Loaded } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { TimeAgo } from '../../ui/time.tsx'
import styles from './account.module.css'
import { useDevices, useEndDevice, useEndOtherDevices } from './account.queries.ts'

export function DevicesSection() {
  const list = useDevices()
  const [ended, setEnded] = useState<SessionRow | null>(null)
  const [endsOthers, setEndsOthers] = useState(false)
  const lastEnded = useLast(ended)
  const devices = (list.data?.data ?? []).toSorted((one, two) => Number(two.current) - Number(one.current))
  const others = devices.filter(({ current }) => !current).length
  return (
    <Section title="Signed-in devices" detail="Don’t recognize a device? Sign it out, then change your password.">
      <Loaded query={list} what="Your devices" lines={3}>
        {() => (
          <ItemList>
            {devices.map((device) => (
              <Item
                key={device.id}
                icon={isHandheld(device.user_agent) ? 'sender' : 'screen'}
                name={deviceOf(device.user_agent)}
                title={device.user_agent ?? undefined}
                detail={
                  <>
                    <bdi className="mono">{device.address ?? 'unknown IP address'}</bdi> · signed in{' '}
                    <TimeAgo at={device.created_at} />
                    {!device.current && (
                      <>
                        {' '}
                        · last seen <TimeAgo at={device.last_seen_at} />
                      </>
                    )}
                  </>
                }
              >
                {device.current ? (
                  <StatusBadge status="current" word="This device" tone="good" />
                ) : (
                  <Button size="s" onClick={() => setEnded(device)}>
                    Sign out
                    <span className="unseen"> {deviceOf(device.user_agent)}</span>
                  </Button>
                )}
              </Item>
            ))}
          </ItemList>
        )}
      </Loaded>
      {others > 1 && (
        <div className={styles.buttons}>
          <Button icon="signOut" onClick={() => setEndsOthers(true)}>
            Sign out all other devices
          </Button>
        </div>
      )}
      <ConfirmDialog
        open={ended !== null}
        onClose={() => setEnded(null)}
        title="Sign out this device?"
        confirm="Sign out"
        action={useEndDevice()}
        input={ended?.id}
      >
        {lastEnded &&
          `${deviceOf(lastEnded.user_agent)} at ${lastEnded.address ?? 'an unknown IP address'} will have to sign in again.`}
      </ConfirmDialog>
      <ConfirmDialog
        open={endsOthers}
        onClose={() => setEndsOthers(false)}
        title="Sign out all other devices?"
        confirm="Sign out"
        action={useEndOtherDevices()}
        input={undefined}
      >
        {plural(others, 'device')} will have to sign in again. You stay signed in here.
      </ConfirmDialog>
    </Section>
  )
}
