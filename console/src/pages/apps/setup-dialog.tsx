import { useState } from 'react'
import { errorMessage } from '../../lib/api.ts'
import { useForm } from '../../lib/use-form.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, FormDialog } from '../../ui/dialog.tsx'
import { PasswordInput, TextInput } from '../../ui/fields.tsx'
import { Notice } from '../../ui/states.tsx'
import { StatusBadge, type Tone } from '../../ui/status-badge.tsx'
import { AccessTokenField, AccountIdField, GraphUrlField, only, WorkspaceField } from './app-fields.tsx'
import styles from './apps.module.css'
import {
  type NewSetup,
  type SetupReport,
  type SetupStep,
  useCheckSetup,
  useSetUp,
  useWorkspaceNames,
} from './apps.queries.ts'

interface Props {
  onClose: () => void
  /** The workspace to connect it to, if it is known. */
  workspace: string | null
}

/** Sets up a Meta app and an account: first the secrets, then what is there and would be changed, then what was changed. */
export function SetupDialog({ onClose, workspace }: Props) {
  const [setup, setSetup] = useState<NewSetup | null>(null)
  const [report, setReport] = useState<SetupReport | null>(null)
  return setup && report ? (
    <StepsDialog setup={setup} report={report} onClose={onClose} onBack={() => setReport(null)} />
  ) : (
    <SecretsDialog
      workspace={workspace}
      entered={setup}
      onClose={onClose}
      onChecked={(entered, found) => {
        setSetup(entered)
        setReport(found)
      }}
    />
  )
}

function SecretsDialog({
  workspace,
  entered,
  onClose,
  onChecked,
}: Props & {
  /** As they were before the steps were shown. */
  entered: NewSetup | null
  onChecked: (entered: NewSetup, report: SetupReport) => void
}) {
  const workspaces = useWorkspaceNames().rows ?? []
  const toSetup = (values: typeof first): NewSetup => ({
    workspace_id: values.workspace_id ?? '',
    app_id: values.app_id.trim(),
    app_secret: values.app_secret.trim(),
    access_token: values.access_token.trim(),
    ...(values.waba_id.trim() ? { waba_id: values.waba_id.trim() } : {}),
    ...(values.graph_url.trim() ? { graph_url: values.graph_url.trim() } : {}),
  })
  const first = {
    workspace_id: entered?.workspace_id ?? workspace ?? only(workspaces),
    app_id: entered?.app_id ?? '',
    app_secret: entered?.app_secret ?? '',
    access_token: entered?.access_token ?? '',
    waba_id: entered?.waba_id ?? '',
    graph_url: entered?.graph_url ?? '',
  }
  const form = useForm({
    first,
    check: ({ workspace_id, app_id, app_secret, access_token }) => ({
      workspace_id: workspace_id ? undefined : 'Choose a workspace.',
      app_id: /^\d+$/.test(app_id.trim()) ? undefined : 'Enter a numeric ID.',
      app_secret: app_secret.trim() ? undefined : 'Enter the app secret.',
      access_token: access_token.trim() ? undefined : 'Enter an access token.',
    }),
    action: useCheckSetup(),
    input: toSetup,
    onDone: (report, values) => onChecked(toSetup(values), report),
  })
  return (
    <FormDialog
      onClose={onClose}
      title="Connect WhatsApp"
      detail="Checks the app at Meta, and shows each change before it is made."
      form={form}
      submit="Check"
    >
      <WorkspaceField workspaces={workspaces} {...form.field('workspace_id')} />
      <TextInput
        label="App ID"
        description="At developers.facebook.com, in App settings → Basic."
        inputMode="numeric"
        autoComplete="off"
        {...form.text('app_id')}
        classNames={{ input: 'mono' }}
      />
      <PasswordInput
        label="App secret"
        description="On the same page. Used to verify webhooks from Meta."
        autoComplete="off"
        {...form.text('app_secret')}
      />
      <AccessTokenField {...form.text('access_token')} />
      <AccountIdField description="Leave empty if the token is for one account." {...form.text('waba_id')} />
      <GraphUrlField {...form.text('graph_url')} />
    </FormDialog>
  )
}

function StepsDialog({
  setup,
  report: first,
  onClose,
  onBack,
}: {
  setup: NewSetup
  report: SetupReport
  onClose: () => void
  onBack: () => void
}) {
  const [report, setReport] = useState(first)
  const [fault, setFault] = useState<string | null>(null)
  const action = useSetUp()
  const { state, steps } = report
  const isRight = steps.every(({ verdict }) => verdict === 'ok')
  const apply = (replace_callback: boolean) => {
    setFault(null)
    action.run(
      { ...setup, replace_callback },
      { onDone: setReport, onError: (error: unknown) => setFault(errorMessage(error)) },
    )
  }
  const isOver = state === 'done' || isRight
  return (
    <Dialog
      size="l"
      onClose={onClose}
      title="Connect WhatsApp"
      detail={details[isOver ? 'done' : state]}
      actions={
        isOver ? (
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        ) : (
          <>
            <Button onClick={onBack}>Back</Button>
            {state === 'checked' && (
              <Button kind="primary" busy={action.isPending} onClick={() => apply(false)}>
                Set up
              </Button>
            )}
            {state === 'conflict' && (
              <Button kind="danger" busy={action.isPending} onClick={() => apply(true)}>
                Replace the callback
              </Button>
            )}
            {state === 'failed' && (
              <Button kind="primary" busy={action.isPending} onClick={() => apply(false)}>
                Try again
              </Button>
            )}
          </>
        )
      }
    >
      <ul className={styles.setup} aria-label="Steps">
        {steps.map((step) => (
          <Step key={step.step} {...step} />
        ))}
      </ul>
      {fault && <Notice tone="bad">{fault}</Notice>}
    </Dialog>
  )
}

const details: Record<SetupReport['state'], string> = {
  checked: 'This would be changed. Nothing has been changed yet.',
  conflict: 'Another service receives webhooks. Nothing has been changed.',
  failed: 'A step failed. Fix its cause and try again: what is right is not changed.',
  done: 'Everything is set up. Write to one of the numbers to see a message arrive.',
}

const names: Record<string, string> = {
  app: 'App',
  token: 'Access token',
  webhook: 'Webhook',
  connection: 'Account',
  subscription: 'Subscription',
  numbers: 'Phone numbers',
}

const badges: Record<SetupStep['verdict'], readonly [word: string, tone: Tone]> = {
  ok: ['OK', 'good'],
  changed: ['Changed', 'good'],
  would_change: ['Would change', 'note'],
  conflict: ['Conflict', 'bad'],
  failed: ['Failed', 'bad'],
}

function Step({ step, found, wanted, verdict, remedy }: SetupStep) {
  const [word, tone] = badges[verdict]
  return (
    <li className={styles.setupStep}>
      <span className={styles.setupHead}>
        <strong>{names[step] ?? step}</strong>
        <StatusBadge status={verdict} word={word} tone={tone} />
      </span>
      <bdi className="small">
        {found}
        {verdict !== 'ok' && ` → ${wanted}`}
      </bdi>
      {remedy && <bdi className={tone === 'bad' ? styles.fault : 'small quiet'}>{remedy}</bdi>}
    </li>
  )
}
