import { useState } from 'react'
import { ApiError, wordsOf } from '../../lib/api.ts'
import { plural } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx'
import { Section } from '../../ui/layout.tsx'
import { Notice } from '../../ui/states.tsx'
import { StatusBadge } from '../../ui/status-badge.tsx'
import { toast } from '../../ui/toasts.tsx'
import styles from './account.module.css'
import {
  beginAuthenticator,
  endAuthenticator,
  type NewAuthenticator,
  renewBackupCodes,
  useRenewAccount,
  useTwoFactor,
} from './account.queries.ts'
import { AuthenticatorSetup } from './authenticator-setup.tsx'
import { BackupCodes } from './backup-codes.tsx'

/** Below this many, a lost phone comes close to a lost account. */
const fewCodes = 3

export function AuthenticatorSection() {
  const { person, workspaces } = useSession()
  const { data } = useTwoFactor()
  const renew = useRenewAccount()
  const [wanted] = useSearchParam('set_up')
  const [setUp, setSetUp] = useState<NewAuthenticator | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const [isEnding, setEnding] = useState(false)
  const [busy, setBusy] = useState(false)
  const left = data?.backup_codes_left
  const demanding = workspaces.filter((each) => each.requires_two_factor).map(({ name }) => name)

  const attempt = async (deed: () => Promise<void>) => {
    setBusy(true)
    try {
      await deed()
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'confirmation_required')) toast.failed(wordsOf(error))
    }
    setBusy(false)
  }
  return (
    <Section
      title="Authenticator app"
      detail="A code from your phone, asked for after your password. Whoever learns your password still cannot get in."
    >
      <div>
        {person.two_factor ? (
          <StatusBadge status="on" word="On" tone="good" />
        ) : (
          <StatusBadge status="off" word="Off" tone="calm" />
        )}
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
            <Button busy={busy} onClick={() => attempt(async () => setCodes((await renewBackupCodes()).backup_codes))}>
              New backup codes
            </Button>
            <Button kind="quiet" onClick={() => setEnding(true)}>
              Turn off
            </Button>
          </>
        ) : (
          <Button
            kind="primary"
            busy={busy}
            autoFocus={wanted === 'app'}
            onClick={() => attempt(async () => setSetUp(await beginAuthenticator()))}
          >
            Set up an authenticator app
          </Button>
        )}
      </div>
      {setUp && (
        <AuthenticatorSetup
          made={setUp}
          onClose={() => {
            setSetUp(null)
            void renew()
          }}
        />
      )}
      <Dialog
        open={codes !== null}
        onClose={() => setCodes(null)}
        firm
        title="Your new backup codes"
        detail="Those you had before no longer work."
        actions={
          <Button
            kind="primary"
            onClick={() => {
              setCodes(null)
              void renew()
            }}
          >
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
        onConfirm={async () => {
          await endAuthenticator()
          await renew()
          toast.done('The authenticator app is off')
        }}
      >
        Your password alone will let you in, and your backup codes stop working.
        {demanding.length > 0 && ` ${demanding.join(', ')} will not let you in until you set one up again.`}
      </ConfirmDialog>
    </Section>
  )
}
