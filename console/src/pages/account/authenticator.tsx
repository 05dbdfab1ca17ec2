import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useSession } from '../../lib/session.ts'
import { useSearchParam } from '../../lib/url.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/dialog.tsx'
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
import { BackupCodesDialog } from './backup-codes.tsx'

/** Below this many codes, a lost phone could lock the person out. */
const fewCodes = 3

export function AuthenticatorSection() {
  const { person, workspaces } = useSession()
  const { data } = useTwoFactor()
  const begin = useBeginAuthenticator()
  const renewCodes = useRenewBackupCodes()
  const end = useEndAuthenticator()
  const [setUpParam] = useSearchParam('set_up')
  const [setUp, setSetUp] = useState<NewAuthenticator | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const [isEnding, setEnding] = useState(false)
  const left = data?.backup_codes_left
  const requiringWorkspaces = workspaces.filter((each) => each.requires_two_factor).map(({ name }) => name)

  return (
    <Section
      title="Authenticator app"
      detail="Two-factor authentication: sign in with your password and a code from your phone."
    >
      <div>
        <StatusBadge status={person.two_factor ? 'on' : 'off'} />
      </div>
      {person.two_factor && left !== undefined && (
        <p>
          {left === 0 ? 'No backup codes left.' : `${plural(left, 'backup code')} left.`}{' '}
          <span className="quiet">Each signs you in once without your phone.</span>
        </p>
      )}
      {person.two_factor && left !== undefined && left < fewCodes && (
        <Notice tone="warn">
          Create new backup codes now. Without one, only an operator can help if you lose your phone.
        </Notice>
      )}
      <div className={styles.buttons}>
        {person.two_factor ? (
          <>
            <Button
              busy={renewCodes.isPending}
              onClick={() => renewCodes.run(undefined, { onDone: ({ backup_codes }) => setCodes(backup_codes) })}
            >
              Create new backup codes
            </Button>
            <Button kind="quiet" onClick={() => setEnding(true)}>
              Turn off
            </Button>
          </>
        ) : (
          <Button
            kind="primary"
            busy={begin.isPending}
            autoFocus={setUpParam === 'app'}
            onClick={() => begin.run(undefined, { onDone: setSetUp })}
          >
            Set up authenticator app
          </Button>
        )}
      </div>
      {setUp && <AuthenticatorSetup setup={setUp} onClose={() => setSetUp(null)} />}
      <BackupCodesDialog
        codes={codes}
        onClose={() => setCodes(null)}
        title="Save your new backup codes"
        detail="Your old codes have stopped working."
      />
      <ConfirmDialog
        open={isEnding}
        onClose={() => setEnding(false)}
        title="Turn off the authenticator app?"
        confirm="Turn off"
        action={end}
        input={undefined}
      >
        You will sign in with your password alone, and your backup codes stop working.
        {requiringWorkspaces.length > 0 &&
          ` You lose access to ${requiringWorkspaces.join(', ')} until you set one up again.`}
      </ConfirmDialog>
    </Section>
  )
}
