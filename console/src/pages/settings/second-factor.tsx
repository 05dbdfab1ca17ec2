import { useState } from 'react'
import { useSession } from '../../lib/session.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Switch } from '../../ui/fields.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import { useChangeSettings, type WorkspaceSettings } from './settings.queries.ts'

export function SecondFactorSwitch({ settings }: { settings: WorkspaceSettings }) {
  const { person } = useSession()
  const [isOpen, setOpen] = useState(false)
  const isOn = settings.requires_two_factor
  const change = useChangeSettings(
    isOn ? 'Two-factor authentication is now optional' : 'Two-factor authentication is now required',
  )
  return (
    <>
      <Switch
        label="Require two-factor authentication"
        description="Everyone needs an authenticator app to open this workspace, whatever their role. Takes effect immediately."
        checked={isOn}
        disabled={!isOn && !person.two_factor}
        onChange={() => setOpen(true)}
      />
      {!isOn && !person.two_factor && (
        <Notice
          action={
            <PageLink to="/account?set_up=app" className="link alone">
              Set up
            </PageLink>
          }
        >
          Set up an authenticator app for your own account first, or you would lock yourself out.
        </Notice>
      )}
      <ConfirmDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title={isOn ? 'Make two-factor authentication optional?' : 'Require two-factor authentication?'}
        confirm={isOn ? 'Make optional' : 'Require'}
        danger={isOn}
        action={change}
        input={{ requires_two_factor: !isOn }}
      >
        {isOn
          ? 'A stolen password is then enough to open this workspace as a member without an authenticator app.'
          : 'Members without an authenticator app lose access until they set one up. The Team page shows who they are.'}
      </ConfirmDialog>
    </>
  )
}
