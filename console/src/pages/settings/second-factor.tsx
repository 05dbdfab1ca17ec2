import { useState } from 'react'
import { useSession } from '../../lib/session.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Switch } from '../../ui/fields.tsx'
import { PageLink } from '../../ui/link.tsx'
import { Notice } from '../../ui/states.tsx'
import { useChangeSettings, type WorkspaceSettings } from './settings.queries.ts'

export function SecondFactorSwitch({ settings }: { settings: WorkspaceSettings }) {
  const { person } = useSession()
  const [isAsking, setAsking] = useState(false)
  const isOn = settings.requires_two_factor
  const change = useChangeSettings(isOn ? 'A second factor is no longer required' : 'A second factor is required now')
  return (
    <>
      <Switch
        label="Require a second factor"
        description="Lets nobody in whose account has no authenticator app, whatever their role. It counts from the next call on."
        checked={isOn}
        disabled={!isOn && !person.two_factor}
        onChange={() => setAsking(true)}
      />
      {!isOn && !person.two_factor && (
        <Notice action={<PageLink to="/account?set_up=app">Set one up</PageLink>}>
          Your own account has no authenticator app yet; you would lock yourself out.
        </Notice>
      )}
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title={isOn ? 'Let people in without a second factor?' : 'Require a second factor?'}
        confirm={isOn ? 'Stop requiring it' : 'Require it'}
        danger={isOn}
        action={change}
        input={{ requires_two_factor: !isOn }}
      >
        {isOn
          ? 'A stolen password alone would then open this workspace, for those who have not set one up.'
          : 'Members without one are shown how to set it up, and get in again once they have. The Team page shows who they are.'}
      </ConfirmDialog>
    </>
  )
}
