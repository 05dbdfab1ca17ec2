import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import styles from './account.module.css'
import {
  type NewAuthenticator,
  useBeginAuthenticator,
  useEndAuthenticator,
  useRenewBackupCodes,
  useTwoFactor,
} from './account.queries.ts'
import { AuthenticatorSetup } from './authenticator-setup.tsx'
import { BackupCodes } from './backup-codes.tsx'

/** Below this many, a lost phone comes close to a lost account. */
const fewCodes = 3

export function AuthenticatorSection() {
  const { person, workspaces } = useSession()
  const { data } = useTwoFactor()
  const begin = useBeginAuthenticator()
  const renewCodes = useRenewBackupCodes()
  const end = useEndAuthenticator()
  const [wanted] = useSearchParam('set_up')
  const [setUp, setSetUp] = useState<NewAuthenticator | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const [isEnding, setEnding] = useState(false)
  const left = data?.backup_codes_left
  const demanding = workspaces.filter((each) => each.requires_two_factor).map(({ name }) => name)

  return (
    <Section
      title="Authenticator app"
      detail="A code from your phone, asked for after your password. Whoever learns your password still cannot get in."
    >
      <div>
        <StatusBadge status={person.two_factor ? 'on' : 'off'} />
      </div>
      {person.two_factor && left !== undefined && (
        <p>
          {left === 0 ? 'No backup code is left.' : `${plural(left, 'backup code')} left.`}{' '}
          <span className="quiet">Each lets you in once when the phone is not at hand.</span>
        </p>
      )}
      {person.two_factor && left !== undefined && left < fewCodes && (
        <Notice tone="warn">Make new backup codes now: without one, a lost phone needs an operator’s help.</Notice>
      )}
      <div className={styles.buttons}>
        {person.two_factor ? (
          <>
            <Button
              busy={renewCodes.isPending}
              onClick={() => renewCodes.run(undefined, { onDone: ({ backup_codes }) => setCodes(backup_codes) })}
            >
              New backup codes
            </Button>
            <Button kind="quiet" onClick={() => setEnding(true)}>
              Turn off
            </Button>
          </>
        ) : (
          <Button
            kind="primary"
            busy={begin.isPending}
            autoFocus={wanted === 'app'}
            onClick={() => begin.run(undefined, { onDone: setSetUp })}
          >
            Set up an authenticator app
          </Button>
        )}
      </div>
      {setUp && <AuthenticatorSetup made={setUp} onClose={() => setSetUp(null)} />}
      <Dialog
        open={codes !== null}
        onClose={() => setCodes(null)}
        firm
        title="Your new backup codes"
        detail="Those you had before no longer work."
        actions={
          <Button kind="primary" onClick={() => setCodes(null)}>
            I have kept them
          </Button>
        }
      >
        {codes && <BackupCodes codes={codes} />}
      </Dialog>
      <ConfirmDialog
        open={isEnding}
        onClose={() => setEnding(false)}
        title="Turn off the authenticator app?"
        confirm="Turn it off"
        action={end}
        input={undefined}
      >
        Your password alone will let you in, and your backup codes stop working.
        {demanding.length > 0 && ` ${demanding.join(', ')} will not let you in until you set one up again.`}
      </ConfirmDialog>
    </Section>
  )
}
