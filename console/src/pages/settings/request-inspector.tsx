import { inspectorDaysOf, redactionRule } from '@parley/contract/console/inspector'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { ConfirmDialog } from '../../ui/dialog.tsx'
import { Switch } from '../../ui/fields.tsx'
import { useChangeSettings, type WorkspaceSettings } from './settings.queries.ts'

export function RequestInspectorSwitch({ settings }: { settings: WorkspaceSettings }) {
  const [isOpen, setOpen] = useState(false)
  const isOn = settings.request_inspector
  const change = useChangeSettings(isOn ? 'Request inspector turned off' : 'Request inspector turned on')
  const days = plural(inspectorDaysOf(settings.retention_days, settings.content_retention_days), 'day')
  return (
    <>
      <Switch
        label="Store request and response bodies"
        description={`Admins and developers see the redacted bodies of API requests for ${days}. Error responses are stored for ${days} in any case.`}
        checked={isOn}
        onChange={() => setOpen(true)}
      />
      <p className="quiet">{redactionRule}</p>
      <ConfirmDialog
        open={isOpen}
        onClose={() => setOpen(false)}
        title={isOn ? 'Stop storing bodies?' : 'Store request and response bodies?'}
        confirm={isOn ? 'Turn off and delete' : 'Turn on'}
        danger={isOn}
        action={change}
        input={{ request_inspector: !isOn }}
      >
        {isOn
          ? 'The stored bodies disappear from the console immediately and are deleted within a few minutes. Error responses stay.'
          : `Takes effect with the next request. ${redactionRule}`}
      </ConfirmDialog>
    </>
  )
}
