import { errorMessage } from '../../lib/api.ts'
import { errorsOf, useForm } from '../../lib/use-form.ts'
import { knownRemedy } from '../../parts/sync-remedy.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/fields.tsx'
import { AccessTokenField, AccountIdField, only, WorkspaceField } from './app-fields.tsx'
import { useApps, useConnect, useWorkspaceNames } from './apps.queries.ts'

interface Props {
  onClose: () => void
  /** The account to connect, and the app that it is subscribed to, if they are known. */
  account: string | null
  app: string | null
  /** The workspace to connect it to, if it is known. */
  workspace: string | null
}

export function ConnectDialog({ onClose, account, app, workspace }: Props) {
  const apps = useApps().rows ?? []
  const workspaces = useWorkspaceNames().rows ?? []
  const first = {
    workspace_id: workspace ?? only(workspaces),
    app_id: app ?? only(apps),
    waba_id: account ?? '',
    access_token: '',
  }
  const form = useForm({
    first,
    check: ({ workspace_id, app_id, waba_id, access_token }) => ({
      workspace_id: workspace_id ? undefined : 'Choose a workspace.',
      app_id: app_id ? undefined : 'Choose an app.',
      waba_id: /^\d+$/.test(waba_id.trim()) ? undefined : 'Enter a numeric ID, such as 102290129340398.',
      access_token: access_token.trim() ? undefined : 'Enter an access token.',
    }),
    action: useConnect(),
    input: ({ workspace_id, app_id, waba_id, access_token }) => ({
      workspace_id: workspace_id ?? '',
      app_id: app_id ?? '',
      waba_id: waba_id.trim(),
      access_token: access_token.trim(),
    }),
    onDone: onClose,
    explain: (error) => {
      const remedy = knownRemedy(errorMessage(error))
      return remedy && errorsOf(error, first).form ? { form: `${errorMessage(error)} ${remedy}` } : undefined
    },
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Connect account"
      detail="Phone numbers and templates are fetched immediately and kept in sync."
      form={form}
      submit="Connect account"
    >
      <WorkspaceField workspaces={workspaces} {...form.field('workspace_id')} />
      <Select
        label="App"
        placeholder="Choose an app"
        data={apps.map(({ id, name }) => ({ value: id, label: name }))}
        {...form.field('app_id')}
        allowDeselect={false}
      />
      <AccountIdField
        description="Find it in WhatsApp Manager → Account tools, or in Business settings → WhatsApp accounts."
        {...form.text('waba_id')}
      />
      <AccessTokenField {...form.text('access_token')} />
    </FormDialog>
  )
}
